// SPDX-License-Identifier: Apache-2.0
package io.penstock.device;

import java.lang.foreign.MemorySegment;

/**
 * Host memory that a {@link Device} accesses directly while the CPU does other work: page-locked for a GPU.
 *
 * <p>Close it only when no queued or running work uses it. On the host device, work that uses a closed buffer fails
 * with a sticky {@link DeviceException}.
 */
public interface PinnedBuffer extends AutoCloseable {
    /** {@return the whole memory, usable from any thread; access after {@link #close()} throws} */
    MemorySegment segment();

    /** {@return the requested size in bytes} */
    long byteSize();

    /**
     * Unlocks and frees the memory.
     *
     * @throws IllegalStateException if a native call is using the segment right now; the buffer stays open
     * @throws DeviceException if the device reports an error
     */
    @Override
    void close();
}
