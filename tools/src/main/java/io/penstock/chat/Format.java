// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.chat.Values.Markup;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;

/** Python's {@code "%s" % values} and {@code "{}".format(…)}, the part that templates use. */
final class Format {

    private static final int MOST_WIDTH = 1000;

    private Format() {
    }

    /** Formats by {@code %}: the conversions s, r, d, i, u, f, F, x, X, o, c and %, with flags, width and precision. */
    static Object percent(Render render, Object format, Object values) {
        if (format instanceof Markup) {
            throw Values.error("'%' of a string marked safe is not supported");
        }
        Percent percent = new Percent((String) format, values);
        String text = percent.text();
        render.grow(text.length());
        return text;
    }

    /** One formatting by {@code %}. */
    private static final class Percent {
        private final String format;
        private final Object values;
        private final StringBuilder out = new StringBuilder();
        private int used;
        private int pos;

        Percent(String format, Object values) {
            this.format = format;
            this.values = values;
        }

        String text() {
            while (pos < format.length()) {
                char c = format.charAt(pos++);
                if (c == '%') {
                    conversion();
                } else {
                    out.append(c);
                }
            }
            boolean mayBeLeft = values instanceof Map || values instanceof List && !(values instanceof Tuple)
                    || values instanceof Values.Undefined;
            if (used < (values instanceof Tuple tuple ? tuple.size() : 1) && !mayBeLeft) {
                throw Values.error("not all values were formatted");
            }
            return out.toString();
        }

        private Object next() {
            if (values instanceof Tuple tuple) {
                if (used >= tuple.size()) {
                    throw Values.error("there are fewer values than the format needs");
                }
                return tuple.get(used++);
            }
            if (used++ > 0) {
                throw Values.error("there are fewer values than the format needs");
            }
            return values;
        }

        private void conversion() {
            Object named = Values.MISSING;
            if (format.startsWith("(", pos)) {
                int end = format.indexOf(')', pos);
                if (end < 0 || !(values instanceof Map<?, ?> map)) {
                    throw Values.error("the format needs a dict");
                }
                String key = format.substring(pos + 1, end);
                if (!map.containsKey(key)) {
                    throw Values.error("the dict has no key '" + key + "'");
                }
                named = map.get(key);
                pos = end + 1;
            }
            int flags = pos;
            while (pos < format.length() && "-+ 0#".indexOf(format.charAt(pos)) >= 0) {
                pos++;
            }
            String flag = format.substring(flags, pos);
            int width = number();
            int precision = -1;
            if (format.startsWith(".", pos)) {
                pos++;
                precision = Math.max(0, number());
            }
            if (pos >= format.length()) {
                throw Values.error("the format is incomplete");
            }
            char kind = format.charAt(pos++);
            if (kind == '%') {
                out.append('%');
                return;
            }
            pad(converted(kind, named == Values.MISSING ? next() : named, flag, precision), kind, flag, width);
        }

        private int number() {
            int start = pos;
            while (pos < format.length() && format.charAt(pos) >= '0' && format.charAt(pos) <= '9') {
                pos++;
            }
            if (pos - start > 3) {
                throw Values.error("a width of more than " + MOST_WIDTH + " is not supported");
            }
            return pos == start ? -1 : Integer.parseInt(format.substring(start, pos));
        }

        private void pad(String text, char kind, String flag, int width) {
            int missing = Math.max(0, width - Text.length(text));
            boolean isNumber = "diuxXofF".indexOf(kind) >= 0;
            if (flag.contains("-")) {
                out.append(text).repeat(" ", missing);
            } else if (isNumber && flag.contains("0")) {
                int sign = !text.isEmpty() && "+- ".indexOf(text.charAt(0)) >= 0 ? 1 : 0;
                out.append(text, 0, sign).repeat("0", missing).append(text, sign, text.length());
            } else {
                out.repeat(" ", missing).append(text);
            }
        }
    }

    private static String converted(char kind, Object value, String flag, int precision) {
        if (flag.contains("#")) {
            throw Values.error("the flag '#' of a format is not supported");
        }
        return switch (kind) {
            case 's' -> cut(Values.text(value), precision);
            case 'r' -> cut(Values.representation(value), precision);
            case 'd', 'i', 'u' -> signed(digits(value, 10, true, precision), flag);
            case 'x' -> signed(digits(value, 16, false, precision), flag);
            case 'X' -> signed(Text.upper(digits(value, 16, false, precision)), flag);
            case 'o' -> signed(digits(value, 8, false, precision), flag);
            case 'f', 'F' -> signed(fixed(value, precision < 0 ? 6 : precision), flag);
            case 'c' -> character(value);
            default -> throw Values.error("the format '%" + kind + "' is not supported");
        };
    }

    private static String cut(String text, int precision) {
        return precision < 0 || precision >= Text.length(text) ? text
                : text.substring(0, Text.charIndex(text, precision));
    }

    private static String signed(String digits, String flag) {
        return digits.startsWith("-") ? digits : flag.contains("+") ? "+" + digits : flag.contains(" ") ? " " + digits
                : digits;
    }

    private static String digits(Object value, int radix, boolean takesFloats, int precision) {
        Values.requireDefined(value);
        Object whole = takesFloats && value instanceof Double ? Filters.truncated(value) : value;
        if (!Values.isInteger(whole)) {
            throw Values.error("the format needs a number, found " + Values.type(value));
        }
        String digits = Arithmetic.big(whole).abs().toString(radix);
        return (Arithmetic.big(whole).signum() < 0 ? "-" : "") + "0".repeat(Math.max(0, precision - digits.length()))
                + digits;
    }

    private static String character(Object value) {
        String text = Values.string(value);
        if (text != null && Text.length(text) == 1) {
            return text;
        }
        if (value instanceof Long code && code >= 0 && code <= Character.MAX_CODE_POINT
                && !(code >= Character.MIN_SURROGATE && code <= Character.MAX_SURROGATE)) {
            return Character.toString(code.intValue());
        }
        throw Values.error("'%c' needs a character");
    }

    /** A number with so many digits behind the point, rounded half to even from its exact value. */
    static String fixed(Object value, int digits) {
        Values.requireDefined(value);
        if (!Values.isNumber(value)) {
            throw Values.error("the format needs a number, found " + Values.type(value));
        }
        double real = Arithmetic.real(value);
        if (!Double.isFinite(real)) {
            return Text.number(real);
        }
        String text = new BigDecimal(real).abs().setScale(digits, RoundingMode.HALF_EVEN).toPlainString();
        return (real < 0 || 1 / real < 0 ? "-" : "") + text;
    }

    /** {@code str.format} with fields that are empty, a number, or a name, and {@code !s} or {@code !r}. */
    static String braces(Render render, String format, Arguments arguments) {
        StringBuilder out = new StringBuilder();
        int automatic = 0;
        for (int i = 0; i < format.length(); i++) {
            char c = format.charAt(i);
            if (c != '{' && c != '}') {
                out.append(c);
                continue;
            }
            if (i + 1 < format.length() && format.charAt(i + 1) == c) {
                out.append(c);
                i++;
                continue;
            }
            int end = c == '}' ? -1 : format.indexOf('}', i);
            if (end < 0) {
                throw Values.error("found a single '" + c + "' in the format");
            }
            String field = format.substring(i + 1, end);
            boolean isShown = field.endsWith("!r");
            String name = isShown || field.endsWith("!s") ? field.substring(0, field.length() - 2) : field;
            if (automatic < 0 && name.isEmpty() || automatic > 0 && isIndex(name)) {
                throw Values.error("the format has fields with and without numbers");
            }
            automatic = isIndex(name) ? -1 : name.isEmpty() ? automatic + 1 : automatic;
            Object value = field(arguments, name, automatic - 1);
            out.append(isShown ? Values.representation(value) : Values.text(value));
            i = end;
        }
        render.grow(out.length());
        return out.toString();
    }

    private static boolean isIndex(String name) {
        return !name.isEmpty() && name.chars().allMatch(c -> c >= '0' && c <= '9');
    }

    private static Object field(Arguments arguments, String name, int automatic) {
        if (name.isEmpty() || isIndex(name)) {
            int index = name.isEmpty() ? automatic : name.length() > 6 ? Integer.MAX_VALUE : Integer.parseInt(name);
            if (index >= arguments.positional().length) {
                throw Values.error("there are fewer values than the format needs");
            }
            return arguments.positional()[index];
        }
        if (!name.chars().allMatch(c -> Character.isLetterOrDigit(c) || c == '_')) {
            throw Values.error("the field '{" + name + "}' of a format is not supported");
        }
        if (!arguments.named().containsKey(name)) {
            throw Values.error("the format needs the argument '" + name + "'");
        }
        return arguments.named().get(name);
    }
}
