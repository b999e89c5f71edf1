// SPDX-License-Identifier: Apache-2.0
package io.penstock.device;

import io.penstock.device.DeviceEvent.EventWait;
import java.lang.foreign.SymbolLookup;
import java.util.Optional;

/**
 * A device that batches are copied to: it has its own memory, asynchronous streams, and events that order them.
 *
 * <p>{@link #cuda(int)} is an NVIDIA GPU driven through the CUDA runtime library. {@link #host()} is host memory, with
 * a thread per stream; it has the same semantics, so the engine, its races included, can be tested without a GPU. A
 * {@link DeviceProvider} adds other kinds.
 *
 * <p><b>Streams and events</b> follow CUDA. Work on one stream runs in order; two streams run independently. An event
 * marks a position in a stream; a stream or a thread can wait for it.
 *
 * <p><b>Threads.</b> Any number of threads may use a device and what it opens. The caller must only ensure that
 * {@code close()} of a resource does not run concurrently with another call on that resource. CUDA keeps a current
 * device per OS thread: a thread calls {@link #makeCurrent()} once before it enqueues work. CUDA calls throw on
 * virtual threads, which can move between OS threads.
 *
 * <p><b>Errors.</b> A bad argument throws {@link IllegalArgumentException} or {@link IndexOutOfBoundsException} at the
 * call; using a closed object throws {@link IllegalStateException}. Errors from the device itself are
 * {@link DeviceException}s. As in CUDA, a later call reports a failure of asynchronous work. A fault such as an illegal
 * address is sticky: nothing more runs on the device, and every later call on a stream or event reports it again.
 *
 * <p><b>Ownership.</b> The opener closes: streams, events and buffers first, then the device. Repeating a
 * {@code close()} has no effect.
 */
public interface Device extends AutoCloseable {
    /** {@return a new host device, which the caller closes} */
    static Device host() {
        return DeviceProviders.find().of(DeviceProviders.HOST).open(0);
    }

    /**
     * Opens a CUDA device.
     *
     * @param ordinal the device's index among those visible to this process, from 0
     * @return a new device, which the caller closes
     * @throws DeviceUnavailableException if it cannot be used; the message says why and how to fix it
     */
    static Device cuda(int ordinal) {
        return DeviceProviders.find().of(DeviceProviders.CUDA).open(ordinal);
    }

    /**
     * Opens the first usable CUDA device, else the first of another provider, else the host device. The log names the
     * choice and the reason.
     *
     * @return a new device, which the caller closes
     */
    static Device best() {
        return DeviceProviders.find().best();
    }

    /**
     * Opens a device by name.
     *
     * @param name {@code auto} for {@link #best()}, {@code host}, {@code cuda} for the first CUDA device,
     *     {@code cuda:N}, or the same forms with another {@linkplain DeviceProvider#kind() kind}
     * @return a new device, which the caller closes
     * @throws IllegalArgumentException if no device has this name
     * @throws DeviceUnavailableException if the device cannot be used
     */
    static Device open(String name) {
        return name.equals("auto") ? best() : DeviceProviders.find().open(name);
    }

    /** {@return the name, as {@link #open(String)} takes it: {@code host}, or for example {@code cuda:0}} */
    String name();

    /** {@return the index among the devices of its kind, as CUDA and DLPack count; 0 for the host device} */
    int ordinal();

    /**
     * {@return whether the CPU may read and write {@linkplain #allocate(long) device memory}; true for the host device}
     */
    boolean hostAccessible();

    /**
     * Makes this the calling thread's current device, as CUDA requires for enqueuing work. A no-op on the host device.
     *
     * @throws IllegalStateException if the device is closed, or if it is a CUDA device and the thread is virtual
     * @throws DeviceException if the device cannot be made current
     */
    void makeCurrent();

    /**
     * Makes this the current device of a thread on which nobody captures CUDA graphs. While another thread captures,
     * CUDA forbids some calls to all threads by default, and ends the capture if one is made; it lets this thread make
     * them. The same as {@link #makeCurrent()} on the host device.
     *
     * @throws IllegalStateException as {@link #makeCurrent()}
     * @throws DeviceException if the device reports an error
     */
    void dedicateThread();

    /**
     * {@return where the functions of the device's library are found, for code that calls it beside Penstock: those of
     * the CUDA runtime that this device is driven through; none of the host device}
     *
     * {@snippet :
     * MemorySegment launch = device.functions().findOrThrow("cudaLaunchKernel");
     * }
     */
    default SymbolLookup functions() {
        return _ -> Optional.empty();
    }

    /**
     * Opens a stream, which runs concurrently with all others.
     *
     * @param name the stream's name in error messages; on the host device also the thread's name
     * @return the stream, which the caller closes
     * @throws IllegalStateException if the device is closed
     * @throws DeviceException if the device reports an error
     */
    DeviceStream openStream(String name);

    /**
     * Wraps a stream that the caller owns: a {@code cudaStream_t}, for example the trainer's, or an open stream of this
     * host device. Closing the view does not close the stream; the owner keeps it open while the view is in use.
     *
     * <p>CUDA cannot check a handle safely, so a wrong one is undefined behavior there, as in C. The values 0 and 1
     * are CUDA's legacy default stream, 2 is the calling thread's default stream.
     *
     * @param handle the {@code cudaStream_t} as an address, or {@link DeviceStream#handle()}
     * @return the view
     * @throws IllegalArgumentException if this is the host device and the handle is not one of its open streams
     * @throws IllegalStateException if the device is closed
     */
    DeviceStream stream(long handle);

    /**
     * Opens an event, which counts as complete until it is first recorded.
     *
     * @param wait how a thread waits in {@link DeviceEvent#synchronize()}
     * @return the event, which the caller closes
     * @throws IllegalStateException if the device is closed
     * @throws DeviceException if the device reports an error
     */
    DeviceEvent openEvent(EventWait wait);

    /**
     * Opens an event that also notes when the device reached its mark, for {@link DeviceEvent#nanosSince}. Recording
     * and waiting for it may cost the device a little more than for an event without a time.
     *
     * @param wait how a thread waits in {@link DeviceEvent#synchronize()}
     * @return the event, which the caller closes
     * @throws IllegalStateException if the device is closed
     * @throws DeviceException if the device reports an error
     */
    DeviceEvent openTimedEvent(EventWait wait);

    /**
     * Wraps an event that the caller owns, to wait for it: a {@code cudaEvent_t}, for example the trainer's, or an open
     * event of this host device. Closing the view does not close the event; the owner keeps it open while the view is
     * in use.
     *
     * <p>CUDA cannot check a handle safely, so a wrong one is undefined behavior there, as in C.
     *
     * @param handle the {@code cudaEvent_t} as an address, or {@link DeviceEvent#handle()}
     * @return the view
     * @throws IllegalArgumentException if the handle is 0, or if this is the host device and the handle is not one of
     *     its open events
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
     * @throws DeviceException if the device lacks the memory
     */
    DeviceBuffer allocate(long bytes);

    /**
     * Allocates host memory that the device can access directly: page-locked for a CUDA device. It is aligned to 4096
     * bytes, and all its pages are resident when this returns.
     *
     * <p>CUDA takes about half a second per GiB: allocate at start and reuse.
     *
     * @param bytes the size, at least 1
     * @return the buffer, which the caller closes
     * @throws IllegalArgumentException if {@code bytes} is less than 1
     * @throws IllegalStateException if the device is closed
     * @throws DeviceException if the memory cannot be locked
     */
    PinnedBuffer allocatePinned(long bytes);

    /**
     * Closes the device. Anything it opened that is still open is a leak: it is closed here, last opened first (a
     * stream after its queued work has ended), and a warning in the log names it. Views of streams and events need no
     * closing and are not counted.
     *
     * @throws DeviceException if releasing something fails; the rest is still released
     */
    @Override
    void close();
}
