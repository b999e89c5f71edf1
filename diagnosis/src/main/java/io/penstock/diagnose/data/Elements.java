// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

import static io.penstock.memory.LittleEndian.I16;
import static io.penstock.memory.LittleEndian.I32;
import static io.penstock.memory.LittleEndian.I64;

import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Reads single elements of a slab by offset, without allocating. */
final class Elements {

    private static final ValueLayout.OfByte I8 = ValueLayout.JAVA_BYTE;
    private static final double[] E4M3 = codes(DType.F8E4M3);
    private static final double[] E5M2 = codes(DType.F8E5M2);

    private static double[] codes(DType dtype) {
        byte[] all = new byte[256];
        for (int code = 0; code < all.length; code++) {
            all[code] = (byte) code;
        }
        Tensor tensor = Tensor.of(MemorySegment.ofArray(all), dtype, all.length);
        double[] values = new double[all.length];
        Arrays.setAll(values, tensor::getDouble);
        return values;
    }

    /** Reads an integer; a {@code u64} as its two's complement. */
    static long integer(DType dtype, MemorySegment slab, long at) {
        return switch (dtype) {
            case U16 -> slab.get(I16, at) & 0xFFFF;
            case I32 -> slab.get(I32, at);
            case I64, U64 -> slab.get(I64, at);
            case U32 -> slab.get(I32, at) & 0xFFFF_FFFFL;
            case U8, BOOL -> slab.get(I8, at) & 0xFF;
            case I8 -> slab.get(I8, at);
            case I16 -> slab.get(I16, at);
            default -> throw new IllegalArgumentException("dtype: found " + dtype + ", expected an integer type");
        };
    }

    /** Reads a number; exact except for 64-bit integers beyond 2^53. */
    static double number(DType dtype, MemorySegment slab, long at) {
        return switch (dtype) {
            case U8, BOOL -> slab.get(I8, at) & 0xFF;
            case F32 -> Float.intBitsToFloat(slab.get(I32, at));
            case F16 -> Float.float16ToFloat(slab.get(I16, at));
            case BF16 -> Float.intBitsToFloat(slab.get(I16, at) << 16);
            case F64 -> Double.longBitsToDouble(slab.get(I64, at));
            case F8E4M3 -> E4M3[slab.get(I8, at) & 0xFF];
            case F8E5M2 -> E5M2[slab.get(I8, at) & 0xFF];
            case U64 -> unsigned(slab.get(I64, at));
            default -> integer(dtype, slab, at);
        };
    }

    /** Reads integers at a stride; one loop per width, so that no loop contains a switch. */
    static void integers(DType dtype, MemorySegment slab, long start, long strideBytes, long[] into, int count) {
        switch (dtype) {
            case U16 -> {
                for (int i = 0; i < count; i++) {
                    into[i] = slab.get(I16, start + i * strideBytes) & 0xFFFF;
                }
            }
            case I32 -> {
                for (int i = 0; i < count; i++) {
                    into[i] = slab.get(I32, start + i * strideBytes);
                }
            }
            case I64 -> {
                for (int i = 0; i < count; i++) {
                    into[i] = slab.get(I64, start + i * strideBytes);
                }
            }
            default -> {
                for (int i = 0; i < count; i++) {
                    into[i] = integer(dtype, slab, start + i * strideBytes);
                }
            }
        }
    }

    /** Reads numbers at a stride, likewise. */
    static void numbers(DType dtype, MemorySegment slab, long start, long strideBytes, double[] into, int count) {
        switch (dtype) {
            case U8 -> {
                for (int i = 0; i < count; i++) {
                    into[i] = slab.get(I8, start + i * strideBytes) & 0xFF;
                }
            }
            case F32 -> {
                for (int i = 0; i < count; i++) {
                    into[i] = Float.intBitsToFloat(slab.get(I32, start + i * strideBytes));
                }
            }
            default -> {
                for (int i = 0; i < count; i++) {
                    into[i] = number(dtype, slab, start + i * strideBytes);
                }
            }
        }
    }

    private static double unsigned(long value) {
        return value >= 0 ? value : (value >>> 1 | value & 1) * 2.0;
    }
}
