// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.chat.Arguments.Signature;
import io.penstock.chat.Values.Function;
import io.penstock.chat.Values.Namespace;
import io.penstock.chat.Values.Range;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatterBuilder;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** The functions that a template can call: those of Jinja and the two of transformers. */
final class Functions {

    /** What Jinja has and this does not. */
    static final Set<String> UNSUPPORTED = Set.of("lipsum", "cycler", "joiner", "self", "super");

    private static final int MOST_ITEMS = 100_000;
    private static final Signature RANGE = Signature.of("start [stop] [step]");
    private static final Signature MESSAGE = Signature.of("message");
    private static final Signature FORMAT = Signature.of("format");

    private static final Map<String, Function> FUNCTIONS = Map.of(
            "range", (render, arguments) -> range(arguments.bind("range", RANGE)),
            "dict", (render, arguments) -> dict(arguments),
            "namespace", (render, arguments) -> namespace(arguments),
            "raise_exception", (render, arguments) -> {
                throw Values.error("the template refuses the conversation: "
                        + Values.text(arguments.bind("raise_exception", MESSAGE)[0]));
            },
            "strftime_now", (render, arguments) -> date(render.now,
                    StringMethods.string(arguments.bind("strftime_now", FORMAT)[0])));

    private Functions() {
    }

    /** The function of a name; {@link Values#MISSING} if there is none. */
    static Object find(String name) {
        Function function = FUNCTIONS.get(name);
        return function == null ? Values.MISSING : function;
    }

    private static Object range(Object[] a) {
        boolean isOne = a[1] == Values.MISSING;
        long start = isOne ? 0 : StringMethods.whole(a[0], 0);
        long stop = StringMethods.whole(isOne ? a[0] : a[1], 0);
        long step = StringMethods.whole(a[2], 1);
        if (step == 0) {
            throw Values.error("range: the step is 0");
        }
        long size = Math.max(0, Math.ceilDiv(stop - start, step));
        if (size > MOST_ITEMS) {
            throw Values.error("range: found " + size + " items, expected at most " + MOST_ITEMS);
        }
        return new Range(start, stop, step, (int) size);
    }

    private static Map<Object, Object> dict(Arguments arguments) {
        Map<Object, Object> dict = Values.dict();
        Object[] given = arguments.positional();
        if (given.length > 1) {
            throw Values.error("dict: expected one dict or sequence of pairs at most");
        }
        if (given.length == 1 && given[0] instanceof Map<?, ?> map) {
            dict.putAll(map);
        } else if (given.length == 1) {
            Values.iterator(given[0]).forEachRemaining(pair -> {
                Iterator<?> two = Values.iterator(pair);
                Object key = two.hasNext() ? two.next() : Values.MISSING;
                Object value = two.hasNext() ? two.next() : Values.MISSING;
                if (value == Values.MISSING || two.hasNext()) {
                    throw Values.error("dict: expected pairs");
                }
                Values.put(dict, key, value);
            });
        }
        dict.putAll(arguments.named());
        return dict;
    }

    private static Namespace namespace(Arguments arguments) {
        Map<String, Object> attributes = new LinkedHashMap<>();
        dict(arguments).forEach((key, value) -> attributes.put(StringMethods.string(key), value));
        return new Namespace(attributes);
    }

    /** Formats a date as {@code strftime} does in English. */
    private static String date(LocalDateTime now, String format) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < format.length(); i++) {
            char c = format.charAt(i);
            if (c != '%') {
                out.append(c);
                continue;
            }
            boolean isShort = format.startsWith("-", i + 1);
            i += isShort ? 2 : 1;
            String field = i < format.length() ? field(now, format.charAt(i)) : null;
            if (field == null) {
                throw Values.error("strftime_now: the format '" + format + "' is not supported");
            }
            out.append(isShort && field.length() > 1 && (field.startsWith("0") || field.startsWith(" "))
                    ? field.replaceFirst("^[0 ]+(?=.)", "") : field);
        }
        return out.toString();
    }

    private static String field(LocalDateTime now, char field) {
        String pattern = switch (field) {
            case 'Y' -> "uuuu";
            case 'y' -> "uu";
            case 'm' -> "MM";
            case 'd' -> "dd";
            case 'e' -> "ppd";
            case 'H' -> "HH";
            case 'I' -> "hh";
            case 'M' -> "mm";
            case 'S' -> "ss";
            case 'f' -> "SSSSSS";
            case 'p' -> "a";
            case 'b', 'h' -> "MMM";
            case 'B' -> "MMMM";
            case 'a' -> "EEE";
            case 'A' -> "EEEE";
            case 'j' -> "DDD";
            case 'F' -> "uuuu-MM-dd";
            case 'T', 'X' -> "HH:mm:ss";
            case 'R' -> "HH:mm";
            case 'D', 'x' -> "MM/dd/uu";
            case 'c' -> "EEE MMM ppd HH:mm:ss uuuu";
            case '%' -> "'%'";
            default -> null;
        };
        return pattern == null ? null
                : new DateTimeFormatterBuilder().appendPattern(pattern).toFormatter(Locale.ENGLISH).format(now);
    }
}
