package io.penstock.device;

import java.lang.foreign.MemorySegment;

/**
 * Memory of a {@link Device}, aligned to 256 bytes.
 *
 * <p>It is closed when no work that names it is queued or running. The host device turns work that meets a closed
 * buffer into a sticky {@link DeviceException}.
 */
public interface DeviceBuffer extends AutoCloseable {
    /**
     * The address on the device, for kernels and other native code.
     *
     * @return the address
     * @throws IllegalStateException if the buffer is closed
     */
    long address();

    /**
     * The size.
     *
     * @return the bytes that were asked for
     */
    long byteSize();

    /**
     * The memory, where the CPU can reach it ({@link Device#hostAccessible()}).
     *
     * @return the whole buffer; access after {@link #close()} throws
     * @throws UnsupportedOperationException if the CPU cannot reach it
     */
    MemorySegment segment();

    /**
     * Frees the memory.
     *
     * @throws DeviceException if the device reports an error
     */
    @Override
    void close();
}
