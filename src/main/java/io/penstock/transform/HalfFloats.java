// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import static io.penstock.memory.LittleEndian.F32;
import static io.penstock.memory.LittleEndian.I64;

import io.penstock.device.internal.RawMemory;
import java.lang.foreign.MemorySegment;

/** Rounds f32 arrays to 16-bit formats, in loops that the JIT vectorizes. The caller casts NaNs. */
final class HalfFloats {
    private final short[] halves;
    private final MemorySegment floatBits;
    private final long[] pairs;
    private final int[] halfPairs;

    /** Allocates for a maximum count per call, which is even. */
    HalfFloats(int most) {
        halves = new short[most];
        floatBits = MemorySegment.ofArray(new byte[most * Float.BYTES]);
        pairs = new long[most / 2];
        halfPairs = new int[most / 2];
    }

    void putF16(float[] floats, int count, long target) {
        round(floats, count, halves);
        RawMemory.set(halves, 0, count, target);
    }

    private static void round(float[] floats, int count, short[] halves) {
        for (int i = 0; i < count; i++) {
            halves[i] = Float.floatToFloat16(floats[i]);
        }
    }

    /** Copies to get the bits: the JIT does not vectorize a loop that converts floats, but one over integers. */
    void putBf16(float[] floats, int count, long target) {
        int pairCount = (count + 1) / 2;
        MemorySegment.copy(floats, 0, floatBits, F32, 0, 2 * pairCount);
        MemorySegment.copy(floatBits, I64, 0, pairs, 0, pairCount);
        roundPairs(pairs, pairCount, halfPairs);
        RawMemory.set(halfPairs, 0, count / 2, target);
        if (count % 2 != 0) {
            RawMemory.setBits(Short.BYTES, target, count - 1, halfPairs[count / 2]);
        }
    }

    /** {@link io.penstock.memory.DType#bf16} of the lower and the upper half. */
    private static void roundPairs(long[] pairs, int count, int[] halfPairs) {
        for (int i = 0; i < count; i++) {
            long pair = pairs[i];
            long lower = (pair & 0xFFFF_FFFFL) + 0x7FFF + (pair >>> 16 & 1) >>> 16;
            long upper = (pair >>> 32) + 0x7FFF + (pair >>> 48 & 1);
            halfPairs[i] = (int) (lower & 0xFFFF | upper & 0xFFFF_0000L);
        }
    }
}
