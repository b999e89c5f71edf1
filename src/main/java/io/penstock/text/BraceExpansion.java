// SPDX-License-Identifier: Apache-2.0
package io.penstock.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Expands shell braces, such as {@code train-{000000..000099}.tar}, as the library {@code braceexpand} does, which
 * WebDataset uses: sequences {@code {a,b}}, ranges of numbers (padded if one begins with a zero) and of letters, steps,
 * nesting, and a backslash before a literal character. Braces with neither comma nor range stay.
 */
public final class BraceExpansion {

    /** The most names that a pattern may stand for. */
    public static final int MAX_NAMES = 1_000_000;
    private static final int MAX_DEPTH = 32;
    private static final long MAX_CHARS = 1L << 28;

    private static final int MAX_DIGITS = 18;
    private static final Pattern ESCAPE = Pattern.compile("(?s)\\\\(.)");
    private static final Pattern NUMBERS = Pattern.compile("(-?[0-9]+)\\.\\.(-?[0-9]+)(?:\\.\\.-?([0-9]+))?");
    private static final Pattern LETTERS = Pattern.compile("([A-Za-z])\\.\\.([A-Za-z])(?:\\.\\.-?([0-9]+))?");
    private static final String ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    private final String whole;

    private BraceExpansion(String whole) {
        this.whole = whole;
    }

    /**
     * Returns the names of a pattern, in order; the pattern itself if there is nothing to expand.
     *
     * @throws IllegalArgumentException if braces are not balanced, or it is more than {@value #MAX_NAMES} names
     */
    public static List<String> expand(String pattern) {
        return new BraceExpansion(pattern).pattern(pattern, 0).stream()
                .map(name -> ESCAPE.matcher(name).replaceAll("$1")).toList();
    }

    private List<String> pattern(String text, int depth) {
        if (depth > MAX_DEPTH) {
            throw new IllegalArgumentException(whole + ": braces nested more than " + MAX_DEPTH + " deep");
        }
        List<String> names = List.of("");
        int start = 0;
        int open = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\') {
                i++;
            } else if (c == '{') {
                if (open == 0) {
                    names = times(names, List.of(text.substring(start, i)));
                    start = i;
                }
                open++;
            } else if (c == '}') {
                open--;
                if (open == 0) {
                    names = times(names, expression(text.substring(start + 1, i), depth));
                    start = i + 1;
                }
            }
            if (open < 0) {
                throw unbalanced();
            }
        }
        if (open != 0) {
            throw unbalanced();
        }
        return times(names, List.of(text.substring(start)));
    }

    private List<String> expression(String text, int depth) {
        Matcher numbers = NUMBERS.matcher(text);
        if (numbers.matches()) {
            return numbers(numbers.group(1), numbers.group(2), step(numbers.group(3)));
        }
        Matcher letters = LETTERS.matcher(text);
        if (letters.matches()) {
            return letters(letters.group(1).charAt(0), letters.group(2).charAt(0), step(letters.group(3)));
        }
        List<String> names = sequence(text, depth);
        return names != null ? names : times(times(List.of("{"), pattern(text, depth + 1)), List.of("}"));
    }

    private @Nullable List<String> sequence(String text, int depth) {
        List<String> names = new ArrayList<>();
        int start = 0;
        int open = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\') {
                i++;
            } else if (c == '{') {
                open++;
            } else if (c == '}') {
                open--;
            } else if (c == ',' && open == 0) {
                names.addAll(pattern(text.substring(start, i), depth + 1));
                start = i + 1;
            }
            if (names.size() > MAX_NAMES) {
                throw tooMany();
            }
        }
        if (start == 0) {
            return null;
        }
        names.addAll(pattern(text.substring(start), depth + 1));
        return names;
    }

    private long step(@Nullable String text) {
        return text == null ? 1 : Math.max(1, number(text));
    }

    private long number(String text) {
        if (text.length() > MAX_DIGITS) {
            throw new IllegalArgumentException(whole + ": a number of more than " + MAX_DIGITS + " digits");
        }
        return Long.parseLong(text);
    }

    private List<String> numbers(String left, String right, long step) {
        long start = number(left);
        long end = number(right);
        if (Math.abs(end - start) / step >= MAX_NAMES) {
            throw tooMany();
        }
        int width = isPadded(left) || isPadded(right) ? Math.max(left.length(), right.length()) : 1;
        return range(start, end, step, i -> String.format(Locale.ROOT, "%0" + width + "d", i));
    }

    private static boolean isPadded(String number) {
        return (number.startsWith("0") || number.startsWith("-0")) && !number.equals("0") && !number.equals("-0");
    }

    private static List<String> letters(char left, char right, long step) {
        int start = ALPHABET.indexOf(left);
        int end = ALPHABET.indexOf(right);
        return range(start, end, step, i -> ALPHABET.substring((int) i, (int) i + 1));
    }

    private static List<String> range(long start, long end, long step, LongFunction<String> name) {
        return LongStream.rangeClosed(0, Math.abs(end - start) / step)
                .mapToObj(i -> name.apply(start < end ? start + i * step : start - i * step)).toList();
    }

    /** Returns all concatenations of a left and a right name. */
    private List<String> times(List<String> left, List<String> right) {
        if (right.size() == 1 && right.getFirst().isEmpty()) {
            return left;
        }
        long count = (long) left.size() * right.size();
        long chars = left.stream().mapToLong(String::length).sum() * right.size()
                + right.stream().mapToLong(String::length).sum() * left.size();
        if (count > MAX_NAMES || chars > MAX_CHARS) {
            throw tooMany();
        }
        List<String> names = new ArrayList<>((int) count);
        for (String one : left) {
            for (String other : right) {
                names.add(one + other);
            }
        }
        return names;
    }

    private IllegalArgumentException unbalanced() {
        return new IllegalArgumentException(whole + ": braces that are not balanced");
    }

    private IllegalArgumentException tooMany() {
        return new IllegalArgumentException(whole + ": expands to more than " + MAX_NAMES + " names");
    }
}
