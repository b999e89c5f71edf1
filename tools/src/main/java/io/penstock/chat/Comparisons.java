// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.chat.Values.Undefined;
import io.penstock.chat.Values.View;
import java.math.BigDecimal;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Python's {@code ==}, {@code <} and {@code in}. They count steps, for values may share parts and so be large. */
final class Comparisons {

    private Comparisons() {
    }

    static boolean areEqual(Render render, Object a, Object b) {
        if (a == b) {
            return !(a instanceof Double d && d.isNaN());
        }
        if (a == null || b == null) {
            return false;
        }
        if (a instanceof String x && b instanceof String y) {
            if (x.length() != y.length()) {
                return false;
            }
            render.read(x.length());
            return x.equals(y);
        }
        render.step();
        String text = Values.string(a);
        if (text != null) {
            return text.equals(Values.string(b));
        }
        if (Values.isNumber(a)) {
            return Values.isNumber(b) && !isNan(a) && !isNan(b) && compareNumbers(a, b) == 0;
        }
        return switch (a) {
            case Undefined u -> b instanceof Undefined;
            case Map<?, ?> m -> b instanceof Map<?, ?> other && areEqual(render, m, other);
            case List<?> l -> b instanceof List<?> other && Values.isList(a) == Values.isList(b)
                    && a instanceof Tuple == b instanceof Tuple && areEqual(render, l, other);
            default -> false;
        };
    }

    private static boolean areEqual(Render render, List<?> a, List<?> b) {
        if (a.size() != b.size()) {
            return false;
        }
        Iterator<?> others = b.iterator();
        for (Object item : a) {
            if (!areEqual(render, item, others.next())) {
                return false;
            }
        }
        return true;
    }

    private static boolean areEqual(Render render, Map<?, ?> a, Map<?, ?> b) {
        if (a.size() != b.size()) {
            return false;
        }
        for (Map.Entry<?, ?> entry : a.entrySet()) {
            Object other = Values.get(b, entry.getKey());
            if (other == Values.MISSING || !areEqual(render, entry.getValue(), other)) {
                return false;
            }
        }
        return true;
    }

    private static boolean isNan(Object value) {
        return value instanceof Double d && d.isNaN();
    }

    private static int compareNumbers(Object a, Object b) {
        if (a instanceof Long x && b instanceof Long y) {
            return Long.compare(x, y);
        }
        if (Values.isInteger(a) && Values.isInteger(b)) {
            return Arithmetic.big(a).compareTo(Arithmetic.big(b));
        }
        double x = a instanceof Double d ? d : 0;
        double y = b instanceof Double d ? d : 0;
        if (a instanceof Double && (Double.isInfinite(x) || b instanceof Double)
                || b instanceof Double && Double.isInfinite(y)) {
            return x < y ? -1 : x > y ? 1 : 0;
        }
        return decimal(a).compareTo(decimal(b));
    }

    private static BigDecimal decimal(Object value) {
        return value instanceof Double d ? new BigDecimal(d) : new BigDecimal(Arithmetic.big(value));
    }

    /** Whether {@code a < b}, and so on for the other operators of order. */
    static boolean isOrdered(Render render, Object a, String operator, Object b) {
        Values.requireDefined(a);
        Values.requireDefined(b);
        if (isNan(a) && Values.isNumber(b) || isNan(b) && Values.isNumber(a)) {
            return false;
        }
        if (a instanceof Tuple && b instanceof Tuple || Values.isList(a) && Values.isList(b)) {
            return isOrdered(render, (List<?>) a, operator, (List<?>) b);
        }
        int order;
        if (Values.string(a) != null && Values.string(b) != null) {
            render.read(Math.min(Values.string(a).length(), Values.string(b).length()));
            order = Text.compare(Values.string(a), Values.string(b));
        } else if (Values.isNumber(a) && Values.isNumber(b)) {
            order = compareNumbers(a, b);
        } else {
            throw Values.error("cannot compare " + Values.type(a) + " and " + Values.type(b) + " by '" + operator
                    + "'");
        }
        return holds(order, operator);
    }

    private static boolean isOrdered(Render render, List<?> a, String operator, List<?> b) {
        int common = Math.min(a.size(), b.size());
        for (int i = 0; i < common; i++) {
            if (!areEqual(render, a.get(i), b.get(i))) {
                return isOrdered(render, a.get(i), operator, b.get(i));
            }
        }
        return holds(Integer.compare(a.size(), b.size()), operator);
    }

    private static boolean holds(int order, String operator) {
        return switch (operator) {
            case "<" -> order < 0;
            case "<=" -> order <= 0;
            case ">" -> order > 0;
            default -> order >= 0;
        };
    }

    /** Orders values as {@code sorted} does. */
    static int compare(Render render, Object a, Object b) {
        return isOrdered(render, a, "<", b) ? -1 : isOrdered(render, b, "<", a) ? 1 : 0;
    }

    /** Whether a value is in another: a part of a string, a key of a dict, an item. */
    static boolean contains(Render render, Object container, Object value) {
        String text = Values.string(container);
        if (text != null) {
            String part = Values.string(value);
            if (part == null) {
                throw Values.error("'in' of a string needs a string, found " + Values.type(value));
            }
            render.search(text.length(), part.length());
            return text.contains(part);
        }
        if (container instanceof Map<?, ?> map) {
            return Values.get(map, Values.key(value)) != Values.MISSING;
        }
        if (container instanceof View view && view.kind().equals("keys")) {
            return Values.get(view.map(), Values.key(value)) != Values.MISSING;
        }
        Iterator<?> items = Values.iterator(container);
        while (items.hasNext()) {
            if (areEqual(render, items.next(), value)) {
                return true;
            }
        }
        return false;
    }
}
