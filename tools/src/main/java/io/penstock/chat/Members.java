// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.chat.Values.Function;
import io.penstock.chat.Values.Markup;
import io.penstock.chat.Values.Namespace;
import io.penstock.chat.Values.Undefined;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * {@code a.name}, {@code a[key]} and {@code a[from:to]}, as the sandboxed environment of Jinja looks them up: a member
 * with a dot is an attribute, else an item; in brackets an item, else an attribute. What would change a list or dict is
 * undefined.
 */
final class Members {

    private static final Set<String> DICT_METHODS = Set.of("get", "items", "keys", "values", "copy");
    private static final Set<String> DICT_CHANGES = Set.of("clear", "pop", "popitem", "setdefault", "update");
    private static final Set<String> LIST_METHODS = Set.of("index", "count", "copy");
    private static final Set<String> LIST_CHANGES = Set.of("append", "clear", "pop", "reverse", "insert", "sort",
            "extend", "remove");
    /** What every object of Python has. */
    private static final Set<String> INTERNAL = Set.of("__class__", "__doc__", "__init__", "__dict__", "__module__");
    /** Attributes of Python's types that are not supported. */
    private static final Set<String> OTHER = Set.of("casefold", "encode", "expandtabs", "format_map", "maketrans",
            "translate", "isidentifier", "swapcase", "fromkeys", "real", "imag", "numerator", "denominator",
            "conjugate", "bit_length", "bit_count", "to_bytes", "from_bytes", "as_integer_ratio", "is_integer", "hex",
            "fromhex", "start", "stop", "step", "mapping", "isdisjoint", "send", "throw", "close", "gi_frame",
            "catch_kwargs", "catch_varargs", "arguments", "isalpha", "isnumeric", "isdecimal", "istitle");

    /** A method of a value that is not called yet. */
    record Method(Object of, String name) implements Function {
        @Override
        public Object call(Render render, Arguments arguments) {
            return invoke(render, of, name, arguments);
        }
    }

    private Members() {
    }

    /** Whether no value has a method of a name, although Python's have: a template that calls it is refused. */
    static boolean isUnsupportedMethod(String name) {
        return OTHER.contains(name);
    }

    static boolean isAttributeOfDict(String name) {
        return DICT_METHODS.contains(name) || DICT_CHANGES.contains(name) || INTERNAL.contains(name);
    }

    private static Undefined undefined(Object of, Object name) {
        return new Undefined(Values.type(of) + " has no member "
                + (name instanceof String text ? "'" + text + "'" : Values.representation(name)));
    }

    private static Undefined unsafe(Object of, String name) {
        return new Undefined("'" + name + "' of " + Values.type(of) + " is not allowed in a template");
    }

    /** {@code of.name}. */
    static Object attribute(Object of, String name) {
        if (INTERNAL.contains(name)) {
            return unsafe(of, name);
        }
        if (of instanceof Map<?, ?> map) {
            if (DICT_METHODS.contains(name)) {
                return new Method(of, name);
            }
            if (DICT_CHANGES.contains(name)) {
                return unsafe(of, name);
            }
            Object value = Values.get(map, name);
            return value == Values.MISSING ? undefined(of, name) : value;
        }
        Object value = own(of, name);
        return value == Values.MISSING ? undefined(of, name) : value;
    }

    /** An attribute that is no item of a dict; {@link Values#MISSING} if there is none. */
    private static Object own(Object of, String name) {
        switch (of) {
            case Undefined undefined -> throw Values.error(undefined.problem());
            case Namespace namespace -> {
                return namespace.attributes().getOrDefault(name, Values.MISSING);
            }
            case Loop loop -> {
                return loop.attribute(name);
            }
            case Map<?, ?> map when DICT_METHODS.contains(name) -> {
                return new Method(of, name);
            }
            case Map<?, ?> map when DICT_CHANGES.contains(name) -> {
                return unsafe(of, name);
            }
            case List<?> list when LIST_METHODS.contains(name) && !(name.equals("copy") && !Values.isList(of)) -> {
                return new Method(of, name);
            }
            case List<?> list when Values.isList(of) && LIST_CHANGES.contains(name) -> {
                return unsafe(of, name);
            }
            case Macro macro when name.equals("name") -> {
                return macro.body().name();
            }
            case null, default -> { }
        }
        if (Values.string(of) != null && StringMethods.NAMES.contains(name)) {
            return new Method(of, name);
        }
        if (OTHER.contains(name) && !(of instanceof Map || of == null)) {
            throw Values.error("'" + name + "' of " + Values.type(of) + " is not supported");
        }
        return Values.MISSING;
    }

    /** {@code of[key]}. */
    static Object item(Object of, Object key) {
        Values.requireDefined(of);
        Object value = ownItem(of, key);
        if (value == Values.MISSING && Values.string(key) != null) {
            value = own(of, Values.string(key));
        }
        return value == Values.MISSING ? undefined(of, key) : value;
    }

    private static Object ownItem(Object of, Object key) {
        if (of instanceof Map<?, ?> map) {
            if (Values.isList(key) || key instanceof Map) {
                return Values.MISSING;
            }
            return Values.get(map, Values.key(key));
        }
        if (!(key instanceof Long || key instanceof Boolean)) {
            return Values.MISSING;
        }
        long index = Arithmetic.big(key).longValue();
        String text = Values.string(of);
        if (text != null) {
            int length = Text.length(text);
            long from = index < 0 ? index + length : index;
            if (from < 0 || from >= length) {
                return Values.MISSING;
            }
            String character = Character.toString(text.codePointAt(Text.charIndex(text, (int) from)));
            return of instanceof Markup ? new Markup(character) : character;
        }
        if (of instanceof List<?> list) {
            long from = index < 0 ? index + list.size() : index;
            return from < 0 || from >= list.size() ? Values.MISSING : list.get((int) from);
        }
        return Values.MISSING;
    }

    /** {@code of[from:to:by]}, where null is what is not given. */
    static Object slice(Render render, Object of, Object from, Object to, Object by) {
        Values.requireDefined(of);
        String text = Values.string(of);
        if (text == null && !(of instanceof List)) {
            throw Values.error("cannot slice " + Values.type(of));
        }
        int length = text != null ? Text.length(text) : ((List<?>) of).size();
        long step = by == null ? 1 : index(by);
        if (step == 0) {
            throw Values.error("a slice cannot have the step 0");
        }
        long first = bound(from, step > 0 ? 0 : length - 1, length, step);
        long end = bound(to, step > 0 ? length : -1, length, step);
        render.read(length);
        if (text != null) {
            String cut = step == 1 ? first >= end ? "" : text.substring(Text.charIndex(text, (int) first),
                    Text.charIndex(text, (int) end)) : picked(text, first, end, step);
            return of instanceof Markup ? new Markup(cut) : cut;
        }
        if (of instanceof Values.Range range) {
            return range.slice(first, end, step);
        }
        List<Object> items = new ArrayList<>();
        for (long i = first; step > 0 ? i < end : i > end; i += step) {
            items.add(((List<?>) of).get((int) i));
        }
        return of instanceof Tuple ? new Tuple(items.toArray()) : items;
    }

    private static String picked(String text, long first, long end, long step) {
        int[] codePoints = text.codePoints().toArray();
        StringBuilder out = new StringBuilder();
        for (long i = first; step > 0 ? i < end : i > end; i += step) {
            out.appendCodePoint(codePoints[(int) i]);
        }
        return out.toString();
    }

    private static long index(Object value) {
        if (!Values.isInteger(value)) {
            throw Values.error("a slice needs ints, found " + Values.type(value));
        }
        BigInteger big = Arithmetic.big(value);
        return big.bitLength() < 40 ? big.longValue() : (1L << 40) * big.signum();
    }

    private static long bound(Object value, long absent, int length, long step) {
        if (value == null) {
            return absent;
        }
        long index = index(value);
        long from = index < 0 ? index + length : index;
        return Math.clamp(from, step > 0 ? 0 : -1, step > 0 ? length : length - 1);
    }

    /** Calls {@code of.name(…)}. */
    static Object call(Render render, Object of, String name, Arguments arguments) {
        if (of instanceof String && StringMethods.NAMES.contains(name)
                || of instanceof Map && DICT_METHODS.contains(name)) {
            return invoke(render, of, name, arguments);
        }
        return Expression.Call.called(attribute(of, name)).call(render, arguments);
    }

    private static Object invoke(Render render, Object of, String name, Arguments arguments) {
        return switch (of) {
            case Map<?, ?> map -> dictMethod(render, map, name, arguments);
            case List<?> list -> listMethod(render, list, name, arguments);
            default -> StringMethods.call(render, of, name, arguments);
        };
    }

    private static final Arguments.Signature NO_PARAMETERS = Arguments.Signature.of("");
    private static final Arguments.Signature GET = Arguments.Signature.of("key [default]");
    private static final Arguments.Signature INDEX = Arguments.Signature.of("value");

    private static Object dictMethod(Render render, Map<?, ?> map, String name, Arguments arguments) {
        if (name.equals("get")) {
            Object[] bound = arguments.bind("get", GET);
            Object value = Values.get(map, Values.key(bound[0]));
            return value != Values.MISSING ? value : bound[1] == Values.MISSING ? null : bound[1];
        }
        arguments.bind(name, NO_PARAMETERS);
        render.read(map.size());
        return name.equals("copy") ? new LinkedHashMap<>(map) : new Values.View(map, name);
    }

    private static Object listMethod(Render render, List<?> list, String name, Arguments arguments) {
        if (name.equals("copy")) {
            arguments.bind(name, NO_PARAMETERS);
            return new ArrayList<>(list);
        }
        render.read(list.size());
        Object value = arguments.bind(name, INDEX)[0];
        if (name.equals("count")) {
            return list.stream().filter(item -> Comparisons.areEqual(render, item, value)).count();
        }
        for (int i = 0; i < list.size(); i++) {
            if (Comparisons.areEqual(render, list.get(i), value)) {
                return (long) i;
            }
        }
        throw Values.error("the list has no item " + Values.representation(value));
    }
}
