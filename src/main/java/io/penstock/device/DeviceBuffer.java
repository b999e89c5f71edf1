// SPDX-License-Identifier: Apache-2.0
package io.penstock.device;

import java.lang.foreign.MemorySegment;

/**
 * Memory of a {@link Device}, aligned to 256 bytes.
 *
 * <p>Close it only when no queued or running work uses it. On the host device, work that uses a closed buffer fails
 * with a sticky {@link DeviceException}.
 */
public interface DeviceBuffer extends AutoCloseable {
    /**
     * {@return the address on the device, for kernels and native code}
     *
     * @throws IllegalStateException if the buffer is closed
     */
    long address();

    /** {@return the requested size in bytes} */
    long byteSize();

    /**
     * The memory, if the CPU can access it ({@link Device#hostAccessible()}).
     *
     * @return the whole buffer; access after {@link #close()} throws
     * @throws UnsupportedOperationException if the CPU cannot access it
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
