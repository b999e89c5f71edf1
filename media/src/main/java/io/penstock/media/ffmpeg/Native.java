// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.ffmpeg;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/** Memory of the libraries, by its address. */
@SuppressWarnings("restricted")
final class Native {

    /** All memory of the process: the offset of a byte in it is its address. */
    static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private Native() {
    }

    static int i32(long address) {
        return ALL.get(JAVA_INT_UNALIGNED, address);
    }

    static long i64(long address) {
        return ALL.get(JAVA_LONG_UNALIGNED, address);
    }

    static void i32(long address, int value) {
        ALL.set(JAVA_INT_UNALIGNED, address, value);
    }

    static void i64(long address, long value) {
        ALL.set(JAVA_LONG_UNALIGNED, address, value);
    }

    static String text(long address) {
        return address == 0 ? "?" : ALL.getString(address);
    }
}
