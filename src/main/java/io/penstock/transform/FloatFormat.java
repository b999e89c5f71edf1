// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.memory.DType;

/**
 * Floating-point formats as bits, rounded once to nearest even. NaN becomes the format's single positive quiet NaN.
 * Overflow becomes infinity; in the 8-bit formats overflow and infinity become the largest finite number.
 */
enum FloatFormat {
    BF16(8, 7, 0x7F80, 0x7F80, 0x7FC0),
    F16(5, 10, 0x7C00, 0x7C00, 0x7E00),
    F32(8, 23, 0x7F80_0000L, 0x7F80_0000L, 0x7FC0_0000L),
    F64(11, 52, 0x7FF0_0000_0000_0000L, 0x7FF0_0000_0000_0000L, 0x7FF8_0000_0000_0000L),
    F8E4M3(4, 3, 0x7F, 0x7E, 0x7F),
    F8E5M2(5, 2, 0x7C, 0x7B, 0x7F);

    private final int exponentBits;
    private final int fractionBits;
    /** The first non-finite encoding. */
    private final long limit;
    /** The encoding of overflow. */
    private final long beyond;
    private final long nan;

    FloatFormat(int exponentBits, int fractionBits, long limit, long beyond, long nan) {
        this.exponentBits = exponentBits;
        this.fractionBits = fractionBits;
        this.limit = limit;
        this.beyond = beyond;
        this.nan = nan;
    }

    static FloatFormat of(DType dtype) {
        return switch (dtype) {
            case BF16 -> BF16;
            case F16 -> F16;
            case F32 -> F32;
            case F64 -> F64;
            case F8E4M3 -> F8E4M3;
            case F8E5M2 -> F8E5M2;
            default -> throw new IllegalArgumentException(dtype + " is not a floating-point dtype");
        };
    }

    long encode(double value) {
        if (Double.isNaN(value)) {
            return nan;
        }
        long bits = Double.doubleToRawLongBits(value);
        boolean negative = bits < 0;
        if (Double.isInfinite(value)) {
            return sign(negative) | beyond;
        }
        int exponent = (int) (bits >>> 52) & 0x7FF;
        long fraction = bits & (1L << 52) - 1;
        return exponent == 0 ? encode(negative, fraction, -1074)
                : encode(negative, fraction | 1L << 52, exponent - 1075);
    }

    /** Encodes {@code magnitude · 2^exponent}, the magnitude unsigned; the twin of {@code encode} in floats.cuh. */
    long encode(boolean negative, long magnitude, int exponent) {
        if (magnitude == 0) {
            return sign(negative);
        }
        int zeros = Long.numberOfLeadingZeros(magnitude);
        long m = magnitude << zeros;
        int biased = exponent + 63 - zeros + bias();
        int dropped = 63 - fractionBits;
        if (biased < 1) {                                   // a subnormal number
            dropped += 1 - biased;
            biased = 1;
        }
        if (dropped > 64) {
            return sign(negative);
        }
        long kept = dropped == 64 ? 0 : m >>> dropped;
        long half = 1L << dropped - 1;
        long rest = m & half - 1;
        if ((m & half) != 0 && (rest != 0 || (kept & 1) != 0)) {
            kept++;
        }
        long encoded = ((long) (biased - 1) << fractionBits) + kept;
        return sign(negative) | (encoded < limit ? encoded : beyond);
    }

    static short f16(float value) {
        return Float.isNaN(value) ? (short) F16.nan : Float.floatToFloat16(value);
    }

    private int bias() {
        return (1 << exponentBits - 1) - 1;
    }

    private long sign(boolean negative) {
        return negative ? 1L << exponentBits + fractionBits : 0;
    }
}
