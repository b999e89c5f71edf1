// SPDX-License-Identifier: Apache-2.0
package io.penstock.text;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Checks and writes UTF-8, as Unicode defines it: no overlong forms, no surrogates, nothing above U+10FFFF. */
public final class Utf8 {

    private static final VarHandle WORDS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long NOT_ASCII = 0x8080808080808080L;

    /** {@return the index of the first ill-formed sequence, or -1 if there is none} */
    public static int firstIllFormed(byte[] bytes, int from, int end) {
        int at = from;
        while (at < end) {
            while (at + Long.BYTES <= end && ((long) WORDS.get(bytes, at) & NOT_ASCII) == 0) {
                at += Long.BYTES;
            }
            if (at < end && bytes[at] >= 0) {
                at++;
            } else if (at < end) {
                int length = length(bytes, at, end);
                if (length == 0) {
                    return at;
                }
                at += length;
            }
        }
        return -1;
    }

    /** {@return the bytes of a byte order mark at the start of text: 3, or 0 if there is none} */
    public static int markBytes(byte[] bytes, int from, int end) {
        return end - from >= 3 && bytes[from] == (byte) 0xEF && bytes[from + 1] == (byte) 0xBB
                && bytes[from + 2] == (byte) 0xBF ? 3 : 0;
    }

    /**
     * {@return the bytes of the character at an index that is not ASCII; 0 if it is ill-formed} Table 3-7 of the
     * Unicode Standard has the forms.
     */
    public static int length(byte[] bytes, int at, int end) {
        int lead = bytes[at] & 0xFF;
        int length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
        if (length == 0 || at + length > end) {
            return 0;
        }
        int second = bytes[at + 1] & 0xFF;
        int least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        int most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        if (second < least || second > most) {
            return 0;
        }
        for (int i = 2; i < length; i++) {
            if ((bytes[at + i] & 0xC0) != 0x80) {
                return 0;
            }
        }
        return length;
    }

    /** Writes a character that is no surrogate at an index, and returns the index after it. */
    public static int encode(int character, byte[] to, int index) {
        int at = index;
        if (character < 0x80) {
            to[at++] = (byte) character;
        } else if (character < 0x800) {
            to[at++] = (byte) (0xC0 | character >> 6);
            to[at++] = continuation(character);
        } else if (character < 0x10000) {
            to[at++] = (byte) (0xE0 | character >> 12);
            to[at++] = continuation(character >> 6);
            to[at++] = continuation(character);
        } else {
            to[at++] = (byte) (0xF0 | character >> 18);
            to[at++] = continuation(character >> 12);
            to[at++] = continuation(character >> 6);
            to[at++] = continuation(character);
        }
        return at;
    }

    private static byte continuation(int bits) {
        return (byte) (0x80 | bits & 0x3F);
    }
}
