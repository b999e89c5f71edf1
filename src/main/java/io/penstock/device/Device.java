package io.penstock.device;

/**
 * Where batches go: memory of its own, streams that work asynchronously, and events that order them.
 *
 * <p>{@link #cuda(int)} is an NVIDIA GPU behind CUDA's runtime library. {@link #host()} is this machine's own memory,
 * with a thread for each stream; it behaves as the first does, so that an engine built on this interface is exercised,
 * its races included, where there is no GPU. A {@link DeviceProvider} adds others.
 *
 * <p><b>Streams and events</b> follow CUDA. Work that is enqueued on one stream runs in order; two streams run
 * independently. An event marks a position in a stream; a stream or a thread can wait for it.
 *
 * <p><b>Threads.</b> A device and what it opens may be used from any number of threads. The one thing that is the
 * caller's duty is that {@code close()} of a resource does not run beside another call on the same resource. CUDA
 * keeps a current device for each OS thread: a thread that is going to enqueue work calls {@link #makeCurrent()}
 * once, first. CUDA calls are refused on virtual threads, which change their OS thread.
 *
 * <p><b>Errors.</b> A wrong argument is refused at the call, with an {@link IllegalArgumentException} or
 * {@link IndexOutOfBoundsException}; use of something closed with an {@link IllegalStateException}. What the device
 * itself reports is a {@link DeviceException}. As in CUDA, asynchronous work that fails is reported by a later call,
 * and a fault such as an illegal address is sticky: nothing runs on the device after it, and each later call on
 * a stream or event reports it again.
 *
 * <p><b>Ownership.</b> Who opens closes: streams, events and buffers, then the device. Every {@code close()} may be
 * called again without effect.
 */
public interface Device extends AutoCloseable {
    /**
     * Opens the host device.
     *
     * @return a new device, which the caller closes
     */
    static Device host() {
        return DeviceProviders.find().of(DeviceProviders.HOST).open(0);
    }

    /**
     * Opens a CUDA device.
     *
     * @param ordinal its number among the devices that are visible to this process, from 0
     * @return a new device, which the caller closes
     * @throws DeviceUnavailableException if it cannot be used; the message says why, and what to do
     */
    static Device cuda(int ordinal) {
        return DeviceProviders.find().of(DeviceProviders.CUDA).open(ordinal);
    }

    /**
     * Opens the first CUDA device, or the first one of another provider, and the host device where there is none that
     * can be used. The log says which, and why.
     *
     * @return a new device, which the caller closes
     */
    static Device best() {
        return DeviceProviders.find().best();
    }

    /**
     * Opens the device that a setting names.
     *
     * @param name {@code auto} for {@link #best()}, {@code host}, {@code cuda} for the first CUDA device,
     *     {@code cuda:N}, or the like of another {@linkplain DeviceProvider#kind() kind}
     * @return a new device, which the caller closes
     * @throws IllegalArgumentException if no device has such a name
     * @throws DeviceUnavailableException if the device cannot be used
     */
    static Device open(String name) {
        return name.equals("auto") ? best() : DeviceProviders.find().open(name);
    }

    /**
     * The device's name, which {@link #open(String)} takes.
     *
     * @return {@code host}, or for example {@code cuda:0}
     */
    String name();

    /**
     * The device's number among those of its kind, as CUDA and DLPack count.
     *
     * @return from 0; 0 for the host device
     */
    int ordinal();

    /**
     * Whether the CPU may read and write {@linkplain #allocate(long) device memory}.
     *
     * @return true for the host device
     */
    boolean hostAccessible();

    /**
     * Makes this the current device of the calling thread, which CUDA requires of a thread that enqueues work. On the
     * host device it does nothing.
     *
     * @throws IllegalStateException if the device is closed, or it is a CUDA device and the thread a virtual one
     * @throws DeviceException if the device cannot be made current
     */
    void makeCurrent();

    /**
     * Opens a stream, which runs beside all others.
     *
     * @param name what error messages, and on the host device the thread, call it
     * @return the stream, which the caller closes
     * @throws IllegalStateException if the device is closed
     * @throws DeviceException if the device refuses
     */
    DeviceStream openStream(String name);

    /**
     * A view of a stream that somebody else owns: a {@code cudaStream_t} of the trainer's, or an open stream of this
     * host device. Closing the view leaves the stream alone; the owner keeps it open while the view is in use.
     *
     * <p>CUDA offers no safe way to check a handle, so a wrong one is undefined behaviour there, as in C. The values 0
     * and 1 are CUDA's legacy default stream, 2 the calling thread's default stream.
     *
     * @param handle the address that is the {@code cudaStream_t}, or {@link DeviceStream#handle()}
     * @return the view
     * @throws IllegalArgumentException if this is the host device and the handle is not that of an open stream of it
     * @throws IllegalStateException if the device is closed
     */
    DeviceStream stream(long handle);

    /**
     * Opens an event, which is complete until it is first recorded.
     *
     * @param wait how a thread waits in {@link DeviceEvent#synchronize()}
     * @return the event, which the caller closes
     * @throws IllegalStateException if the device is closed
     * @throws DeviceException if the device refuses
     */
    DeviceEvent openEvent(EventWait wait);

    /**
     * A view of an event that somebody else owns, to wait for: a {@code cudaEvent_t} of the trainer's, or an open event
     * of this host device. Closing the view leaves the event alone; the owner keeps it open while the view is in use.
     *
     * <p>CUDA offers no safe way to check a handle, so a wrong one is undefined behaviour there, as in C.
     *
     * @param handle the address that is the {@code cudaEvent_t}, or {@link DeviceEvent#handle()}
     * @return the view
     * @throws IllegalArgumentException if the handle is 0, or this is the host device and the handle is not that of an
     *     open event of it
     * @throws IllegalStateException if the device is closed
     */
    DeviceEvent event(long handle);

    /**
     * Allocates device memory, aligned to 256 bytes. Its content is undefined.
     *
     * @param bytes the size, at least 1
     * @return the buffer, which the caller closes
     * @throws IllegalArgumentException if {@code bytes} is less than 1
     * @throws IllegalStateException if the device is closed
     * @throws DeviceException if there is not that much memory
     */
    DeviceBuffer allocate(long bytes);

    /**
     * Allocates host memory that the device reads and writes by itself: page-locked for a CUDA device. It is aligned to
     * 4096 bytes, and every page of it is backed by memory when this returns.
     *
     * <p>This is slow, about half a second a GiB on CUDA: allocate at start and reuse.
     *
     * @param bytes the size, at least 1
     * @return the buffer, which the caller closes
     * @throws IllegalArgumentException if {@code bytes} is less than 1
     * @throws IllegalStateException if the device is closed
     * @throws DeviceException if that much memory cannot be locked
     */
    PinnedBuffer allocatePinned(long bytes);

    /**
     * Closes the device. Whatever is still open of it is a leak: it is closed here, in reverse order of opening (a
     * stream after the work that is queued on it has ended), and named in a warning in the log. Views of foreign
     * streams and events need no closing and are not counted.
     *
     * @throws DeviceException if the device reports an error while something is released; the rest is released all the
     *     same
     */
    @Override
    void close();
}
