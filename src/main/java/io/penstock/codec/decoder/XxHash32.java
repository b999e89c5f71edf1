// SPDX-License-Identifier: Apache-2.0
package io.penstock.codec.decoder;

import static io.penstock.memory.LittleEndian.I32;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * XXH32 with seed 0: the checksum of LZ4 frames.
 *
 * @see <a href="https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md">xxHash fast digest algorithm</a>
 */
final class XxHash32 {

    private static final int PRIME_1 = 0x9E3779B1;
    private static final int PRIME_2 = 0x85EBCA77;
    private static final int PRIME_3 = 0xC2B2AE3D;
    private static final int PRIME_4 = 0x27D4EB2F;
    private static final int PRIME_5 = 0x165667B1;
    private static final int STRIPE_BYTES = 16;

    @SuppressWarnings("ConstantOverflow")
    static int hash(MemorySegment bytes, long offset, long length) {
        long at = offset;
        long end = offset + length;
        int hash = PRIME_5;
        if (length >= STRIPE_BYTES) {
            int a = PRIME_1 + PRIME_2;
            int b = PRIME_2;
            int c = 0;
            int d = -PRIME_1;
            for (; at <= end - STRIPE_BYTES; at += STRIPE_BYTES) {
                a = round(a, bytes.get(I32, at));
                b = round(b, bytes.get(I32, at + 4));
                c = round(c, bytes.get(I32, at + 8));
                d = round(d, bytes.get(I32, at + 12));
            }
            hash = Integer.rotateLeft(a, 1) + Integer.rotateLeft(b, 7) + Integer.rotateLeft(c, 12)
                    + Integer.rotateLeft(d, 18);
        }
        hash += (int) length;
        for (; at <= end - Integer.BYTES; at += Integer.BYTES) {
            hash = Integer.rotateLeft(hash + bytes.get(I32, at) * PRIME_3, 17) * PRIME_4;
        }
        for (; at < end; at++) {
            hash = Integer.rotateLeft(hash + (bytes.get(ValueLayout.JAVA_BYTE, at) & 0xFF) * PRIME_5, 11) * PRIME_1;
        }
        hash = (hash ^ hash >>> 15) * PRIME_2;
        hash = (hash ^ hash >>> 13) * PRIME_3;
        return hash ^ hash >>> 16;
    }

    private static int round(int lane, int word) {
        return Integer.rotateLeft(lane + word * PRIME_2, 13) * PRIME_1;
    }
}
