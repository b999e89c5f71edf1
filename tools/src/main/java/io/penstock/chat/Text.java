// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntPredicate;

/** Python's {@code str}: white space, case and classes of characters, indices that count code points. */
final class Text {

    private Text() {
    }

    /** White space as {@code str.isspace} has it; all of it is in the basic plane. */
    static boolean isSpace(int c) {
        return c <= ' ' ? c == ' ' || c >= '\t' && c <= '\r' || c >= 0x1C
                : c >= 0x85 && (c == 0x85 || c == 0xA0 || c >= 0x1680 && isWideSpace(c));
    }

    private static boolean isWideSpace(int c) {
        return c == 0x1680 || c >= 0x2000 && c <= 0x200A || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F
                || c == 0x3000;
    }

    static boolean isBlank(String text, int from, int to) {
        int i = from;
        while (i < to && isSpace(text.charAt(i))) {
            i++;
        }
        return i == to;
    }

    static String stripEnd(String text) {
        return strip(text, null, false, true);
    }

    /** Strips the characters of a set, or white space, from one side or both. */
    static String strip(String text, String set, boolean atStart, boolean atEnd) {
        int from = 0;
        int to = text.length();
        while (atStart && from < to && isStripped(text.codePointAt(from), set)) {
            from += Character.charCount(text.codePointAt(from));
        }
        while (atEnd && to > from && isStripped(text.codePointBefore(to), set)) {
            to -= Character.charCount(text.codePointBefore(to));
        }
        return text.substring(from, to);
    }

    private static boolean isStripped(int c, String set) {
        return set == null ? isSpace(c) : set.indexOf(c) >= 0;
    }

    static int length(String text) {
        return text.codePointCount(0, text.length());
    }

    /** Whether indices of chars and of code points are the same. */
    private static boolean isPlain(String text) {
        return length(text) == text.length();
    }

    /** The char index of a code point's index, from 0 to the length. */
    static int charIndex(String text, int codePoints) {
        return isPlain(text) ? codePoints : text.offsetByCodePoints(0, codePoints);
    }

    /** The characters, each a string. */
    static List<Object> characters(String text) {
        List<Object> characters = new ArrayList<>(text.length());
        text.codePoints().forEach(c -> characters.add(Character.toString(c)));
        return characters;
    }

    /** Compares by code points. */
    static int compare(String a, String b) {
        int common = Math.min(a.length(), b.length());
        for (int i = 0; i < common; i++) {
            char x = a.charAt(i);
            char y = b.charAt(i);
            if (x != y) {
                boolean isXHalf = Character.isSurrogate(x);
                return isXHalf != Character.isSurrogate(y) ? isXHalf ? 1 : -1 : Character.compare(x, y);
            }
        }
        return Integer.compare(a.length(), b.length());
    }

    static String lower(String text) {
        return text.toLowerCase(Locale.ROOT);
    }

    static String upper(String text) {
        return text.toUpperCase(Locale.ROOT);
    }

    /** The first character in title case, the others in lower case. */
    static String capitalize(String text) {
        return text.isEmpty() ? "" : title(text.codePointAt(0)) + lower(text).substring(lower(first(text)).length());
    }

    /** The first character in upper case, the others in lower case. */
    static String upperFirst(String text) {
        return text.isEmpty() ? "" : upper(first(text)) + lower(rest(text));
    }

    static String first(String text) {
        return text.substring(0, text.offsetByCodePoints(0, 1));
    }

    private static String rest(String text) {
        return text.substring(text.offsetByCodePoints(0, 1));
    }

    private static String title(int c) {
        String upper = upper(Character.toString(c));
        int simple = Character.toTitleCase(c);
        if (simple != c || length(upper) == 1 || c == 0x149) {
            return c == 0x149 ? upper : Character.toString(simple);
        }
        return first(upper) + lower(rest(upper));
    }

    /** {@code str.title}: each run of letters with case begins in title case and goes on in lower case. */
    static String title(String text) {
        // Lower case depends on what is around a character, but its length does not.
        String lower = lower(text);
        StringBuilder out = new StringBuilder();
        boolean isWithin = false;
        int at = 0;
        for (int i = 0; i < text.length();) {
            int c = text.codePointAt(i);
            i += Character.charCount(c);
            int end = at + lower(Character.toString(c)).length();
            out.append(isWithin ? lower.substring(at, end) : title(c));
            at = end;
            isWithin = isCased(c);
        }
        return out.toString();
    }

    /** {@code title} of Jinja, where words begin behind blanks, hyphens and opening brackets. */
    static String titleWords(String text) {
        StringBuilder out = new StringBuilder();
        int start = 0;
        for (int i = 0; i <= text.length(); i++) {
            boolean isSeparator = i < text.length()
                    && (isSpace(text.charAt(i)) || "-({[<".indexOf(text.charAt(i)) >= 0);
            if (i == text.length() || isSeparator) {
                out.append(upperFirst(text.substring(start, i)));
                start = i + 1;
            }
            if (isSeparator) {
                out.append(text.charAt(i));
            }
        }
        return out.toString();
    }

    private static boolean isCased(int c) {
        return Character.isUpperCase(c) || Character.isLowerCase(c) || Character.isTitleCase(c);
    }

    /** Whether there is a character with case and all of them are upper case, or lower case. */
    static boolean isAllCase(String text, boolean upper) {
        IntPredicate other = upper ? c -> Character.isLowerCase(c) || Character.isTitleCase(c)
                : c -> Character.isUpperCase(c) || Character.isTitleCase(c);
        return text.codePoints().anyMatch(Text::isCased) && text.codePoints().noneMatch(other);
    }

    /** Whether there are characters and all of them are of a class. */
    static boolean isAll(String text, IntPredicate kind) {
        return !text.isEmpty() && text.codePoints().allMatch(kind);
    }

    /** Whether {@code repr} shows a character itself. */
    static boolean isPrintable(int c) {
        return c == ' ' || switch (Character.getType(c)) {
            case Character.CONTROL, Character.FORMAT, Character.SURROGATE, Character.PRIVATE_USE, Character.UNASSIGNED,
                    Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR, Character.SPACE_SEPARATOR -> false;
            default -> true;
        };
    }

    /** {@code str.splitlines}, with the line breaks or without. */
    static List<Object> lines(String text, boolean keepsEnds) {
        List<Object> lines = new ArrayList<>();
        int start = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c >= '\n' && c <= '\r' || c >= 0x1C && c <= 0x1E || c == 0x85 || c == 0x2028 || c == 0x2029) {
                int end = i;
                i += c == '\r' && text.startsWith("\n", i + 1) ? 1 : 0;
                lines.add(text.substring(start, keepsEnds ? i + 1 : end));
                start = i + 1;
            }
        }
        if (start < text.length()) {
            lines.add(text.substring(start));
        }
        return lines;
    }

    /** {@code str.split}: at white space if the separator is null; at most a number of cuts, from the left or right. */
    static List<Object> split(String text, String separator, long most, boolean fromRight) {
        List<Object> parts = new ArrayList<>();
        long cuts = most < 0 ? Long.MAX_VALUE : most;
        if (separator == null) {
            splitBlanks(text, cuts, fromRight, parts);
        } else if (!fromRight) {
            int from = 0;
            for (int i = text.indexOf(separator); i >= 0 && cuts-- > 0; i = text.indexOf(separator, from)) {
                parts.add(text.substring(from, i));
                from = i + separator.length();
            }
            parts.add(text.substring(from));
        } else {
            int to = text.length();
            for (int i = text.lastIndexOf(separator); i >= 0 && cuts-- > 0;
                    i = to < separator.length() ? -1 : text.lastIndexOf(separator, to - separator.length())) {
                parts.addFirst(text.substring(i + separator.length(), to));
                to = i;
            }
            parts.addFirst(text.substring(0, to));
        }
        return parts;
    }

    private static void splitBlanks(String text, long cuts, boolean fromRight, List<Object> parts) {
        String rest = strip(text, null, true, true);
        long left = cuts;
        while (!rest.isEmpty()) {
            int i = fromRight ? rest.length() - 1 : 0;
            while (i >= 0 && i < rest.length() && !isSpace(rest.charAt(i))) {
                i += fromRight ? -1 : 1;
            }
            if (left-- == 0 || i < 0 || i == rest.length()) {
                add(parts, left < 0 ? stripOuter(text, rest, fromRight) : rest, fromRight);
                return;
            }
            add(parts, fromRight ? rest.substring(i + 1) : rest.substring(0, i), fromRight);
            rest = fromRight ? stripEnd(rest.substring(0, i)) : strip(rest.substring(i), null, true, false);
        }
    }

    /** What is left when no cut is: with the blanks on its far side, which Python keeps. */
    private static String stripOuter(String text, String rest, boolean fromRight) {
        if (fromRight) {
            int start = strip(text, null, true, false).length();
            return text.substring(0, text.length() - start) + rest;
        }
        return rest + text.substring(stripEnd(text).length());
    }

    private static void add(List<Object> parts, String part, boolean fromRight) {
        if (fromRight) {
            parts.addFirst(part);
        } else {
            parts.add(part);
        }
    }

    /** {@code str.replace} of at most a number of occurrences; all if it is negative. */
    static String replace(String text, String old, String with, long most) {
        if (most < 0 && !old.isEmpty()) {
            return text.replace(old, with);
        }
        StringBuilder out = new StringBuilder();
        long left = most < 0 ? Long.MAX_VALUE : most;
        int from = 0;
        for (int i = text.indexOf(old); i >= 0 && left-- > 0; i = text.indexOf(old, i)) {
            out.append(text, from, i).append(with);
            from = i + old.length();
            if (old.isEmpty()) {
                if (i == text.length()) {
                    break;
                }
                i += Character.charCount(text.codePointAt(i));
            } else {
                i = from;
            }
        }
        return out.append(text, from, text.length()).toString();
    }

    /** {@code html.escape} as MarkupSafe has it. */
    static String escape(String text) {
        return text.replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;").replace("'", "&#39;")
                .replace("\"", "&#34;");
    }

    /** Appends a literal as {@code repr} writes it. */
    static void quote(String text, StringBuilder out) {
        char quote = text.indexOf('\'') >= 0 && text.indexOf('"') < 0 ? '"' : '\'';
        out.append(quote);
        for (int i = 0; i < text.length();) {
            int c = text.codePointAt(i);
            i += Character.charCount(c);
            switch (c) {
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (c == '\\' || c == quote) {
                        out.append('\\').append((char) c);
                    } else if (isPrintable(c)) {
                        out.appendCodePoint(c);
                    } else {
                        out.append(String.format(Locale.ROOT, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x"
                                : "\\U%08x", c));
                    }
                }
            }
        }
        out.append(quote);
    }

    /** A float as {@code repr} writes it: the shortest digits that give it back. */
    static String number(double value) {
        if (!Double.isFinite(value)) {
            return Double.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
        }
        if (value == 0) {
            return 1 / value < 0 ? "-0.0" : "0.0";
        }
        BigDecimal exact = new BigDecimal(Double.toString(Math.abs(value))).stripTrailingZeros();
        String digits = exact.unscaledValue().toString();
        if (digits.length() == 2) {
            // Java writes two digits at least, even if one would do.
            BigDecimal one = exact.round(new MathContext(1));
            if (one.doubleValue() == Math.abs(value)) {
                exact = one.stripTrailingZeros();
                digits = exact.unscaledValue().toString();
            }
        }
        int point = digits.length() - exact.scale();
        StringBuilder out = new StringBuilder(value < 0 ? "-" : "");
        if (point > 16 || point < -3) {
            out.append(digits.charAt(0));
            if (digits.length() > 1) {
                out.append('.').append(digits, 1, digits.length());
            }
            int exponent = point - 1;
            return out.append(exponent < 0 ? "e-" : "e+").append(Math.abs(exponent) < 10 ? "0" : "")
                    .append(Math.abs(exponent)).toString();
        }
        if (point <= 0) {
            return out.append("0.").repeat("0", -point).append(digits).toString();
        }
        if (point >= digits.length()) {
            return out.append(digits).repeat("0", point - digits.length()).append(".0").toString();
        }
        return out.append(digits, 0, point).append('.').append(digits, point, digits.length()).toString();
    }
}
