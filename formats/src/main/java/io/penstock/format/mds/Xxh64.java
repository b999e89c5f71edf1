// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.mds;

import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * The 64-bit xxHash of bytes added piece by piece, as Yann Collet specifies it ({@code doc/xxhash_spec.md}). It detects
 * damage, not forgery.
 */
final class Xxh64 {

    private static final long PRIME_1 = 0x9E3779B185EBCA87L;
    private static final long PRIME_2 = 0xC2B2AE3D27D4EB4FL;
    private static final long PRIME_3 = 0x165667B19E3779F9L;
    private static final long PRIME_4 = 0x85EBCA77C2B2AE63L;
    private static final long PRIME_5 = 0x27D4EB2F165667C5L;
    private static final int STRIPE_BYTES = 32;

    private final long seed;
    private final long[] lanes;
    private final byte[] rest = new byte[STRIPE_BYTES];
    private int restBytes;
    private long totalBytes;

    Xxh64(long seed) {
        this.seed = seed;
        this.lanes = new long[] {seed + PRIME_1 + PRIME_2, seed + PRIME_2, seed, seed - PRIME_1};
    }

    void update(byte[] bytes, int offset, int length) {
        totalBytes += length;
        int at = offset;
        int end = offset + length;
        if (restBytes > 0) {
            int step = Math.min(STRIPE_BYTES - restBytes, length);
            System.arraycopy(bytes, at, rest, restBytes, step);
            restBytes += step;
            at += step;
            if (restBytes < STRIPE_BYTES) {
                return;
            }
            stripe(MemorySegment.ofArray(rest), 0);
            restBytes = 0;
        }
        MemorySegment memory = MemorySegment.ofArray(bytes);
        for (; end - at >= STRIPE_BYTES; at += STRIPE_BYTES) {
            stripe(memory, at);
        }
        restBytes = end - at;
        System.arraycopy(bytes, at, rest, 0, restBytes);
    }

    private void stripe(MemorySegment memory, long at) {
        for (int lane = 0; lane < lanes.length; lane++) {
            lanes[lane] = round(lanes[lane], memory.get(LittleEndian.I64, at + 8L * lane));
        }
    }

    private static long round(long lane, long input) {
        return Long.rotateLeft(lane + input * PRIME_2, 31) * PRIME_1;
    }

    long value() {
        long hash;
        if (totalBytes >= STRIPE_BYTES) {
            hash = Long.rotateLeft(lanes[0], 1) + Long.rotateLeft(lanes[1], 7) + Long.rotateLeft(lanes[2], 12)
                    + Long.rotateLeft(lanes[3], 18);
            for (long lane : lanes) {
                hash = (hash ^ round(0, lane)) * PRIME_1 + PRIME_4;
            }
        } else {
            hash = seed + PRIME_5;
        }
        hash += totalBytes;
        MemorySegment memory = MemorySegment.ofArray(rest);
        int at = 0;
        for (; restBytes - at >= Long.BYTES; at += Long.BYTES) {
            hash = Long.rotateLeft(hash ^ round(0, memory.get(LittleEndian.I64, at)), 27) * PRIME_1 + PRIME_4;
        }
        if (restBytes - at >= Integer.BYTES) {
            long input = memory.get(LittleEndian.I32, at) & 0xFFFF_FFFFL;
            hash = Long.rotateLeft(hash ^ input * PRIME_1, 23) * PRIME_2 + PRIME_3;
            at += Integer.BYTES;
        }
        for (; at < restBytes; at++) {
            hash = Long.rotateLeft(hash ^ (rest[at] & 0xFF) * PRIME_5, 11) * PRIME_1;
        }
        hash = (hash ^ hash >>> 33) * PRIME_2;
        hash = (hash ^ hash >>> 29) * PRIME_3;
        return hash ^ hash >>> 32;
    }
}
