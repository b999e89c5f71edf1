// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

import java.lang.foreign.MemorySegment;

/**
 * Asks the OS to back memory by large pages. What is written and read at random, batch after batch, then needs a few
 * entries of the CPU's address cache, and the hardware fetches ahead across what would be page bounds.
 */
public final class LargePages {

    /** Of 64-bit x86, and of Arm where pages are of 4 KiB; elsewhere less of the memory is advised than could be. */
    private static final long LARGE_PAGE_BYTES = 2 << 20;
    /** Below it, a batch is in the cache and the address cache anyway. */
    private static final long MIN_BYTES = 2 * LARGE_PAGE_BYTES;
    private static final int MADV_HUGEPAGE = 14;
    /** Linux 6.1 and later: at once, for pages that are there already. */
    private static final int MADV_COLLAPSE = 25;

    private LargePages() {
    }

    /**
     * Advises for the whole large pages within some memory. It is advice: nothing depends on it, and the content stays.
     *
     * @param memory native memory of the process itself, no mapped file
     * @return whether the OS took the advice; false for memory of less than 4 MiB
     */
    public static boolean advise(MemorySegment memory) {
        long skip = -memory.address() & LARGE_PAGE_BYTES - 1;
        if (!Posix.AVAILABLE || memory.byteSize() < MIN_BYTES) {
            return false;
        }
        MemorySegment pages = memory.asSlice(skip, memory.byteSize() - skip & -LARGE_PAGE_BYTES);
        return Posix.madvise(pages, MADV_HUGEPAGE) && Posix.madvise(pages, MADV_COLLAPSE);
    }
}
