// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.chat.Arguments.Signature;
import io.penstock.chat.Values.Markup;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** The methods of Python's {@code str}. Those of a marked string mark what they give. */
final class StringMethods {

    /** A method of a string with its arguments, of which those that were not given are missing. */
    private interface Method {
        Object call(Render render, String text, Object[] arguments);
    }

    private record Known(Signature signature, Method method) {
    }

    private static final Map<String, Known> METHODS = Map.ofEntries(
            plain("lower", Text::lower), plain("upper", Text::upper), plain("capitalize", Text::capitalize),
            plain("title", Text::title),
            plain("islower", text -> Text.isAllCase(text, false)), plain("isupper", text -> Text.isAllCase(text, true)),
            plain("isspace", text -> Text.isAll(text, Text::isSpace)),
            plain("isdigit", text -> Text.isAll(text, StringMethods::isDigit)),
            plain("isalnum", text -> Text.isAll(text, StringMethods::isAlphanumeric)),
            plain("isascii", text -> text.chars().allMatch(c -> c < 0x80)),
            plain("isprintable", text -> text.codePoints().allMatch(Text::isPrintable)),
            known("strip", "[chars]", (render, text, a) -> Text.strip(text, orNull(a[0]), true, true)),
            known("lstrip", "[chars]", (render, text, a) -> Text.strip(text, orNull(a[0]), true, false)),
            known("rstrip", "[chars]", (render, text, a) -> Text.strip(text, orNull(a[0]), false, true)),
            known("split", "[sep] [maxsplit]", (render, text, a) -> split(text, a, false)),
            known("rsplit", "[sep] [maxsplit]", (render, text, a) -> split(text, a, true)),
            known("splitlines", "[keepends]", (render, text, a) -> Text.lines(text, a[0] != Values.MISSING
                    && Values.isTrue(a[0]))),
            known("partition", "sep", (render, text, a) -> partition(text, separator(a[0]), false)),
            known("rpartition", "sep", (render, text, a) -> partition(text, separator(a[0]), true)),
            known("startswith", "prefix [start] [end]", (render, text, a) -> begins(text, a, String::startsWith)),
            known("endswith", "suffix [start] [end]", (render, text, a) -> begins(text, a, String::endsWith)),
            known("removeprefix", "prefix", (render, text, a) -> text.startsWith(string(a[0]))
                    ? text.substring(string(a[0]).length()) : text),
            known("removesuffix", "suffix", (render, text, a) -> text.endsWith(string(a[0]))
                    ? text.substring(0, text.length() - string(a[0]).length()) : text),
            known("replace", "old new [count]", StringMethods::replace),
            known("find", "sub [start] [end]", (render, text, a) -> find(text, a, false, false)),
            known("rfind", "sub [start] [end]", (render, text, a) -> find(text, a, true, false)),
            known("index", "sub [start] [end]", (render, text, a) -> find(text, a, false, true)),
            known("rindex", "sub [start] [end]", (render, text, a) -> find(text, a, true, true)),
            known("count", "sub [start] [end]", (render, text, a) -> part(text, a) == null ? 0L
                    : count(part(text, a), string(a[0]))),
            known("join", "iterable", (render, text, a) -> join(render, text, a[0])),
            known("ljust", "width [fill]", (render, text, a) -> padded(render, text, a, "ljust")),
            known("rjust", "width [fill]", (render, text, a) -> padded(render, text, a, "rjust")),
            known("center", "width [fill]", (render, text, a) -> padded(render, text, a, "center")),
            known("zfill", "width", StringMethods::zeros));

    /** The methods of a marked string that escape their second argument, unless it is marked. */
    private static final Set<String> ESCAPING = Set.of("replace", "ljust", "rjust", "center");

    /** The methods that there are; {@code format} takes any arguments. */
    static final Set<String> NAMES;

    static {
        Set<String> names = new HashSet<>(METHODS.keySet());
        names.add("format");
        NAMES = Set.copyOf(names);
    }

    private StringMethods() {
    }

    private static Map.Entry<String, Known> known(String name, String parameters, Method method) {
        return Map.entry(name, new Known(Signature.of(parameters), method));
    }

    private static Map.Entry<String, Known> plain(String name, Function<String, Object> function) {
        return known(name, "", (render, text, arguments) -> function.apply(text));
    }

    /** Calls a method of a string or a marked string. */
    static Object call(Render render, Object of, String name, Arguments arguments) {
        String text = Values.string(of);
        render.read(text.length());
        if (name.equals("format")) {
            if (of instanceof Markup) {
                throw Values.error("'format' of a string marked safe is not supported");
            }
            return Format.braces(render, text, arguments);
        }
        Known known = METHODS.get(name);
        Object[] bound = arguments.bind(name, known.signature());
        for (Object argument : bound) {
            render.search(text.length(), Values.size(argument));
        }
        if (!(of instanceof Markup)) {
            return known.method().call(render, text, bound);
        }
        Object[] escaped = bound.clone();
        if (ESCAPING.contains(name) && bound[1] != Values.MISSING) {
            escaped[1] = bound[1] instanceof Markup ? bound[1] : Text.escape(string(bound[1]));
        } else if (name.equals("join")) {
            List<Object> items = new ArrayList<>();
            Values.iterator(bound[0]).forEachRemaining(item -> items.add(item instanceof Markup markup ? markup.text()
                    : Text.escape(Values.text(item))));
            escaped[0] = items;
        }
        return marked(known.method().call(render, text, escaped));
    }

    private static Object marked(Object value) {
        return switch (value) {
            case String text -> new Markup(text);
            case Tuple tuple -> new Tuple(tuple.stream().map(StringMethods::marked).toArray());
            case List<?> list -> new ArrayList<>(list.stream().map(StringMethods::marked).toList());
            default -> value;
        };
    }

    private static boolean isDigit(int c) {
        return Character.isDigit(c) || "\u00b2\u00b3\u00b9".indexOf(c) >= 0 || c >= 0x2070 && c <= 0x2079 && c != 0x2071
                && c != 0x2072 && c != 0x2073 || c >= 0x2080 && c <= 0x2089 || c >= 0x2460 && c <= 0x2468;
    }

    private static boolean isAlphanumeric(int c) {
        if (c >= 0x80 && !Character.isLetterOrDigit(c)) {
            int type = Character.getType(c);
            return type == Character.LETTER_NUMBER || type == Character.OTHER_NUMBER;
        }
        return Character.isLetterOrDigit(c);
    }

    /** A string argument. */
    static String string(Object value) {
        String text = Values.string(value);
        if (text == null) {
            Values.requireDefined(value == Values.MISSING ? null : value);
            throw Values.error("expected a string, found " + Values.type(value));
        }
        return text;
    }

    private static String orNull(Object value) {
        return value == Values.MISSING || value == null ? null : string(value);
    }

    private static String separator(Object value) {
        String separator = orNull(value);
        if (separator != null && separator.isEmpty()) {
            throw Values.error("the separator is empty");
        }
        if (separator == null && value == null) {
            throw Values.error("expected a string, found None");
        }
        return separator;
    }

    /** An int argument within the range of int. */
    static int whole(Object value, int absent) {
        if (value == Values.MISSING) {
            return absent;
        }
        Values.requireDefined(value);
        if (!Values.isInteger(value)) {
            throw Values.error("expected an int, found " + Values.type(value));
        }
        return Arithmetic.big(value).bitLength() < 31 ? Arithmetic.big(value).intValue()
                : Arithmetic.big(value).signum() * Integer.MAX_VALUE;
    }

    private static Object split(String text, Object[] a, boolean fromRight) {
        String separator = a[0] == null ? null : a[0] == Values.MISSING ? null : separator(a[0]);
        return Text.split(text, separator, whole(a[1], -1), fromRight);
    }

    private static Object partition(String text, String separator, boolean last) {
        int at = last ? text.lastIndexOf(separator) : text.indexOf(separator);
        if (at < 0) {
            return last ? new Tuple("", "", text) : new Tuple(text, "", "");
        }
        return new Tuple(text.substring(0, at), separator, text.substring(at + separator.length()));
    }

    /** The part of a text that the arguments start and end name; null if it would end before it begins. */
    private static String part(String text, Object[] a) {
        if (a[1] == Values.MISSING && a[2] == Values.MISSING) {
            return text;
        }
        int length = Text.length(text);
        int from = start(a, length);
        int to = bound(a[2], length, length);
        boolean isBeyond = whole(a[1] == null ? Values.MISSING : a[1], 0) > length;
        return from > to || isBeyond ? null : text.substring(Text.charIndex(text, from), Text.charIndex(text, to));
    }

    private static int start(Object[] a, int length) {
        return bound(a[1], 0, length);
    }

    private static int bound(Object value, int absent, int length) {
        int index = value == null ? absent : whole(value, absent);
        return Math.clamp(index < 0 ? (long) index + length : index, 0, length);
    }

    private interface Ends {
        boolean test(String text, String part);
    }

    private static boolean begins(String text, Object[] a, Ends ends) {
        String part = part(text, a);
        if (a[0] instanceof Tuple any) {
            return part != null && any.stream().anyMatch(each -> ends.test(part, string(each)));
        }
        return string(a[0]) != null && part != null && ends.test(part, string(a[0]));
    }

    private static Object replace(Render render, String text, Object[] a) {
        String old = string(a[0]);
        String with = string(a[1]);
        long places = old.isEmpty() ? text.length() + 1L : text.length() / old.length();
        // Only what may be too large is counted.
        if (places * with.length() > render.mostChars) {
            places = count(text, old);
        }
        render.grow(places * with.length());
        return Text.replace(text, old, with, whole(a[2], -1));
    }

    private static Object find(String text, Object[] a, boolean last, boolean must) {
        String part = part(text, a);
        int at = part == null ? -1 : last ? part.lastIndexOf(string(a[0])) : part.indexOf(string(a[0]));
        if (at < 0 && must) {
            throw Values.error("the part is not in the string");
        }
        return at < 0 ? -1L : (long) Text.length(part.substring(0, at)) + start(a, Text.length(text));
    }

    private static long count(String text, String part) {
        if (part.isEmpty()) {
            return Text.length(text) + 1L;
        }
        long count = 0;
        for (int i = text.indexOf(part); i >= 0; i = text.indexOf(part, i + part.length())) {
            count++;
        }
        return count;
    }

    private static Object join(Render render, String separator, Object items) {
        StringBuilder joined = new StringBuilder();
        boolean[] isLater = new boolean[1];
        Values.iterator(items).forEachRemaining(item -> {
            joined.append(isLater[0] ? separator : "").append(string(item));
            isLater[0] = true;
            render.step();
            render.bound(joined.length());
        });
        return joined.toString();
    }

    private static Object padded(Render render, String text, Object[] a, String how) {
        String fill = a[1] == Values.MISSING ? " " : string(a[1]);
        if (Text.length(fill) != 1) {
            throw Values.error("the fill must be one character");
        }
        int missing = Math.max(0, whole(a[0], 0) - Text.length(text));
        render.grow(missing);
        // CPython puts the odd one on the left if the width is odd.
        int left = switch (how) {
            case "ljust" -> 0;
            case "rjust" -> missing;
            default -> missing / 2 + (missing & whole(a[0], 0) & 1);
        };
        return fill.repeat(left) + text + fill.repeat(missing - left);
    }

    private static Object zeros(Render render, String text, Object[] a) {
        int missing = Math.max(0, whole(a[0], 0) - Text.length(text));
        render.grow(missing);
        boolean isSigned = text.startsWith("-") || text.startsWith("+");
        return isSigned ? text.charAt(0) + "0".repeat(missing) + text.substring(1) : "0".repeat(missing) + text;
    }
}
