// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.chat.Arguments.Signature;
import io.penstock.chat.Values.Generator;
import io.penstock.chat.Values.Markup;
import io.penstock.chat.Values.Undefined;
import io.penstock.chat.Values.View;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/** The filters of Jinja that are supported, with {@code tojson} as transformers has it. */
final class Filters {

    /** A filter of a value. */
    interface Filter {
        Object apply(Render render, Object value, Arguments arguments);
    }

    /** A test of a value. */
    interface Test {
        boolean holds(Render render, Object value, Arguments arguments);
    }

    /** A filter whose arguments are in the order of its parameters, {@link Values#MISSING} where not given. */
    private interface Bound {
        Object apply(Render render, Object value, Object[] arguments);
    }

    private static final Pattern FLOAT = Pattern.compile(
            "[+-]?(?:\\d+(?:_\\d+)*\\.?(?:\\d+(?:_\\d+)*)?|\\.\\d+(?:_\\d+)*)(?:[eE][+-]?\\d+(?:_\\d+)*)?");

    private static final Map<String, Filter> FILTERS = Map.ofEntries(
            text("lower", Text::lower), text("upper", Text::upper), text("capitalize", Text::capitalize),
            filter("title", "", (render, value, a) -> Text.titleWords(Values.text(value))),
            filter("string", "", (render, value, a) -> value instanceof Markup ? value : Values.text(value)),
            filter("safe", "", (render, value, a) -> new Markup(Values.text(value))),
            filter("escape", "", (render, value, a) -> escaped(value)),
            filter("e", "", (render, value, a) -> escaped(value)),
            filter("forceescape", "", (render, value, a) -> new Markup(Text.escape(Values.text(value)))),
            filter("trim", "[chars]", (render, value, a) -> likeText(value, text -> Text.strip(text,
                    a[0] == Values.MISSING || a[0] == null ? null : StringMethods.string(a[0]), true, true))),
            filter("replace", "old new [count]", Filters::replace),
            filter("center", "[width]", (render, value, a) -> StringMethods.call(render, string(value), "center",
                    new Arguments(new Object[] {a[0] == Values.MISSING ? 80L : a[0]}, Map.of()))),
            filter("indent", "[width] [first] [blank]", Filters::indent),
            filter("truncate", "[length] [killwords] [end] [leeway]", Filters::truncate),
            filter("wordcount", "", (render, value, a) -> Pattern.compile("[\\p{L}\\p{N}_]+")
                    .matcher(Values.text(value)).results().count()),
            Map.entry("format", Filters::format),
            filter("tojson", "[ensure_ascii] [indent] [separators] [sort_keys]", JsonText::of),
            filter("default", "[default_value] [boolean]", (render, value, a) -> orDefault(value, a)),
            filter("d", "[default_value] [boolean]", (render, value, a) -> orDefault(value, a)),
            filter("length", "", (render, value, a) -> Values.length(value)),
            filter("count", "", (render, value, a) -> Values.length(value)),
            filter("list", "", (render, value, a) -> list(render, value)),
            filter("first", "", (render, value, a) -> firstOf(Values.iterator(value), "first")),
            filter("last", "", (render, value, a) -> value instanceof Markup markup && !markup.text().isEmpty()
                    ? Members.item(value, -1L) : firstOf(reversed(value), "last")),
            filter("reverse", "", Filters::reverse),
            filter("join", "[d] [attribute]", Filters::join),
            filter("sort", "[reverse] [case_sensitive] [attribute]", Filters::sort),
            filter("unique", "[case_sensitive] [attribute]", Filters::unique),
            filter("min", "[case_sensitive] [attribute]", (render, value, a) -> extreme(render, value, a, 1)),
            filter("max", "[case_sensitive] [attribute]", (render, value, a) -> extreme(render, value, a, -1)),
            filter("sum", "[attribute] [start]", Filters::sum),
            filter("batch", "linecount [fill_with]", Filters::batch),
            filter("slice", "slices [fill_with]", Filters::slice),
            filter("items", "", (render, value, a) -> items(value)),
            filter("dictsort", "[case_sensitive] [by] [reverse]", Filters::dictsort),
            filter("attr", "name", (render, value, a) -> value instanceof Map
                    && !(Members.attribute(Map.of(), StringMethods.string(a[0])) instanceof Values.Function)
                    ? new Undefined("a dict has no attribute '" + a[0] + "'")
                    : Members.attribute(value, StringMethods.string(a[0]))),
            filter("abs", "", (render, value, a) -> absolute(value)),
            filter("round", "[precision] [method]", (render, value, a) -> round(value, a)),
            filter("int", "[default] [base]", (render, value, a) -> whole(value, a)),
            filter("float", "[default]", (render, value, a) -> real(value, a)),
            Map.entry("map", Filters::map),
            Map.entry("select", (render, value, a) -> select(render, value, a, false, true)),
            Map.entry("reject", (render, value, a) -> select(render, value, a, false, false)),
            Map.entry("selectattr", (render, value, a) -> select(render, value, a, true, true)),
            Map.entry("rejectattr", (render, value, a) -> select(render, value, a, true, false)));

    private Filters() {
    }

    /** The filter of a name; null if it is not supported. */
    static Filter find(String name) {
        return FILTERS.get(name);
    }

    private static Map.Entry<String, Filter> filter(String name, String parameters, Bound bound) {
        Signature signature = Signature.of(parameters);
        return Map.entry(name, (render, value, arguments) -> {
            int size = Values.size(value);
            render.read(size);
            for (Object argument : arguments.positional()) {
                render.search(size, Values.size(argument));
            }
            Object result = bound.apply(render, value, arguments.bind(name, signature));
            render.grow(Values.size(result));
            return result;
        });
    }

    private static Map.Entry<String, Filter> text(String name, UnaryOperator<String> function) {
        return filter(name, "", (render, value, arguments) -> likeText(value, function));
    }

    private static Object likeText(Object value, UnaryOperator<String> function) {
        return value instanceof Markup markup ? new Markup(function.apply(markup.text()))
                : function.apply(Values.text(value));
    }

    private static Object string(Object value) {
        return value instanceof Markup ? value : Values.text(value);
    }

    private static Object escaped(Object value) {
        return value instanceof Markup ? value : new Markup(Text.escape(Values.text(value)));
    }

    private static boolean flag(Object argument) {
        return argument != Values.MISSING && Values.isTrue(argument);
    }

    private static Object orDefault(Object value, Object[] a) {
        return value instanceof Undefined || flag(a[1]) && !Values.isTrue(value) ? a[0] == Values.MISSING ? "" : a[0]
                : value;
    }

    private static Object replace(Render render, Object value, Object[] a) {
        Object[] texts = {Values.text(a[0]), Values.text(a[1]), a[2] == Values.MISSING || a[2] == null ? -1L : a[2]};
        return StringMethods.call(render, Values.text(value), "replace", new Arguments(texts, Map.of()));
    }

    private static Object indent(Render render, Object value, Object[] a) {
        String by = a[0] == Values.MISSING ? "    " : Values.string(a[0]) != null ? Values.string(a[0])
                : " ".repeat(Math.clamp(StringMethods.whole(a[0], 4), 0, 1000));
        List<Object> lines = Text.lines(StringMethods.string(value) + "\n", false);
        render.grow((long) lines.size() * by.length() + StringMethods.string(value).length());
        StringBuilder out = new StringBuilder(flag(a[1]) ? by : "");
        for (int i = 0; i < lines.size(); i++) {
            String line = (String) lines.get(i);
            out.append(i == 0 ? "" : "\n").append(i > 0 && (flag(a[2]) || !line.isEmpty()) ? by : "").append(line);
        }
        return value instanceof Markup ? new Markup(out.toString()) : out.toString();
    }

    private static Object truncate(Render render, Object value, Object[] a) {
        String end = a[2] == Values.MISSING ? "..." : StringMethods.string(a[2]);
        int length = StringMethods.whole(a[0], 255);
        int leeway = StringMethods.whole(a[3] == null ? Values.MISSING : a[3], 5);
        if (length < Text.length(end) || leeway < 0) {
            throw Values.error("truncate: the length must be that of the end at least");
        }
        if (Values.length(value) <= length + (long) leeway) {
            return value;
        }
        String text = StringMethods.string(value);
        String cut = text.substring(0, Text.charIndex(text, length - Text.length(end)));
        int blank = flag(a[1]) ? -1 : cut.lastIndexOf(' ');
        return (blank < 0 ? cut : cut.substring(0, blank)) + end;
    }

    private static Object format(Render render, Object value, Arguments arguments) {
        if (arguments.positional().length > 0 && !arguments.named().isEmpty()) {
            throw Values.error("format: takes values by position or by name, not both");
        }
        return Format.percent(render, Values.text(value), arguments.named().isEmpty()
                ? new Tuple(arguments.positional()) : arguments.named());
    }

    private static List<Object> list(Render render, Object value) {
        List<Object> list = new ArrayList<>();
        Values.iterator(value).forEachRemaining(list::add);
        render.grow(list.size());
        return list;
    }

    private static Object firstOf(Iterator<?> items, String which) {
        return items.hasNext() ? items.next() : new Undefined("there is no " + which + " item: the sequence is empty");
    }

    private static Iterator<?> reversed(Object value) {
        if (value instanceof Generator || value instanceof Loop) {
            throw Values.error("cannot reverse " + Values.type(value));
        }
        List<Object> list = new ArrayList<>();
        Values.iterator(value).forEachRemaining(list::add);
        Collections.reverse(list);
        return list.iterator();
    }

    private static Object reverse(Render render, Object value, Object[] a) {
        if (Values.string(value) != null) {
            return likeText(value, text -> new StringBuilder(text).reverse().toString());
        }
        if (value instanceof Generator) {
            return list(render, value).reversed();
        }
        return new Generator(reversed(value));
    }

    private static Object join(Render render, Object value, Object[] a) {
        String separator = a[0] == Values.MISSING ? "" : Values.text(a[0]);
        StringBuilder out = new StringBuilder();
        UnaryOperator<Object> getter = a[1] == Values.MISSING ? item -> item : getter(a[1], null);
        Iterator<?> items = Values.iterator(value);
        for (boolean isFirst = true; items.hasNext(); isFirst = false) {
            out.append(isFirst ? "" : separator);
            Values.appendText(getter.apply(items.next()), out);
            render.step();
            render.bound(out.length());
        }
        return out.toString();
    }

    /** Gets {@code a.b.0} of an item, or what {@code otherwise} is in place of what is undefined on the way. */
    private static UnaryOperator<Object> getter(Object attribute, Object otherwise) {
        if (attribute == null || attribute == Values.MISSING) {
            return item -> item;
        }
        String path = Values.string(attribute);
        List<Object> keys = new ArrayList<>();
        for (String part : path == null ? new String[0] : path.split("\\.", -1)) {
            keys.add(part.matches("[0-9]{1,18}") ? (Object) Long.valueOf(part) : part);
        }
        if (path == null) {
            keys.add(attribute);
        }
        return item -> {
            Object value = item;
            for (Object key : keys) {
                value = Members.item(value, key);
                value = otherwise != null && value instanceof Undefined ? otherwise : value;
            }
            return value;
        };
    }

    private static Object lowered(Object value) {
        return Values.string(value) == null ? value : Text.lower(Values.string(value));
    }

    private static UnaryOperator<Object> key(Object attribute, Object caseSensitive) {
        UnaryOperator<Object> getter = getter(attribute, null);
        return flag(caseSensitive) ? getter : item -> lowered(getter.apply(item));
    }

    private static Object sort(Render render, Object value, Object[] a) {
        List<UnaryOperator<Object>> keys = new ArrayList<>();
        String paths = a[2] == Values.MISSING || a[2] == null ? null : Values.string(a[2]);
        for (Object path : paths == null ? new Object[] {a[2]} : paths.split(",")) {
            keys.add(key(path, a[1]));
        }
        record Keyed(Object item, Tuple key) {
        }
        List<Keyed> keyed = new ArrayList<>();
        for (Object item : list(render, value)) {
            keyed.add(new Keyed(item, new Tuple(keys.stream().map(key -> key.apply(item)).toArray())));
        }
        Comparator<Keyed> order = (x, y) -> {
            render.step();
            return Comparisons.compare(render, x.key(), y.key());
        };
        keyed.sort(flag(a[0]) ? order.reversed() : order);
        return new ArrayList<>(keyed.stream().map(Keyed::item).toList());
    }

    private static Object unique(Render render, Object value, Object[] a) {
        UnaryOperator<Object> key = key(a[1], a[0]);
        Set<Object> seen = new HashSet<>();
        return new Generator(new Selection(Values.iterator(value), item -> seen.add(Values.key(key.apply(item))),
                render));
    }

    private static Object extreme(Render render, Object value, Object[] a, int sign) {
        UnaryOperator<Object> key = key(a[1], a[0]);
        Iterator<?> items = Values.iterator(value);
        Object best = firstOf(items, "");
        while (items.hasNext()) {
            Object item = items.next();
            best = sign * Comparisons.compare(render, key.apply(item), key.apply(best)) < 0 ? item : best;
        }
        return best;
    }

    private static Object sum(Render render, Object value, Object[] a) {
        UnaryOperator<Object> getter = getter(a[0], null);
        Object sum = a[1] == Values.MISSING ? (Object) 0L : a[1];
        if (Values.string(sum) != null) {
            throw Values.error("sum: cannot add strings");
        }
        for (Iterator<?> items = Values.iterator(value); items.hasNext();) {
            sum = Arithmetic.add(render, sum, getter.apply(items.next()));
        }
        return sum;
    }

    private static Object batch(Render render, Object value, Object[] a) {
        int count = StringMethods.whole(a[0], 0);
        List<Object> batches = new ArrayList<>();
        List<Object> batch = new ArrayList<>();
        for (Object item : list(render, value)) {
            if (batch.size() == count) {
                batches.add(batch);
                batch = new ArrayList<>();
            }
            batch.add(item);
        }
        if (!batch.isEmpty()) {
            render.grow(count);
            while (a[1] != Values.MISSING && a[1] != null && batch.size() < count) {
                batch.add(a[1]);
            }
            batches.add(batch);
        }
        return new Generator(batches.iterator());
    }

    private static Object slice(Render render, Object value, Object[] a) {
        List<Object> items = list(render, value);
        int count = StringMethods.whole(a[0], 0);
        if (count == 0) {
            throw Values.error("slice: division by zero");
        }
        render.grow(Math.max(0, count));
        List<Object> slices = new ArrayList<>();
        int start = 0;
        for (int i = 0; i < count; i++) {
            boolean isLonger = i < items.size() % count;
            int end = start + items.size() / count + (isLonger ? 1 : 0);
            List<Object> slice = new ArrayList<>(items.subList(start, end));
            if (a[1] != Values.MISSING && a[1] != null && !isLonger) {
                slice.add(a[1]);
            }
            slices.add(slice);
            start = end;
        }
        return new Generator(slices.iterator());
    }

    private static Object items(Object value) {
        if (value instanceof Undefined) {
            return new Generator(Collections.emptyIterator());
        }
        if (!(value instanceof Map<?, ?> map)) {
            throw Values.error("items: expected a dict, found " + Values.type(value));
        }
        return new Generator(Values.items(new View(map, "items")).iterator());
    }

    private static Object dictsort(Render render, Object value, Object[] a) {
        Object by = a[1] == Values.MISSING ? "key" : a[1];
        if (!(value instanceof Map<?, ?> map)) {
            Values.requireDefined(value);
            throw Values.error("dictsort: expected a dict, found " + Values.type(value));
        }
        if (!"key".equals(by) && !"value".equals(by)) {
            throw Values.error("dictsort: found by=" + Values.representation(by) + ", expected 'key' or 'value'");
        }
        Object pairs = list(render, new View(map, "items"));
        Object[] options = {a[2], a[0], "key".equals(by) ? 0L : 1L};
        return sort(render, pairs, options);
    }

    private static Object absolute(Object value) {
        Values.requireDefined(value);
        if (value instanceof Double d) {
            return Math.abs(d);
        }
        if (!Values.isInteger(value)) {
            throw Values.error("abs: expected a number, found " + Values.type(value));
        }
        return Arithmetic.narrow(Arithmetic.big(value).abs());
    }

    private static Object round(Object value, Object[] a) {
        Values.requireDefined(value);
        if (!Values.isNumber(value)) {
            throw Values.error("round: expected a number, found " + Values.type(value));
        }
        int precision = Math.clamp(StringMethods.whole(a[0], 0), -400, 400);
        Object method = a[1] == Values.MISSING ? "common" : a[1];
        if ("common".equals(method)) {
            return rounded(value, precision);
        }
        if (!"ceil".equals(method) && !"floor".equals(method)) {
            throw Values.error("round: found " + Values.representation(method)
                    + ", expected 'common', 'ceil' or 'floor'");
        }
        Object scale = Arithmetic.power(10L, (long) precision);
        double scaled = Arithmetic.real(value) * Arithmetic.real(scale);
        return Arithmetic.divide(truncated("ceil".equals(method) ? Math.ceil(scaled) : Math.floor(scaled)), scale);
    }

    private static Object rounded(Object value, int precision) {
        if (!(value instanceof Double d)) {
            BigDecimal exact = new BigDecimal(Arithmetic.big(value));
            return precision >= 0 ? Arithmetic.plus(value instanceof Boolean ? Arithmetic.plus(value) : value)
                    : Arithmetic.narrow(exact.setScale(precision, RoundingMode.HALF_EVEN).toBigInteger());
        }
        if (!Double.isFinite(d)) {
            return d;
        }
        return Math.copySign(new BigDecimal(d).setScale(precision, RoundingMode.HALF_EVEN).doubleValue(), d);
    }

    /** A float without its fraction, as an int. */
    static Object truncated(Object value) {
        double real = (Double) value;
        if (!Double.isFinite(real)) {
            throw Values.error("cannot make an int of " + Text.number(real));
        }
        return Arithmetic.narrow(new BigDecimal(real).toBigInteger());
    }

    private static Object whole(Object value, Object[] a) {
        Values.requireDefined(value);
        if (Values.isInteger(value)) {
            return Arithmetic.plus(value);
        }
        Object otherwise = a[0] == Values.MISSING ? (Object) 0L : a[0];
        Object real = value;
        if (Values.string(value) != null) {
            Object parsed = parsed(Values.string(value), StringMethods.whole(a[1], 10));
            if (parsed != null) {
                return parsed;
            }
            real = real(value, new Object[] {null});
        } else if (value instanceof Double d && Double.isInfinite(d)) {
            throw Values.error("int: cannot make an int of infinity");
        }
        return real instanceof Double d && Double.isFinite(d) ? truncated(d) : otherwise;
    }

    /** An int of a text as Python's {@code int(text, base)} reads it; null if it is none. */
    private static Object parsed(String text, int base) {
        String digits = Text.lower(Text.strip(text, null, true, true));
        boolean isNegative = digits.startsWith("-");
        digits = isNegative || digits.startsWith("+") ? digits.substring(1) : digits;
        String prefix = digits.length() < 2 ? "" : digits.substring(0, 2);
        int told = prefix.equals("0x") ? 16 : prefix.equals("0o") ? 8 : prefix.equals("0b") ? 2 : 0;
        boolean isPrefixed = told != 0 && (base == told || base == 0);
        int radix = base != 0 ? base : isPrefixed ? told : 10;
        digits = isPrefixed ? digits.substring(digits.startsWith("_", 2) ? 3 : 2) : digits;
        boolean hasZeros = base == 0 && !isPrefixed && digits.matches("0[0-9_]*[1-9][0-9_]*");
        if (radix < 2 || radix > 36 || hasZeros || digits.length() > 1000 || digits.isEmpty()
                || digits.startsWith("_") || digits.endsWith("_") || digits.contains("__") || digits.contains("-")
                || digits.contains("+")) {
            return null;
        }
        try {
            BigInteger value = new BigInteger(digits.replace("_", ""), radix);
            return Arithmetic.narrow(isNegative ? value.negate() : value);
        } catch (NumberFormatException e) {
            return null;
        }
    }

    private static Object real(Object value, Object[] a) {
        Values.requireDefined(value);
        Object otherwise = a[0] == Values.MISSING ? (Object) 0.0 : a[0];
        if (Values.isNumber(value)) {
            return Arithmetic.real(value);
        }
        if (Values.string(value) == null) {
            return otherwise;
        }
        String text = Text.strip(Values.string(value), null, true, true).toLowerCase(Locale.ROOT);
        if (text.length() <= 1000 && FLOAT.matcher(text).matches()) {
            return Double.parseDouble(text.replace("_", ""));
        }
        return switch (text.startsWith("+") || text.startsWith("-") ? text.substring(1) : text) {
            case "inf", "infinity" -> text.startsWith("-") ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
            case "nan" -> Double.NaN;
            default -> otherwise;
        };
    }

    private static Object map(Render render, Object value, Arguments arguments) {
        Iterator<?> items = Values.isTrue(value) ? Values.iterator(value) : Collections.emptyIterator();
        UnaryOperator<Object> function;
        Map<String, Object> named = arguments.named();
        if (arguments.positional().length == 0 && named.containsKey("attribute")) {
            Set<String> others = new HashSet<>(named.keySet());
            others.removeAll(List.of("attribute", "default"));
            if (!others.isEmpty()) {
                throw Values.error("map: found the arguments " + others + ", expected attribute and default");
            }
            function = getter(named.get("attribute"), named.get("default"));
        } else {
            String name = arguments.positional().length == 0 ? "" : StringMethods.string(arguments.positional()[0]);
            Filter filter = find(name);
            if (filter == null) {
                throw Values.error("map: the filter '" + name + "' is not supported");
            }
            Arguments rest = arguments.without(1);
            function = item -> filter.apply(render, item, rest);
        }
        return new Generator(new Iterator<>() {
            @Override
            public boolean hasNext() {
                return items.hasNext();
            }

            @Override
            public Object next() {
                render.step();
                return function.apply(items.next());
            }
        });
    }

    private static Object select(Render render, Object value, Arguments arguments, boolean byAttribute,
            boolean selects) {
        if (!Values.isTrue(value)) {
            return new Generator(Collections.emptyIterator());
        }
        Object[] given = arguments.positional();
        if (byAttribute && given.length == 0) {
            throw Values.error("the name of the attribute is missing");
        }
        UnaryOperator<Object> getter = byAttribute ? getter(given[0], null) : item -> item;
        int used = byAttribute ? 1 : 0;
        Test test = (_, item, _) -> Values.isTrue(item);
        if (given.length > used) {
            test = Tests.find(StringMethods.string(given[used]));
            if (test == null) {
                throw Values.error("the test '" + given[used] + "' is not supported");
            }
        }
        Test chosen = test;
        Arguments rest = arguments.without(used + 1);
        return new Generator(new Selection(Values.iterator(value),
                item -> chosen.holds(render, getter.apply(item), rest) == selects, render));
    }
}
