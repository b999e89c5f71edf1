// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.memory.DType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.EnumMap;
import java.util.Map;

/** Casts from the definition: exact values, and of all the numbers that a format has the nearest. */
final class SlowCast {
    /** All non-negative finite numbers of a small format by their encoding, and where the next one would be. */
    private static final Map<DType, BigDecimal[]> NUMBERS = new EnumMap<>(DType.class);

    static {
        NUMBERS.put(DType.BF16, numbers(8, 7, 0x7F80));
        NUMBERS.put(DType.F16, numbers(5, 10, 0x7C00));
        NUMBERS.put(DType.F8E4M3, numbers(4, 3, 0x7F));
        NUMBERS.put(DType.F8E5M2, numbers(5, 2, 0x7C));
    }

    private SlowCast() {
    }

    private static BigDecimal[] numbers(int exponentBits, int fractionBits, int count) {
        BigDecimal[] numbers = new BigDecimal[count + 1];
        int bias = (1 << exponentBits - 1) - 1;
        for (int encoding = 0; encoding <= count; encoding++) {
            int exponent = encoding >> fractionBits;
            double fraction = (encoding & (1 << fractionBits) - 1) / (double) (1 << fractionBits);
            numbers[encoding] = new BigDecimal(exponent == 0 ? fraction * Math.pow(2, 1 - bias)
                    : (1 + fraction) * Math.pow(2, exponent - bias));
        }
        return numbers;
    }

    /** The value of an element as an f64, which holds all floats exactly. */
    private static double value(DType dtype, long bits) {
        if (dtype == DType.F64) {
            return Double.longBitsToDouble(bits);
        }
        if (dtype == DType.F32) {
            return Float.intBitsToFloat((int) bits);
        }
        BigDecimal[] numbers = NUMBERS.get(dtype);
        long signBit = 1L << 8 * dtype.byteSize() - 1;
        int magnitude = (int) (bits & signBit - 1);
        double value = magnitude < numbers.length - 1 ? numbers[magnitude].doubleValue()
                : magnitude == numbers.length - 1 && dtype != DType.F8E4M3 ? Double.POSITIVE_INFINITY : Double.NaN;
        return (bits & signBit) != 0 ? -value : value;
    }

    static long cast(DType from, DType to, long bits) {
        if (from == to) {
            return bits;
        }
        if (from.isFloat()) {
            double value = value(from, bits);
            if (to.isFloat()) {
                return encode(to, value);
            }
            if (to == DType.BOOL) {
                return value != 0 ? 1 : 0;
            }
            return truncate(to, value);
        }
        int unused = 64 - 8 * from.byteSize();
        long value = from.isUnsigned() || from == DType.BOOL ? bits : bits << unused >> unused;
        if (to == DType.BOOL) {
            return value != 0 ? 1 : 0;
        }
        if (to.isInteger()) {
            return value;
        }
        BigInteger exact = from == DType.U64 ? new BigInteger(Long.toUnsignedString(value)) : BigInteger.valueOf(value);
        return nearest(to, new BigDecimal(exact), false);
    }

    private static long truncate(DType to, double value) {
        if (Double.isNaN(value)) {
            return 0;
        }
        int bits = 8 * to.byteSize();
        BigInteger low = to.isUnsigned() ? BigInteger.ZERO : BigInteger.TWO.pow(bits - 1).negate();
        BigInteger high = BigInteger.TWO.pow(to.isUnsigned() ? bits : bits - 1).subtract(BigInteger.ONE);
        if (Double.isInfinite(value)) {
            return (value > 0 ? high : low).longValue();
        }
        return new BigDecimal(value).toBigInteger().min(high).max(low).longValue();
    }

    private static long encode(DType to, double value) {
        if (Double.isNaN(value)) {
            return switch (to) {
                case F64 -> 0x7FF8_0000_0000_0000L;
                case F32 -> 0x7FC0_0000L;
                case F16 -> 0x7E00;
                case BF16 -> 0x7FC0;
                default -> 0x7F;
            };
        }
        boolean negative = Double.doubleToRawLongBits(value) < 0;
        if (Double.isInfinite(value)) {
            long beyond = switch (to) {
                case F64 -> 0x7FF0_0000_0000_0000L;
                case F32 -> 0x7F80_0000L;
                case F16 -> 0x7C00;
                case BF16 -> 0x7F80;
                case F8E4M3 -> 0x7E;
                default -> 0x7B;
            };
            return negative ? beyond | 1L << 8 * to.byteSize() - 1 : beyond;
        }
        return nearest(to, new BigDecimal(value), negative);
    }

    private static long nearest(DType to, BigDecimal exact, boolean negativeZero) {
        boolean negative = exact.signum() < 0 || exact.signum() == 0 && negativeZero;
        if (to == DType.F64) {
            return Double.doubleToRawLongBits(negative && exact.signum() == 0 ? -0.0 : exact.doubleValue());
        }
        if (to == DType.F32) {
            return Float.floatToRawIntBits(negative && exact.signum() == 0 ? -0f : exact.floatValue()) & 0xFFFF_FFFFL;
        }
        BigDecimal[] numbers = NUMBERS.get(to);
        BigDecimal magnitude = exact.abs();
        int low = 0;
        int high = numbers.length - 1;
        while (low < high) {                                // the greatest number that is not above
            int middle = (low + high + 1) >>> 1;
            if (numbers[middle].compareTo(magnitude) <= 0) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        int encoding = low;
        if (low < numbers.length - 1) {
            int order = magnitude.subtract(numbers[low]).compareTo(numbers[low + 1].subtract(magnitude));
            encoding = order > 0 || order == 0 && low % 2 == 1 ? low + 1 : low;
        }
        if (encoding == numbers.length - 1 && (to == DType.F8E4M3 || to == DType.F8E5M2)) {
            encoding--;
        }
        return negative ? encoding | 1L << 8 * to.byteSize() - 1 : encoding;
    }
}
