// SPDX-License-Identifier: Apache-2.0
package io.penstock.device;

import java.lang.foreign.MemorySegment;

/**
 * A queue of work that a {@link Device} runs in order, concurrently with the calling thread and other streams.
 *
 * <p>The copy methods return before the copy is done. Until an event recorded after it is complete, or
 * {@link #synchronize()} has returned, keep both buffers open, do not write the source and do not touch the
 * destination.
 *
 * <p>A copy to the device takes only a {@link PinnedBuffer} as its source: CUDA would copy from pageable memory in the
 * calling thread, which would silently undo the overlap.
 *
 * <p>Enqueueing allocates nothing on the heap. It can block while a very long queue is full.
 *
 * <p>Every method but {@link #name()} and {@link #close()} throws {@link IllegalStateException} once the stream is
 * closed, and {@link DeviceException} when the device reports an error from this call or from earlier work.
 */
public interface DeviceStream extends AutoCloseable {
    /** {@return the name given when the stream was opened} */
    String name();

    /**
     * {@return the stream as a number for native code, which {@link Device#stream(long)} takes: the
     * {@code cudaStream_t} address of a CUDA stream}
     */
    long handle();

    /**
     * Enqueues a copy from pinned memory to device memory. The copy may be empty.
     *
     * @param dst destination
     * @param dstOffset first byte in {@code dst}
     * @param src source
     * @param srcOffset first byte in {@code src}
     * @param bytes number of bytes
     * @throws IndexOutOfBoundsException if a range is not inside its buffer
     * @throws IllegalArgumentException if a buffer belongs to another device
     * @throws IllegalStateException if a buffer is closed
     */
    void copyToDevice(DeviceBuffer dst, long dstOffset, PinnedBuffer src, long srcOffset, long bytes);

    /**
     * Enqueues a copy from device memory to pinned memory. The copy may be empty.
     *
     * @param dst destination
     * @param dstOffset first byte in {@code dst}
     * @param src source
     * @param srcOffset first byte in {@code src}
     * @param bytes number of bytes
     * @throws IndexOutOfBoundsException if a range is not inside its buffer
     * @throws IllegalArgumentException if a buffer belongs to another device
     * @throws IllegalStateException if a buffer is closed
     */
    void copyToHost(PinnedBuffer dst, long dstOffset, DeviceBuffer src, long srcOffset, long bytes);

    /**
     * Enqueues a kernel launch. The arguments are copied before this returns. Until the kernel has run, the device and
     * the memory at the addresses in the arguments must stay open, and nothing else may touch that memory. Addresses
     * are not checked: a wrong one is undefined behavior, as in C.
     *
     * <p>The first launch on a CUDA device loads the kernels.
     *
     * @param kernel the kernel
     * @param blocks grid size on a GPU, in blocks of {@value Kernel#BLOCK_THREADS} threads, at least 1
     * @param arguments the arguments, at least as many bytes as the {@link Kernel#layout()}; the rest is ignored
     * @throws IllegalArgumentException if there are fewer bytes than the kernel takes, or fewer than one block
     */
    void launch(Kernel kernel, int blocks, MemorySegment arguments);

    /**
     * Makes the event mark the work enqueued on this stream so far. This replaces its previous mark, but an earlier
     * {@link #waitFor} still waits for that one.
     *
     * @param event the event
     * @throws IllegalArgumentException if the event belongs to another device
     * @throws IllegalStateException if the event is closed
     */
    void record(DeviceEvent event);

    /**
     * Makes work enqueued on this stream from now on wait for the work that the event marks at the time of this call.
     * An event that was never recorded delays nothing. The calling thread does not wait.
     *
     * @param event the event
     * @throws IllegalArgumentException if the event belongs to another device
     * @throws IllegalStateException if the event is closed
     */
    void waitFor(DeviceEvent event);

    /** {@return whether all work enqueued so far has ended} */
    boolean isIdle();

    /** Blocks until all work enqueued so far has ended. An interrupt stays set but does not end it. */
    void synchronize();

    /**
     * Waits for the enqueued work and closes the stream; closing a view neither waits nor closes the stream itself.
     *
     * @throws DeviceException if that work failed; the stream is closed anyway
     */
    @Override
    void close();
}
