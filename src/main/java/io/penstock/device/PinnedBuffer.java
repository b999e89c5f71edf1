package io.penstock.device;

import java.lang.foreign.MemorySegment;

/**
 * Host memory that a {@link Device} reads and writes by itself while the CPU does other work: page-locked, where the
 * device is a GPU.
 *
 * <p>It is closed when no work that names it is queued or running. The host device turns work that meets a closed
 * buffer into a sticky {@link DeviceException}.
 */
public interface PinnedBuffer extends AutoCloseable {
    /**
     * The memory, for any thread.
     *
     * @return the whole buffer; access after {@link #close()} throws
     */
    MemorySegment segment();

    /**
     * The size.
     *
     * @return the bytes that were asked for
     */
    long byteSize();

    /**
     * Unlocks and frees the memory.
     *
     * @throws IllegalStateException if a native call is using the segment at this moment; the buffer stays open
     * @throws DeviceException if the device reports an error
     */
    @Override
    void close();
}
