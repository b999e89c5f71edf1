// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.chat.Values.Markup;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Python's arithmetic: ints without bounds but those of {@link Render}, floored division, strings and lists too. */
final class Arithmetic {

    private static final int MOST_BITS = 4096;
    private static final long EXACT = 1L << 53;

    private Arithmetic() {
    }

    /** An int in its shortest form. */
    static Object narrow(BigInteger value) {
        if (value.bitLength() < Long.SIZE) {
            return value.longValue();
        }
        if (value.bitLength() > MOST_BITS) {
            throw Values.error("an int of more than " + MOST_BITS + " bits is not supported");
        }
        return value;
    }

    /** An int or a bool as a number. */
    static BigInteger big(Object value) {
        return value instanceof Boolean b ? b ? BigInteger.ONE : BigInteger.ZERO
                : value instanceof Long n ? BigInteger.valueOf(n) : (BigInteger) value;
    }

    static double real(Object value) {
        return value instanceof Double d ? d : value instanceof Long n ? n : whole(big(value));
    }

    private static double whole(BigInteger value) {
        double real = value.doubleValue();
        if (Double.isInfinite(real)) {
            throw Values.error("the int is too large for a float");
        }
        return real;
    }

    private static boolean areIntegers(Object a, Object b) {
        return Values.isInteger(a) && Values.isInteger(b);
    }

    private static ChatTemplateException refused(Object a, String operator, Object b) {
        Values.requireDefined(a);
        Values.requireDefined(b);
        return Values.error("cannot apply '" + operator + "' to " + Values.type(a) + " and " + Values.type(b));
    }

    static Object add(Render render, Object a, Object b) {
        if (a instanceof String x && b instanceof String y) {
            render.grow((long) x.length() + y.length());
            return x.concat(y);
        }
        if (a instanceof Long x && b instanceof Long y) {
            long sum = x + y;
            return ((x ^ sum) & (y ^ sum)) < 0 ? narrow(big(x).add(big(y))) : (Object) sum;
        }
        if (areIntegers(a, b)) {
            return narrow(big(a).add(big(b)));
        }
        if (Values.isNumber(a) && Values.isNumber(b)) {
            return real(a) + real(b);
        }
        String x = Values.string(a);
        String y = Values.string(b);
        if (x != null && y != null) {
            render.grow(5L * (x.length() + y.length()));
            return new Markup((a instanceof Markup ? x : Text.escape(x)) + (b instanceof Markup ? y : Text.escape(y)));
        }
        if (a instanceof Tuple s && b instanceof Tuple t) {
            return new Tuple(joined(render, s, t).toArray());
        }
        if (Values.isList(a) && Values.isList(b)) {
            return joined(render, (List<?>) a, (List<?>) b);
        }
        throw refused(a, "+", b);
    }

    private static List<Object> joined(Render render, List<?> a, List<?> b) {
        render.grow((long) a.size() + b.size());
        List<Object> joined = new ArrayList<>(a.size() + b.size());
        joined.addAll(a);
        joined.addAll(b);
        return joined;
    }

    static Object subtract(Object a, Object b) {
        if (a instanceof Long x && b instanceof Long y) {
            long difference = x - y;
            return ((x ^ y) & (x ^ difference)) < 0 ? narrow(big(x).subtract(big(y))) : (Object) difference;
        }
        if (areIntegers(a, b)) {
            return narrow(big(a).subtract(big(b)));
        }
        requireNumbers(a, "-", b);
        return real(a) - real(b);
    }

    private static void requireNumbers(Object a, String operator, Object b) {
        if (!Values.isNumber(a) || !Values.isNumber(b)) {
            throw refused(a, operator, b);
        }
    }

    static Object multiply(Render render, Object a, Object b) {
        if (areIntegers(a, b)) {
            return narrow(big(a).multiply(big(b)));
        }
        if (Values.isInteger(a) && (Values.string(b) != null || b instanceof List)) {
            return repeat(render, b, big(a));
        }
        if (Values.isInteger(b) && (Values.string(a) != null || a instanceof List)) {
            return repeat(render, a, big(b));
        }
        requireNumbers(a, "*", b);
        return real(a) * real(b);
    }

    private static Object repeat(Render render, Object value, BigInteger count) {
        String text = Values.string(value);
        List<?> list = text != null ? List.of() : (List<?>) value;
        if (text == null && !(value instanceof Tuple) && !Values.isList(value)) {
            throw refused(value, "*", count);
        }
        int size = text != null ? text.length() : list.size();
        BigInteger total = count.max(BigInteger.ZERO).multiply(BigInteger.valueOf(size));
        render.grow(total.bitLength() < Long.SIZE ? total.longValue() : Long.MAX_VALUE);
        int times = size == 0 ? 0 : total.intValue() / size;
        if (text != null) {
            return value instanceof Markup ? new Markup(text.repeat(times)) : text.repeat(times);
        }
        Object[] items = new Object[size * times];
        Arrays.setAll(items, i -> list.get(i % size));
        return value instanceof Tuple ? new Tuple(items) : new ArrayList<>(Arrays.asList(items));
    }

    private static void requireDivisor(Object b) {
        if (!Values.isTrue(b)) {
            throw Values.error("division by zero");
        }
    }

    static Object divide(Object a, Object b) {
        requireNumbers(a, "/", b);
        requireDivisor(b);
        if (areIntegers(a, b) && !(isExact(a) && isExact(b))) {
            double quotient = new BigDecimal(big(a)).divide(new BigDecimal(big(b)), new MathContext(60)).doubleValue();
            if (Double.isInfinite(quotient)) {
                throw Values.error("the quotient is too large for a float");
            }
            return quotient;
        }
        return real(a) / real(b);
    }

    private static boolean isExact(Object value) {
        return value instanceof Boolean || value instanceof Long n && n <= EXACT && n >= -EXACT;
    }

    static Object floorDivide(Object a, Object b) {
        requireNumbers(a, "//", b);
        requireDivisor(b);
        if (a instanceof Long x && b instanceof Long y && y != -1) {
            return Math.floorDiv(x, y);
        }
        if (areIntegers(a, b)) {
            return narrow(floor(big(a), big(b))[0]);
        }
        return floor(real(a), real(b))[0];
    }

    static Object modulo(Render render, Object a, Object b) {
        if (Values.string(a) != null) {
            return Format.percent(render, a, b);
        }
        requireNumbers(a, "%", b);
        requireDivisor(b);
        if (a instanceof Long x && b instanceof Long y) {
            return Math.floorMod(x, y);
        }
        if (areIntegers(a, b)) {
            return narrow(floor(big(a), big(b))[1]);
        }
        return floor(real(a), real(b))[1];
    }

    private static BigInteger[] floor(BigInteger a, BigInteger b) {
        BigInteger[] parts = a.divideAndRemainder(b);
        return parts[1].signum() != 0 && parts[1].signum() != b.signum()
                ? new BigInteger[] {parts[0].subtract(BigInteger.ONE), parts[1].add(b)} : parts;
    }

    /** Quotient and remainder as {@code float.__divmod__} of CPython computes them. */
    private static double[] floor(double a, double b) {
        double rest = a % b;
        double quotient = (a - rest) / b;
        if (rest != 0) {
            if (b < 0 != rest < 0) {
                rest += b;
                quotient -= 1;
            }
        } else {
            rest = Math.copySign(0.0, b);
        }
        if (quotient == 0) {
            return new double[] {Math.copySign(0.0, a / b), rest};
        }
        double floored = Math.floor(quotient);
        return new double[] {quotient - floored > 0.5 ? floored + 1 : floored, rest};
    }

    static Object power(Object a, Object b) {
        requireNumbers(a, "**", b);
        if (areIntegers(a, b) && big(b).signum() >= 0) {
            BigInteger base = big(a);
            BigInteger exponent = big(b);
            if (base.bitLength() > 1 && exponent.multiply(BigInteger.valueOf(base.bitLength() - 1)).bitLength() > 13) {
                throw Values.error("an int of more than " + MOST_BITS + " bits is not supported");
            }
            int times = exponent.bitLength() < 31 ? exponent.intValue() : 2 + exponent.mod(BigInteger.TWO).intValue();
            return narrow(base.pow(base.bitLength() > 1 ? times : Math.min(times, 2 + (times & 1))));
        }
        double base = real(a);
        double exponent = real(b);
        double power = Math.pow(base, exponent);
        if (base == 0 && exponent < 0) {
            throw Values.error("zero cannot be raised to a negative power");
        }
        if (base < 0 && exponent != Math.rint(exponent)) {
            throw Values.error("a complex number is not supported");
        }
        if (Double.isInfinite(power) && Double.isFinite(base) && Double.isFinite(exponent)) {
            throw Values.error("the power is too large for a float");
        }
        return base == 1 || exponent == 0 ? (Object) 1.0 : power;
    }

    static Object negate(Object value) {
        if (value instanceof Double d) {
            return -d;
        }
        requireNumber(value, "-");
        return narrow(big(value).negate());
    }

    static Object plus(Object value) {
        requireNumber(value, "+");
        return value instanceof Boolean ? narrow(big(value)) : value;
    }

    private static void requireNumber(Object value, String operator) {
        Values.requireDefined(value);
        if (!Values.isNumber(value)) {
            throw Values.error("cannot apply '" + operator + "' to " + Values.type(value));
        }
    }
}
