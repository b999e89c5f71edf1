// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.chat.Arguments.Signature;
import io.penstock.chat.Filters.Test;
import io.penstock.chat.Values.Function;
import io.penstock.chat.Values.Generator;
import io.penstock.chat.Values.Markup;
import io.penstock.chat.Values.Undefined;
import io.penstock.chat.Values.View;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** The tests of Jinja that are supported, {@code a is name}. */
final class Tests {

    /** What holds between a value and another one. */
    private interface Relation {
        boolean holds(Render render, Object value, Object other);
    }

    private static final Signature NONE = Signature.of("");
    private static final Signature ONE = Signature.of("other");

    private static final Map<String, Test> TESTS = Map.ofEntries(
            plain("defined", value -> !(value instanceof Undefined)),
            plain("undefined", value -> value instanceof Undefined),
            plain("none", value -> value == null),
            plain("boolean", value -> value instanceof Boolean),
            plain("true", value -> Boolean.TRUE.equals(value)),
            plain("false", value -> Boolean.FALSE.equals(value)),
            plain("integer", value -> Values.isInteger(value) && !(value instanceof Boolean)),
            plain("float", value -> value instanceof Double),
            plain("number", Values::isNumber),
            plain("string", value -> Values.string(value) != null),
            plain("mapping", value -> value instanceof Map),
            plain("sequence", value -> Values.string(value) != null || value instanceof List || value instanceof Map
                    || value instanceof Undefined),
            plain("iterable", value -> Values.string(value) != null || value instanceof Collection
                    || value instanceof Map || value instanceof View || value instanceof Generator
                    || value instanceof Loop || value instanceof Undefined),
            plain("callable", value -> value instanceof Function || value instanceof Loop
                    || value instanceof Undefined),
            plain("escaped", value -> value instanceof Markup),
            plain("lower", value -> Text.isAllCase(Values.text(value), false)),
            plain("upper", value -> Text.isAllCase(Values.text(value), true)),
            Map.entry("odd", (render, value, a) -> isRest(render, value, 2L, 1L)),
            Map.entry("even", (render, value, a) -> isRest(render, value, 2L, 0L)),
            Map.entry("divisibleby", (render, value, a) -> isRest(render, value,
                    a.bind("divisibleby", Signature.of("num"))[0], 0L)),
            against("in", (render, value, other) -> Comparisons.contains(render, other, value)),
            against("sameas", Tests::areSame),
            against("eq", Comparisons::areEqual), against("equalto", Comparisons::areEqual),
            against("==", Comparisons::areEqual),
            against("ne", (render, value, other) -> !Comparisons.areEqual(render, value, other)),
            against("!=", (render, value, other) -> !Comparisons.areEqual(render, value, other)),
            ordered("lt", "<"), ordered("lessthan", "<"), ordered("<", "<"), ordered("le", "<="), ordered("<=", "<="),
            ordered("gt", ">"), ordered("greaterthan", ">"), ordered(">", ">"), ordered("ge", ">="),
            ordered(">=", ">="));

    private Tests() {
    }

    /** The test of a name; null if it is not supported. */
    static Test find(String name) {
        return TESTS.get(name);
    }

    private static Map.Entry<String, Test> plain(String name, Predicate<Object> test) {
        return Map.entry(name, (render, value, arguments) -> {
            if (arguments != Arguments.NONE) {
                arguments.bind(name, NONE);
            }
            return test.test(value);
        });
    }

    private static Map.Entry<String, Test> against(String name, Relation relation) {
        return Map.entry(name, (render, value, arguments) -> relation.holds(render, value,
                arguments.bind(name, ONE)[0]));
    }

    private static Map.Entry<String, Test> ordered(String name, String operator) {
        return against(name, (render, value, other) -> Comparisons.isOrdered(render, value, operator, other));
    }

    private static boolean isRest(Render render, Object value, Object divisor, Object rest) {
        return Comparisons.areEqual(render, Arithmetic.modulo(render, value, divisor), rest);
    }

    /** Python's {@code is}, which depends on the interpreter but for the values that there is one of. */
    private static boolean areSame(Render render, Object a, Object b) {
        if (a instanceof Long && b instanceof Long || a instanceof String && b instanceof String) {
            return Comparisons.areEqual(render, a, b);
        }
        return a == b || a instanceof Boolean && a.equals(b);
    }
}
