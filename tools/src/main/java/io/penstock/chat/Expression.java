// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.chat.Scope.Reference;
import io.penstock.chat.Values.Undefined;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A part of a template that has a value. */
interface Expression {

    Object value(Frame frame);

    /** Writes the value's text. */
    default void print(Frame frame) {
        frame.write(value(frame));
    }

    private static Object[] values(Expression[] expressions, Frame frame) {
        Object[] values = new Object[expressions.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = expressions[i].value(frame);
        }
        return values;
    }

    /** A literal. */
    record Constant(Object value) implements Expression {
        @Override
        public Object value(Frame frame) {
            return value;
        }
    }

    /** A variable. */
    record Variable(Reference reference, Undefined undefined) implements Expression {

        Variable(Reference reference) {
            this(reference, new Undefined("'" + reference.name + "' is undefined"));
        }

        @Override
        public Object value(Frame frame) {
            Object value = reference.get(frame);
            return value == Values.MISSING ? undefined : value;
        }
    }

    /** A tuple or list of expressions. */
    record Sequence(Expression[] items, boolean isTuple) implements Expression {
        @Override
        public Object value(Frame frame) {
            Object[] values = values(items, frame);
            return isTuple ? new Tuple(values) : new ArrayList<>(Arrays.asList(values));
        }
    }

    /** A dict of expressions. */
    record Dict(Expression[] keys, Expression[] items) implements Expression {
        @Override
        public Object value(Frame frame) {
            Map<Object, Object> map = Values.dict();
            for (int i = 0; i < keys.length; i++) {
                Values.put(map, keys[i].value(frame), items[i].value(frame));
            }
            return map;
        }
    }

    /** {@code a + b + c}, from the left. Strings, the usual case, are joined once, or written one by one. */
    record Sum(Expression[] terms) implements Expression {
        @Override
        public Object value(Frame frame) {
            Object[] values = values(terms, frame);
            int chars = chars(values);
            if (chars < 0 || values.length == 2) {
                return folded(frame, values);
            }
            frame.render.grow(chars);
            StringBuilder joined = new StringBuilder(chars);
            for (Object value : values) {
                joined.append((String) value);
            }
            return joined.toString();
        }

        @Override
        public void print(Frame frame) {
            Object[] values = values(terms, frame);
            if (chars(values) < 0) {
                frame.write(folded(frame, values));
                return;
            }
            for (Object value : values) {
                frame.write(value);
            }
        }

        private static int chars(Object[] values) {
            long chars = 0;
            for (Object value : values) {
                if (!(value instanceof String text)) {
                    return -1;
                }
                chars += text.length();
            }
            return chars > Integer.MAX_VALUE ? -1 : (int) chars;
        }

        private static Object folded(Frame frame, Object[] values) {
            Object sum = values[0];
            for (int i = 1; i < values.length; i++) {
                sum = Arithmetic.add(frame.render, sum, values[i]);
            }
            return sum;
        }
    }

    /** An operator of arithmetic other than a sum. */
    record Binary(Expression left, String operator, Expression right) implements Expression {
        @Override
        public Object value(Frame frame) {
            Object a = left.value(frame);
            Object b = right.value(frame);
            return switch (operator) {
                case "-" -> Arithmetic.subtract(a, b);
                case "*" -> Arithmetic.multiply(frame.render, a, b);
                case "/" -> Arithmetic.divide(a, b);
                case "//" -> Arithmetic.floorDivide(a, b);
                case "%" -> Arithmetic.modulo(frame.render, a, b);
                default -> Arithmetic.power(a, b);
            };
        }
    }

    /** A sign. */
    record Signed(boolean isMinus, Expression operand) implements Expression {
        @Override
        public Object value(Frame frame) {
            Object value = operand.value(frame);
            return isMinus ? Arithmetic.negate(value) : Arithmetic.plus(value);
        }
    }

    /** {@code a ~ b ~ c}: the texts, joined. */
    record Concatenation(Expression[] parts) implements Expression {
        @Override
        public Object value(Frame frame) {
            StringBuilder joined = new StringBuilder();
            for (Object value : values(parts, frame)) {
                Values.appendText(value, joined);
            }
            frame.render.grow(joined.length());
            return joined.toString();
        }

        @Override
        public void print(Frame frame) {
            for (Object value : values(parts, frame)) {
                frame.write(value);
            }
        }
    }

    /** {@code not}. */
    record Not(Expression operand) implements Expression {
        @Override
        public Object value(Frame frame) {
            return !Values.isTrue(operand.value(frame));
        }
    }

    /** {@code and} or {@code or}, which give one of the values. */
    record Junction(Expression left, boolean isAnd, Expression right) implements Expression {
        @Override
        public Object value(Frame frame) {
            Object value = left.value(frame);
            return Values.isTrue(value) == isAnd ? right.value(frame) : value;
        }
    }

    /** {@code a < b == c}: all neighbours compare so; stops at the first that do not. */
    record Comparison(Expression first, String[] operators, Expression[] others) implements Expression {
        @Override
        public Object value(Frame frame) {
            Object left = first.value(frame);
            for (int i = 0; i < operators.length; i++) {
                Object right = others[i].value(frame);
                if (!holds(frame, left, operators[i], right)) {
                    return false;
                }
                left = right;
            }
            return true;
        }

        private static boolean holds(Frame frame, Object left, String operator, Object right) {
            Render render = frame.render;
            return switch (operator) {
                case "==" -> Comparisons.areEqual(render, left, right);
                case "!=" -> !Comparisons.areEqual(render, left, right);
                case "in" -> Comparisons.contains(render, right, left);
                case "not in" -> !Comparisons.contains(render, right, left);
                default -> Comparisons.isOrdered(render, left, operator, right);
            };
        }
    }

    /** {@code a if test else b}. */
    record Choice(Expression test, Expression yes, Expression no) implements Expression {
        @Override
        public Object value(Frame frame) {
            return (Values.isTrue(test.value(frame)) ? yes : no).value(frame);
        }

        @Override
        public void print(Frame frame) {
            (Values.isTrue(test.value(frame)) ? yes : no).print(frame);
        }
    }

    /** {@code a.name}; {@code isItem} if no dict has an attribute of the name, so that it is an item of one. */
    record Member(Expression object, String name, boolean isItem) implements Expression {

        Member(Expression object, String name) {
            this(object, name, !Members.isAttributeOfDict(name));
        }

        @Override
        public Object value(Frame frame) {
            Object of = object.value(frame);
            Object item = isItem && of instanceof Map<?, ?> map ? map.get(name) : null;
            return item != null ? item : Members.attribute(of, name);
        }
    }

    /** {@code a[key]}. */
    record Item(Expression object, Expression key) implements Expression {
        @Override
        public Object value(Frame frame) {
            Object of = object.value(frame);
            if (of instanceof String text) {
                frame.render.read(text.length());
            }
            return Members.item(of, key.value(frame));
        }
    }

    /** {@code a[from:to:step]}, each of which may be null. */
    record Slice(Expression object, Expression from, Expression to, Expression step) implements Expression {
        @Override
        public Object value(Frame frame) {
            Object of = object.value(frame);
            return Members.slice(frame.render, of, bound(from, frame), bound(to, frame), bound(step, frame));
        }

        private static Object bound(Expression expression, Frame frame) {
            return expression == null ? null : expression.value(frame);
        }
    }

    /** What a call passes; {@code list} and {@code dict} are those of {@code *list} and {@code **dict}, or null. */
    record Passed(Expression[] positional, Map<String, Expression> named, Expression list, Expression dict) {

        Arguments arguments(Frame frame) {
            if (positional.length == 0 && named.isEmpty() && list == null && dict == null) {
                return Arguments.NONE;
            }
            Object[] values = values(positional, frame);
            Map<String, Object> byName = named.isEmpty() ? Map.of() : new LinkedHashMap<>();
            named.forEach((name, expression) -> byName.put(name, expression.value(frame)));
            if (list != null) {
                List<Object> all = new ArrayList<>(Arrays.asList(values));
                Values.iterator(list.value(frame)).forEachRemaining(all::add);
                values = all.toArray();
            }
            Arguments arguments = new Arguments(values, byName);
            if (dict != null) {
                if (!(dict.value(frame) instanceof Map<?, ?> map)) {
                    throw Values.error("'**' needs a dict");
                }
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    arguments = arguments.with(Values.text(entry.getKey()), entry.getValue());
                }
            }
            return arguments;
        }
    }

    /** A call of a function or method; {@code caller} is the body of a call block, or null. */
    record Call(int at, Expression function, Passed passed, Statement.MacroBody caller) implements Expression {
        @Override
        public Object value(Frame frame) {
            Render render = frame.render;
            render.step();
            Object result;
            if (function instanceof Member member) {
                Object object = member.object().value(frame);
                Arguments arguments = arguments(frame);
                render.at = at;
                result = Members.call(render, object, member.name(), arguments);
            } else {
                Values.Function called = called(function.value(frame));
                Arguments arguments = arguments(frame);
                render.at = at;
                result = called.call(render, arguments);
            }
            render.at = at;
            return result;
        }

        private Arguments arguments(Frame frame) {
            Arguments arguments = passed.arguments(frame);
            return caller == null ? arguments : arguments.with("caller", new Macro(caller, frame));
        }

        static Values.Function called(Object value) {
            Values.requireDefined(value);
            if (!(value instanceof Values.Function function)) {
                throw Values.error("cannot call " + Values.type(value));
            }
            return function;
        }
    }

    /** {@code a|name(…)}. */
    record Filtered(int at, Expression operand, Filters.Filter filter, Passed passed) implements Expression {
        @Override
        public Object value(Frame frame) {
            return apply(frame, operand.value(frame));
        }

        Object apply(Frame frame, Object value) {
            Arguments arguments = passed.arguments(frame);
            frame.render.at = at;
            return filter.apply(frame.render, value, arguments);
        }
    }

    /** {@code a is name(…)}. */
    record Tested(int at, Expression operand, Filters.Test test, Passed passed) implements Expression {
        @Override
        public Object value(Frame frame) {
            Object value = operand.value(frame);
            Arguments arguments = passed.arguments(frame);
            frame.render.at = at;
            return test.holds(frame.render, value, arguments);
        }
    }
}
