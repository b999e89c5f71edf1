// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;

/** Bob Jenkins' hash {@code lookup3} ({@code hashlittle}, initial value 0), the checksum of HDF5's metadata. */
final class Lookup3 {

    private static final int BLOCK_BYTES = 12;
    private static final int START = 0xDEADBEEF;

    private int a;
    private int b;
    private int c;

    private Lookup3(int start) {
        a = start;
        b = start;
        c = start;
    }

    static int hash(MemorySegment bytes, long offset, long length) {
        Lookup3 hash = new Lookup3(START + (int) length);
        long at = offset;
        long left = length;
        // The last block is mixed differently, even if it is complete.
        for (; left > BLOCK_BYTES; left -= BLOCK_BYTES, at += BLOCK_BYTES) {
            hash.a += bytes.get(LittleEndian.I32, at);
            hash.b += bytes.get(LittleEndian.I32, at + 4);
            hash.c += bytes.get(LittleEndian.I32, at + 8);
            hash.mix();
        }
        if (left == 0) {
            return hash.c;
        }
        for (int i = 0; i < left; i++) {
            int value = (bytes.get(JAVA_BYTE, at + i) & 0xFF) << 8 * (i % 4);
            switch (i / 4) {
                case 0 -> hash.a += value;
                case 1 -> hash.b += value;
                default -> hash.c += value;
            }
        }
        hash.finish();
        return hash.c;
    }

    private void mix() {
        a = a - c ^ Integer.rotateLeft(c, 4);
        c += b;
        b = b - a ^ Integer.rotateLeft(a, 6);
        a += c;
        c = c - b ^ Integer.rotateLeft(b, 8);
        b += a;
        a = a - c ^ Integer.rotateLeft(c, 16);
        c += b;
        b = b - a ^ Integer.rotateLeft(a, 19);
        a += c;
        c = c - b ^ Integer.rotateLeft(b, 4);
        b += a;
    }

    private void finish() {
        c = (c ^ b) - Integer.rotateLeft(b, 14);
        a = (a ^ c) - Integer.rotateLeft(c, 11);
        b = (b ^ a) - Integer.rotateLeft(a, 25);
        c = (c ^ b) - Integer.rotateLeft(b, 16);
        a = (a ^ c) - Integer.rotateLeft(c, 4);
        b = (b ^ a) - Integer.rotateLeft(a, 14);
        c = (c ^ b) - Integer.rotateLeft(b, 24);
    }
}
