// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.os.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;

/** Asks the OS which pages of a mapping are in the page cache. */
final class Residency {

    private static final int SAMPLES = 64;
    /** One page in 64 may be missing: faulting more of them in costs more than reading the others by call. */
    private static final double WARM_SHARE = 0.98;

    /** Tells whether nearly all pages are resident. */
    static boolean isWarm(MemorySegment mapping) {
        return share(mapping, SAMPLES) >= WARM_SHARE;
    }

    /** Returns the share of resident pages, from one page at random of each of {@code samples} equal parts. */
    static double share(MemorySegment mapping, int samples) {
        if (!Posix.AVAILABLE || mapping.byteSize() == 0) {
            return 1;
        }
        var random = new SplittableRandom(System.nanoTime());
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment flag = scratch.allocate(JAVA_BYTE);
            int resident = 0;
            for (int i = 0; i < samples; i++) {
                long at = (long) ((i + random.nextDouble()) / samples * mapping.byteSize());
                resident += has(mapping, Math.min(at, mapping.byteSize() - 1), flag) ? 1 : 0;
            }
            return (double) resident / samples;
        }
    }

    /** Tells whether the page of a byte is resident; true if the OS cannot tell. */
    static boolean has(MemorySegment mapping, long offset) {
        if (!Posix.AVAILABLE) {
            return true;
        }
        try (Arena scratch = Arena.ofConfined()) {
            return has(mapping, offset, scratch.allocate(JAVA_BYTE));
        }
    }

    private static boolean has(MemorySegment mapping, long offset, MemorySegment flag) {
        return Posix.isResident(mapping.asSlice(offset & -Posix.PAGE_BYTES, 1), flag);
    }
}
