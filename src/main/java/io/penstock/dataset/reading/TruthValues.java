// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Normalizes booleans to 0 or 1. In files of numpy, h5py and safetensors any byte but 0 is true; kernels that sum or
 * index by booleans need 0 or 1.
 */
final class TruthValues {

    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final long ONES = 0x0101_0101_0101_0101L;
    private static final long LOW_BITS = 0x7F7F_7F7F_7F7F_7F7FL;

    /** Sets all nonzero bytes to 1, eight at a time; writes only what changes. */
    static void normalize(MemorySegment values, long offset, long bytes) {
        long end = offset + bytes;
        long at = offset;
        for (; end - at >= Long.BYTES; at += Long.BYTES) {
            long word = values.get(WORD, at);
            if ((word & ~ONES) != 0) {
                // The top bit of a byte is set if any of its bits is: adding 0x7F carries the lower seven into it.
                values.set(WORD, at, ((word & LOW_BITS) + LOW_BITS | word) >>> 7 & ONES);
            }
        }
        for (; at < end; at++) {
            if (values.get(JAVA_BYTE, at) != 0) {
                values.set(JAVA_BYTE, at, (byte) 1);
            }
        }
    }
}
