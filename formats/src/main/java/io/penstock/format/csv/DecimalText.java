// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * A decimal number in a text, with the value that is nearest to it: what {@link Double#parseDouble} gives, without
 * objects for nearly all numbers. Integers up to 2^53 times or by a power of ten that is exact are one operation
 * (Clinger 1990); the others are a product of 128 bits (Lemire 2021, "Number parsing at a gigabyte per second"), and
 * the few that it leaves open go to the JDK. For one thread.
 *
 * <p>Bytes are read up to 9 behind the number, which must end before the array does.
 */
final class DecimalText {

    private static final VarHandle WORDS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int MAX_EXACT_DIGITS = 18;
    private static final int MAX_EXPONENT = 99_999;
    private static final long MAX_EXACT_DOUBLE = 1L << 53;
    private static final long MAX_EXACT_FLOAT = 1L << 24;
    private static final int LEAST_POWER = -342;
    private static final int MOST_POWER = 308;
    private static final int EXACT_POWERS = 22;
    private static final int EXACT_FLOAT_POWERS = 10;
    private static final long[] SMALL_POWERS = {1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000};
    private static final double[] POWERS = new double[EXACT_POWERS + 1];
    private static final float[] FLOAT_POWERS = new float[EXACT_FLOAT_POWERS + 1];
    /** The first 128 bits of each power of ten, the higher 64 first. */
    private static final long[] LEADING_BITS = new long[2 * (MOST_POWER - LEAST_POWER + 1)];

    static {
        POWERS[0] = 1;
        for (int i = 1; i <= EXACT_POWERS; i++) {
            POWERS[i] = 10 * POWERS[i - 1];
        }
        for (int i = 0; i <= EXACT_FLOAT_POWERS; i++) {
            FLOAT_POWERS[i] = (float) POWERS[i];
        }
        BigInteger five = BigInteger.valueOf(5);
        for (int q = LEAST_POWER; q <= MOST_POWER; q++) {
            BigInteger power = five.pow(Math.abs(q));
            if (q < 0) {
                // Rounded up, so that a product is never too small; of the small ones, at the last bit that is kept.
                int bits = q >= -27 ? power.bitLength() + 127 : 2 * power.bitLength() + 128;
                power = BigInteger.ONE.shiftLeft(bits).divide(power).add(BigInteger.ONE);
            }
            power = power.shiftLeft(2 * Long.SIZE).shiftRight(power.bitLength());
            LEADING_BITS[2 * (q - LEAST_POWER)] = power.shiftRight(Long.SIZE).longValue();
            LEADING_BITS[2 * (q - LEAST_POWER) + 1] = power.longValue();
        }
    }

    private int from;
    private int end;
    private int decimal;
    /** 1 behind a minus, otherwise 0. */
    private int negative;
    private boolean isReal;
    /** All digits, as far as they are 18; {@code isExact} tells whether they are. */
    private long digits;
    private boolean isExact;
    private int power;

    /**
     * Reads a number that begins at a byte.
     *
     * @param decimalPoint the byte before its fraction
     * @return the first byte behind it; -1 if no number begins here
     */
    int read(byte[] bytes, int at, int decimalPoint) {
        // Without branches: which sign comes next is not predicted.
        int behindPlus = bytes[at] - '+';
        int noSign = behindPlus & ~('-' - '+');
        int signs = (noSign | -noSign) >>> Integer.SIZE - 1 ^ 1;
        negative = behindPlus >>> 1 & signs;
        int first = at + signs;
        long word = (long) WORDS.get(bytes, first);
        long others = othersOf(word);
        int run = Long.numberOfTrailingZeros(others) >>> 3;
        int points = ((int) (word >>> Byte.SIZE * run) & 0xFF ^ decimalPoint) - 1 >>> Integer.SIZE - 1;
        int stop = Long.numberOfTrailingZeros(others & others - points) >>> 3;
        int p = first + stop;
        int count = stop - points;
        boolean real = points != 0;
        int exponent;
        long value;
        if (count < Long.BYTES && !isDigit(bytes[p])) {
            // Most numbers: up to 7 digits in one word, out of which the point is taken.
            long before = (1L << Byte.SIZE * run) - 1;
            long packed = word & before | word >>> Byte.SIZE & ~before;
            value = valueOf(packed << Byte.SIZE << 7 * Byte.SIZE - Byte.SIZE * count);
            exponent = run - count;
        } else {
            value = 0;
            p = first;
            for (int digit = bytes[p] - '0'; digit >= 0 && digit <= 9; digit = bytes[++p] - '0') {
                value = 10 * value + digit;
            }
            count = p - first;
            exponent = 0;
            real = bytes[p] == decimalPoint;
            if (real) {
                int fraction = ++p;
                word = (long) WORDS.get(bytes, p);
                run = Math.min(7, Long.numberOfTrailingZeros(othersOf(word)) >>> 3);
                value = value * SMALL_POWERS[run] + valueOf(word << Byte.SIZE << 7 * Byte.SIZE - Byte.SIZE * run);
                p += run;
                for (int digit = bytes[p] - '0'; digit >= 0 && digit <= 9; digit = bytes[++p] - '0') {
                    value = 10 * value + digit;
                }
                exponent = fraction - p;
                count += p - fraction;
            }
        }
        if (count == 0) {
            return -1;
        }
        if ((bytes[p] | 0x20) == 'e') {
            int q = p + 1;
            boolean isBelow = bytes[q] == '-';
            if (isBelow || bytes[q] == '+') {
                q++;
            }
            int start = q;
            int more = 0;
            int digit = bytes[q] - '0';
            while (digit >= 0 && digit <= 9) {
                more = Math.min(MAX_EXPONENT, 10 * more + digit);
                digit = bytes[++q] - '0';
            }
            if (q == start) {
                return -1;
            }
            p = q;
            real = true;
            exponent += isBelow ? -more : more;
        }
        from = at;
        end = p;
        decimal = decimalPoint;
        digits = value;
        power = exponent;
        isReal = real;
        isExact = count <= MAX_EXACT_DIGITS || areExact(bytes, first);
        return p;
    }

    /** Tells whether there are 18 digits behind leading zeros, or fewer; the number has more in all. */
    private boolean areExact(byte[] bytes, int first) {
        int p = first;
        while (bytes[p] == '0' || bytes[p] == decimal) {
            p++;
        }
        int count = 0;
        for (; bytes[p] >= '0' && bytes[p] <= '9' || bytes[p] == decimal; p++) {
            count += bytes[p] == decimal ? 0 : 1;
        }
        return count <= MAX_EXACT_DIGITS;
    }

    private static boolean isDigit(byte value) {
        return Integer.compareUnsigned(value - '0', 9) <= 0;
    }

    /** Returns the high bit of each byte of a word that is no digit. */
    private static long othersOf(long word) {
        long values = word ^ 0x3030303030303030L;
        return ((values & 0x7F7F7F7F7F7F7F7FL) + 0x7676767676767676L | values) & 0x8080808080808080L;
    }

    /** Returns the value of eight digits, or of fewer behind bytes of zero. */
    private static long valueOf(long word) {
        long pairs = (word & 0x0F0F0F0F0F0F0F0FL) * 2561 >>> 8;
        long fours = (pairs & 0x00FF00FF00FF00FFL) * 6553601 >>> 16;
        return (fours & 0x0000FFFF0000FFFFL) * 42949672960001L >>> 32;
    }

    /** Tells whether the last number has a fraction or an exponent. */
    boolean isReal() {
        return isReal;
    }

    /** Tells whether the last number is an integer of 64 bits. */
    boolean isLong(byte[] bytes) {
        if (isReal || isExact) {
            return !isReal;
        }
        try {
            digits = Math.abs(Long.parseLong(new String(bytes, from, end - from, StandardCharsets.ISO_8859_1)));
            return true;
        } catch (NumberFormatException _) {
            return false;
        }
    }

    /** Returns the last number if {@link #isLong} said that it is one. */
    long longValue() {
        return (digits ^ -negative) + negative;
    }

    /** Returns the double nearest to the last number. */
    double doubleValue(byte[] bytes) {
        if (!isExact) {
            return Double.parseDouble(text(bytes));
        }
        double value;
        if (digits <= MAX_EXACT_DOUBLE && power >= -EXACT_POWERS && power <= EXACT_POWERS) {
            value = power < 0 ? digits / POWERS[-power] : digits * POWERS[power];
        } else if (digits == 0) {
            value = 0;
        } else {
            value = product();
            if (Double.isNaN(value)) {
                return Double.parseDouble(text(bytes));
            }
        }
        return Double.longBitsToDouble(Double.doubleToRawLongBits(value) ^ (long) negative << Long.SIZE - 1);
    }

    /** Returns the float nearest to the last number. */
    float floatValue(byte[] bytes) {
        if (digits <= MAX_EXACT_FLOAT && power <= 0 && power >= -EXACT_FLOAT_POWERS && isExact) {
            float value = (float) digits / FLOAT_POWERS[-power];
            return Float.intBitsToFloat(Float.floatToRawIntBits(value) ^ negative << Integer.SIZE - 1);
        }
        double value = doubleValue(bytes);
        // A double between two floats, in their middle, may have been rounded to there.
        boolean isMiddle = (Double.doubleToRawLongBits(value) & 0x1FFFFFFF) == 0x10000000;
        double size = Math.abs(value);
        return isMiddle || size < Float.MIN_NORMAL && size > 0 ? Float.parseFloat(text(bytes)) : (float) value;
    }

    private String text(byte[] bytes) {
        String text = new String(bytes, from, end - from, StandardCharsets.ISO_8859_1);
        return decimal == '.' ? text : text.replace((char) decimal, '.');
    }

    /** Returns {@code digits} times the power of ten; NaN if it is subnormal, too large or undecided. */
    private double product() {
        if (power < LEAST_POWER || power > MOST_POWER) {
            return Double.NaN;
        }
        int zeros = Long.numberOfLeadingZeros(digits);
        long shifted = digits << zeros;
        int at = 2 * (power - LEAST_POWER);
        long high = Math.unsignedMultiplyHigh(shifted, LEADING_BITS[at]);
        long low = shifted * LEADING_BITS[at];
        if ((high & 0x1FF) == 0x1FF) {
            long more = Math.unsignedMultiplyHigh(shifted, LEADING_BITS[at + 1]);
            low += more;
            if (Long.compareUnsigned(low, more) < 0) {
                high++;
            }
        }
        if (low == -1 && (power < -27 || power > 55)) {
            return Double.NaN;
        }
        int upper = (int) (high >>> 63);
        int shift = upper + 9;
        long mantissa = high >>> shift;
        int exponent = (217_706 * power >> 16) + 63 + upper - zeros + 1023;
        if (exponent <= 0) {
            return Double.NaN;
        }
        // Half way between two doubles: to the even one.
        if (Long.compareUnsigned(low, 1) <= 0 && power >= -4 && power <= 23 && (mantissa & 3) == 1
                && mantissa << shift == high) {
            mantissa &= -2;
        }
        mantissa = mantissa + (mantissa & 1) >>> 1;
        if (mantissa >= 1L << 53) {
            mantissa = 1L << 52;
            exponent++;
        }
        return exponent >= 2047 ? Double.NaN
                : Double.longBitsToDouble((long) exponent << 52 | mantissa & (1L << 52) - 1);
    }
}
