package io.penstock.device;

import java.lang.foreign.MemorySegment;

/**
 * A queue of work that a {@link Device} runs in the order of enqueueing, beside the calling thread and other streams.
 *
 * <p>The copy methods return before the copy is done. Until it is (an event recorded behind it is complete, or
 * {@link #synchronize()} has returned), both buffers stay open, the source is not written and the destination is not
 * touched.
 *
 * <p>The source of a copy to the device is a {@link PinnedBuffer} by type: from memory that is not page-locked CUDA
 * copies in the calling thread, which would silently undo the overlap.
 *
 * <p>Enqueueing allocates nothing on the heap. It can block while a very long queue is full.
 *
 * <p>Every method but {@link #name()} and {@link #close()} throws {@link IllegalStateException} once the stream is
 * closed, and {@link DeviceException} when the device reports an error, of this call or of work enqueued before.
 */
public interface DeviceStream extends AutoCloseable {
    /**
     * What the stream was called when it was opened.
     *
     * @return the name
     */
    String name();

    /**
     * The stream as a number: the {@code cudaStream_t} address of a CUDA stream, which native code can be given.
     *
     * @return the handle, which {@link Device#stream(long)} takes
     */
    long handle();

    /**
     * Enqueues a copy from pinned memory to device memory. No bytes make an empty copy, which is allowed.
     *
     * @param dst where to
     * @param dstOffset first byte in {@code dst}
     * @param src where from
     * @param srcOffset first byte in {@code src}
     * @param bytes how many bytes
     * @throws IndexOutOfBoundsException if a range is not inside its buffer
     * @throws IllegalArgumentException if a buffer belongs to another device
     * @throws IllegalStateException if a buffer is closed
     */
    void copyToDevice(DeviceBuffer dst, long dstOffset, PinnedBuffer src, long srcOffset, long bytes);

    /**
     * Enqueues a copy from device memory to pinned memory. No bytes make an empty copy, which is allowed.
     *
     * @param dst where to
     * @param dstOffset first byte in {@code dst}
     * @param src where from
     * @param srcOffset first byte in {@code src}
     * @param bytes how many bytes
     * @throws IndexOutOfBoundsException if a range is not inside its buffer
     * @throws IllegalArgumentException if a buffer belongs to another device
     * @throws IllegalStateException if a buffer is closed
     */
    void copyToHost(PinnedBuffer dst, long dstOffset, DeviceBuffer src, long srcOffset, long bytes);

    /**
     * Enqueues a kernel. The arguments are copied before this returns. Until the kernel has run, the device and the
     * memory that the arguments name stay open, and that memory is not otherwise touched, as with a copy; but addresses
     * are numbers, and nothing checks them: a wrong one is undefined behaviour, as in C.
     *
     * <p>The first launch on a CUDA device loads the kernels.
     *
     * @param kernel the kernel
     * @param blocks how many blocks of {@value Kernel#BLOCK_THREADS} threads a GPU runs it with, at least 1
     * @param arguments the arguments, of which as many bytes are used as the {@link Kernel#layout()} has
     * @throws IllegalArgumentException if there are fewer bytes than the kernel takes, or less than one block
     */
    void launch(Kernel kernel, int blocks, MemorySegment arguments);

    /**
     * Makes the event mark the work that is enqueued on this stream so far. What it marked before is forgotten, but a
     * {@link #waitFor} that was called before still waits for that.
     *
     * @param event the event
     * @throws IllegalArgumentException if the event belongs to another device
     * @throws IllegalStateException if the event is closed
     */
    void record(DeviceEvent event);

    /**
     * Holds what is enqueued on this stream from here on until the work has ended that the event marks at the time of
     * this call. An event that was never recorded holds nothing. The calling thread does not wait.
     *
     * @param event the event
     * @throws IllegalArgumentException if the event belongs to another device
     * @throws IllegalStateException if the event is closed
     */
    void waitFor(DeviceEvent event);

    /**
     * Whether all work enqueued so far has ended.
     *
     * @return true if nothing is queued or running
     */
    boolean isIdle();

    /**
     * Blocks until all work enqueued so far has ended. An interrupt does not end the wait; the thread's interrupt
     * status is kept.
     */
    void synchronize();

    /**
     * Waits for the work that is enqueued and closes the stream; on a view of somebody else's stream closes only the
     * view, and does not wait.
     *
     * @throws DeviceException if that work failed; the stream is closed all the same
     */
    @Override
    void close();
}
