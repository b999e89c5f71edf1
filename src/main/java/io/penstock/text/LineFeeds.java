// SPDX-License-Identifier: Apache-2.0
package io.penstock.text;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Finds and counts line feeds, eight bytes at a time. */
public final class LineFeeds {

    private static final VarHandle WORDS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long LINE_FEEDS = 0x0A0A0A0A0A0A0A0AL;
    private static final long LOW_BITS = 0x7F7F7F7F7F7F7F7FL;

    /** The highest bit of each byte of a word that is a line feed. */
    private static long in(long word) {
        long other = word ^ LINE_FEEDS;
        return ~((other & LOW_BITS) + LOW_BITS | other | LOW_BITS);
    }

    /** {@return the index of the first line feed, or {@code end} if there is none} */
    public static int first(byte[] bytes, int from, int end) {
        int at = from;
        for (; at + Long.BYTES <= end; at += Long.BYTES) {
            long found = in((long) WORDS.get(bytes, at));
            if (found != 0) {
                return at + (Long.numberOfTrailingZeros(found) >>> 3);
            }
        }
        while (at < end && bytes[at] != '\n') {
            at++;
        }
        return at;
    }

    /** {@return the number of line feeds in the first bytes} */
    public static long count(byte[] bytes, int length) {
        long count = 0;
        int at = 0;
        for (; at + Long.BYTES <= length; at += Long.BYTES) {
            count += Long.bitCount(in((long) WORDS.get(bytes, at)));
        }
        for (; at < length; at++) {
            count += bytes[at] == '\n' ? 1 : 0;
        }
        return count;
    }
}
