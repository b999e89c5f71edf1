// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import java.math.BigInteger;
import java.util.AbstractList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What Python's values are and do: truth, text, equality, order, iteration. The package comment has the mapping. */
final class Values {

    /** A variable without a value. */
    static final Object MISSING = new Object();

    private static final int MOST_KEY_ITEMS = 100;
    /** No text of a value is longer: a value may hold another one many times. */
    private static final int MOST_CHARS = 1 << 26;

    /** The key that all undefined values are. */
    private static final Undefined UNDEFINED = new Undefined("the key of a dict is undefined");

    /** What a name, an attribute or an item gives that is not there: false, empty, and an error if it is used. */
    record Undefined(String problem) {
    }

    /** A string that {@code safe} or {@code escape} marked; it escapes strings that are joined to it. */
    record Markup(String text) {
    }

    /** What can be called. */
    interface Function {
        Object call(Render render, Arguments arguments);
    }

    /** The object of {@code namespace()}, the only one whose attributes can be set. */
    record Namespace(Map<String, Object> attributes) {
    }

    /** A view of a dict: {@code keys}, {@code values} or {@code items}. */
    record View(Map<?, ?> map, String kind) {
    }

    /** Items that can be taken once, such as {@code map} gives. */
    record Generator(Iterator<?> items) {
    }

    /** The value of {@code range()}. */
    static final class Range extends AbstractList<Object> {
        private final long start;
        private final long step;
        private final long stop;
        private final int size;

        Range(long start, long stop, long step, int size) {
            this.start = start;
            this.stop = stop;
            this.step = step;
            this.size = size;
        }

        @Override
        public Object get(int index) {
            return start + index * step;
        }

        @Override
        public int size() {
            return size;
        }

        Range slice(long first, long end, long by) {
            return new Range(start + first * step, start + end * step, step * by,
                    (int) Math.max(0, Math.ceilDiv(end - first, by)));
        }
    }

    private Values() {
    }

    static ChatTemplateException error(String problem) {
        return new ChatTemplateException(problem);
    }

    /** The name of a value's type, as an error shows it. */
    static String type(Object value) {
        return switch (value) {
            case null -> "None";
            case Boolean b -> "a bool";
            case Long n -> "an int";
            case BigInteger n -> "an int";
            case Double d -> "a float";
            case String s -> "a string";
            case Markup s -> "a string";
            case Tuple t -> "a tuple";
            case Range r -> "a range";
            case List<?> l -> "a list";
            case Map<?, ?> m -> "a dict";
            case Undefined u -> "an undefined value";
            case Namespace n -> "a namespace";
            case View v -> "a view of a dict";
            case Generator g -> "a generator";
            case Loop l -> "a loop";
            case Function f -> "a function";
            default -> throw error("a value of " + value.getClass() + " is not supported");
        };
    }

    /** Throws what is wrong if a value is undefined. */
    static void requireDefined(Object value) {
        if (value instanceof Undefined undefined) {
            throw error(undefined.problem());
        }
    }

    /** The string in a value, marked or not; null if it is none. */
    static String string(Object value) {
        return value instanceof String text ? text : value instanceof Markup markup ? markup.text() : null;
    }

    static boolean isList(Object value) {
        return value instanceof List && !(value instanceof Tuple) && !(value instanceof Range);
    }

    static boolean isTrue(Object value) {
        return switch (value) {
            case null -> false;
            case Boolean b -> b;
            case String s -> !s.isEmpty();
            case Long n -> n != 0;
            case BigInteger n -> n.signum() != 0;
            case Double d -> d != 0;
            case Markup s -> !s.text().isEmpty();
            case Collection<?> c -> !c.isEmpty();
            case Map<?, ?> m -> !m.isEmpty();
            case View v -> !v.map().isEmpty();
            case Loop l -> l.length() > 0;
            case Undefined u -> false;
            default -> true;
        };
    }

    /** What {@code str} makes of a value. */
    static String text(Object value) {
        if (value instanceof String text) {
            return text;
        }
        if (value instanceof Long number) {
            return number.toString();
        }
        StringBuilder out = new StringBuilder();
        appendText(value, out);
        return out.toString();
    }

    static void appendText(Object value, StringBuilder out) {
        switch (value) {
            case String s -> out.append(s);
            case Markup s -> out.append(s.text());
            case null, default -> {
                if (!(value instanceof Undefined)) {
                    represent(value, out);
                }
            }
        }
    }

    static String representation(Object value) {
        StringBuilder out = new StringBuilder();
        represent(value, out);
        return out.toString();
    }

    private static void represent(Object value, StringBuilder out) {
        if (out.length() > MOST_CHARS) {
            throw error("the text of a value is longer than " + MOST_CHARS + " chars, the limit");
        }
        switch (value) {
            case null -> out.append("None");
            case Boolean b -> out.append(b ? "True" : "False");
            case Long n -> out.append(n.longValue());
            case BigInteger n -> out.append(n);
            case Double d -> out.append(Text.number(d));
            case String s -> Text.quote(s, out);
            case Undefined u -> out.append("Undefined");
            case Markup s -> {
                out.append("Markup(");
                Text.quote(s.text(), out);
                out.append(')');
            }
            case Range r -> {
                out.append("range(").append(r.start).append(", ").append(r.stop);
                out.append(r.step == 1 ? ")" : ", " + r.step + ")");
            }
            case Tuple t -> sequence(t, '(', t.size() == 1 ? ",)" : ")", out);
            case List<?> l -> sequence(l, '[', "]", out);
            case Map<?, ?> m -> pairs(m, out);
            case View v -> {
                out.append("dict_").append(v.kind()).append('(');
                sequence(items(v), '[', "])", out);
            }
            case Namespace n -> {
                out.append("<Namespace ");
                pairs(n.attributes(), out);
                out.append('>');
            }
            default -> throw error("found " + type(value) + ", whose text Python does not define");
        }
    }

    private static void sequence(Collection<?> items, char open, String close, StringBuilder out) {
        out.append(open);
        String separator = "";
        for (Object item : items) {
            out.append(separator);
            represent(item, out);
            separator = ", ";
        }
        out.append(close);
    }

    private static void pairs(Map<?, ?> map, StringBuilder out) {
        out.append('{');
        String separator = "";
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            out.append(separator);
            represent(entry.getKey(), out);
            out.append(": ");
            represent(entry.getValue(), out);
            separator = ", ";
        }
        out.append('}');
    }

    /** The number of items; an error if a value has none. */
    static long length(Object value) {
        String text = string(value);
        if (text != null) {
            return Text.length(text);
        }
        return switch (value) {
            case Collection<?> c -> c.size();
            case Map<?, ?> m -> m.size();
            case View v -> v.map().size();
            case Loop l -> l.length();
            case Undefined u -> 0;
            case null, default -> throw error(type(value) + " has no length");
        };
    }

    /** The chars of a string or the items of a container, for what reading it takes. */
    static int size(Object value) {
        return switch (value) {
            case String text -> text.length();
            case Collection<?> c -> c.size();
            case Map<?, ?> m -> m.size();
            case Markup s -> s.text().length();
            case View v -> v.map().size();
            case null, default -> 0;
        };
    }

    /** The items of a value in order; an error if it has none. */
    static Iterator<?> iterator(Object value) {
        return switch (value) {
            case String s -> Text.characters(s).iterator();
            case Markup s -> Text.characters(s.text()).iterator();
            case Collection<?> c -> c.iterator();
            case Map<?, ?> m -> m.keySet().iterator();
            case View v -> items(v).iterator();
            case Generator g -> g.items();
            case Loop l -> throw error("iterating over a loop is not supported");
            case Undefined u -> List.of().iterator();
            case null, default -> throw error("cannot iterate over " + type(value));
        };
    }

    static Collection<?> items(View view) {
        return switch (view.kind()) {
            case "keys" -> view.map().keySet();
            case "values" -> view.map().values();
            default -> view.map().entrySet().stream().map(e -> (Object) new Tuple(e.getKey(), e.getValue())).toList();
        };
    }

    static boolean isNumber(Object value) {
        return isInteger(value) || value instanceof Double;
    }

    /** Whether a value is an int, as a bool is. */
    static boolean isInteger(Object value) {
        return value instanceof Long || value instanceof Boolean || value instanceof BigInteger;
    }

    /** A value as a key of a dict: equal numbers are the same key. An error if a value cannot be one. */
    static Object key(Object value) {
        if (value instanceof String || value instanceof Long || value == null) {
            return value;
        }
        return switch (value) {
            case Boolean b -> Long.valueOf(b ? 1 : 0);
            case Markup s -> s.text();
            case Undefined u -> UNDEFINED;
            case Double d when d == Math.rint(d) && Math.abs(d) < 1e18 -> Long.valueOf(d.longValue());
            case Tuple t when t.size() > MOST_KEY_ITEMS || t.stream().anyMatch(List.class::isInstance) ->
                    throw error("a tuple of tuples or of more than " + MOST_KEY_ITEMS + " items as a key is not"
                            + " supported");
            case Tuple t -> new Tuple(t.stream().map(Values::key).toArray());
            case List<?> l when isList(l) -> throw unhashable(value);
            case Map<?, ?> m -> throw unhashable(value);
            case Double d -> d;
            case BigInteger n -> n;
            default -> throw error(type(value) + " as the key of a dict is not supported");
        };
    }

    private static ChatTemplateException unhashable(Object value) {
        return error(type(value) + " cannot be the key of a dict");
    }

    /**
     * What a dict has for a {@link #key}, or {@link #MISSING}. Maps of other kinds than the interpreter's, which a
     * conversation may be made of, have strings as keys, and may refuse to look for others.
     */
    static Object get(Map<?, ?> map, Object key) {
        if (!(key instanceof String || map instanceof HashMap)) {
            return MISSING;
        }
        Object value = map.get(key);
        return value != null || map.containsKey(key) ? value : MISSING;
    }

    /** A dict of pairs, as a literal or {@code dict()} makes it. */
    static void put(Map<Object, Object> map, Object key, Object value) {
        if (key instanceof Boolean || key instanceof Double) {
            throw error("a dict with " + type(key) + " as a key is not supported");
        }
        map.put(key(key), value);
    }

    static Map<Object, Object> dict() {
        return new LinkedHashMap<>();
    }
}
