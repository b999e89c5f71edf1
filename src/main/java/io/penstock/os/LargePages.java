// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

import java.lang.foreign.MemorySegment;

/**
 * Asks the OS to back memory by large pages. Random access to a batch then needs fewer TLB entries, and hardware
 * prefetching is not stopped by page bounds.
 */
public final class LargePages {

    /** The size on x86-64, and on Arm with pages of 4 KiB; elsewhere less memory is advised than could be. */
    private static final long LARGE_PAGE_BYTES = 2 << 20;
    /** Smaller memory fits into the cache and the TLB. */
    private static final long MIN_BYTES = 2 * LARGE_PAGE_BYTES;
    private static final int MADV_HUGEPAGE = 14;
    /** Linux 6.1 and later: at once, for pages that exist already. */
    private static final int MADV_COLLAPSE = 25;

    /**
     * Advises the large pages that are whole within some native memory of the process, not of a mapped file; returns
     * whether the OS took the advice, false for less than 4 MiB. The content stays.
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
