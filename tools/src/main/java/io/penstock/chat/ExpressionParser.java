// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.chat.Lexer.Kind;
import io.penstock.chat.Lexer.Token;
import io.penstock.chat.Values.Undefined;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads expressions, with the precedence that Jinja has: {@code or, and, not, comparison, + -, ~, * / // %, **}. */
final class ExpressionParser {

    private static final Set<String> COMPARISONS = Set.of("==", "!=", "<", "<=", ">", ">=");
    private static final Expression.Passed NOTHING = new Expression.Passed(new Expression[0], Map.of(), null, null);

    private final Parser parser;

    ExpressionParser(Parser parser) {
        this.parser = parser;
    }

    /** Whether a name is that of a literal. */
    static boolean isConstant(String name) {
        return switch (name) {
            case "true", "True", "false", "False", "none", "None" -> true;
            default -> false;
        };
    }

    /** Reads an expression, or several with commas, which are a tuple; a conditional one only if that may be. */
    Expression tuple(boolean mayBeConditional, Set<String> ends) {
        return tuple(mayBeConditional, ends, false);
    }

    private Expression tuple(boolean mayBeConditional, Set<String> ends, boolean mayBeEmpty) {
        List<Expression> items = new ArrayList<>();
        boolean isTuple = false;
        while (!isTupleEnd(ends)) {
            items.add(parser.nested(() -> mayBeConditional ? conditional() : either()));
            if (!parser.takeOperator(",")) {
                break;
            }
            isTuple = true;
        }
        if (!isTuple && !items.isEmpty()) {
            return items.getFirst();
        }
        if (!isTuple && !mayBeEmpty) {
            throw parser.error(parser.peek().at(), "found " + parser.peek().shown() + ", expected an expression");
        }
        return new Expression.Sequence(array(items), true);
    }

    private boolean isTupleEnd(Set<String> ends) {
        Token token = parser.peek();
        return token.kind() == Kind.PRINT_END || token.kind() == Kind.BLOCK_END || token.is(Kind.OPERATOR, ")")
                || token.kind() == Kind.NAME && ends.contains(token.text());
    }

    private static Expression[] array(List<Expression> expressions) {
        return expressions.toArray(new Expression[0]);
    }

    Expression expression() {
        return parser.nested(this::conditional);
    }

    private Expression conditional() {
        Expression value = either();
        while (parser.takeName("if")) {
            Expression test = either();
            Expression otherwise = parser.takeName("else") ? parser.nested(this::conditional)
                    : new Expression.Constant(new Undefined("the condition is false and there is no 'else'"));
            value = new Expression.Choice(test, value, otherwise);
        }
        return value;
    }

    private Expression either() {
        Expression left = both();
        while (parser.takeName("or")) {
            left = new Expression.Junction(left, false, both());
        }
        return left;
    }

    private Expression both() {
        Expression left = negation();
        while (parser.takeName("and")) {
            left = new Expression.Junction(left, true, negation());
        }
        return left;
    }

    private Expression negation() {
        return parser.takeName("not") ? new Expression.Not(parser.nested(this::negation)) : comparison();
    }

    private Expression comparison() {
        Expression first = sum();
        List<String> operators = new ArrayList<>();
        List<Expression> others = new ArrayList<>();
        for (String operator = comparisonOperator(); operator != null; operator = comparisonOperator()) {
            operators.add(operator);
            others.add(sum());
        }
        return operators.isEmpty() ? first
                : new Expression.Comparison(first, operators.toArray(new String[0]), array(others));
    }

    private String comparisonOperator() {
        Token token = parser.peek();
        if (token.kind() == Kind.OPERATOR && COMPARISONS.contains(token.text())) {
            return parser.take().text();
        }
        if (parser.takeName("in")) {
            return "in";
        }
        if (token.is(Kind.NAME, "not") && parser.peekSecond().is(Kind.NAME, "in")) {
            parser.take();
            parser.take();
            return "not in";
        }
        return null;
    }

    private Expression sum() {
        List<Expression> terms = new ArrayList<>(List.of(concatenation()));
        while (true) {
            if (parser.takeOperator("+")) {
                terms.add(concatenation());
            } else if (parser.takeOperator("-")) {
                Expression left = sum(terms);
                terms = new ArrayList<>(List.of(new Expression.Binary(left, "-", concatenation())));
            } else {
                return sum(terms);
            }
        }
    }

    private static Expression sum(List<Expression> terms) {
        return terms.size() == 1 ? terms.getFirst() : new Expression.Sum(array(terms));
    }

    private Expression concatenation() {
        List<Expression> parts = new ArrayList<>(List.of(product()));
        while (parser.takeOperator("~")) {
            parts.add(product());
        }
        return parts.size() == 1 ? parts.getFirst() : new Expression.Concatenation(array(parts));
    }

    private Expression product() {
        Expression left = power();
        while (true) {
            Token token = parser.peek();
            if (token.kind() != Kind.OPERATOR || !Set.of("*", "/", "//", "%").contains(token.text())) {
                return left;
            }
            left = new Expression.Binary(left, parser.take().text(), power());
        }
    }

    private Expression power() {
        Expression left = unary(true);
        while (parser.takeOperator("**")) {
            left = new Expression.Binary(left, "**", unary(true));
        }
        return left;
    }

    private Expression unary(boolean takesFilters) {
        Expression value;
        if (parser.takeOperator("-")) {
            value = new Expression.Signed(true, parser.nested(() -> unary(false)));
        } else if (parser.takeOperator("+")) {
            value = new Expression.Signed(false, parser.nested(() -> unary(false)));
        } else {
            value = primary();
        }
        value = postfix(value);
        return takesFilters ? filtered(value) : value;
    }

    private Expression primary() {
        Token token = parser.take();
        switch (token.kind()) {
            case NAME -> {
                return isConstant(token.text()) ? new Expression.Constant(constant(token.text()))
                        : new Expression.Variable(parser.read(token));
            }
            case STRING -> {
                StringBuilder text = new StringBuilder(token.text());
                while (parser.peek().kind() == Kind.STRING) {
                    text.append(parser.take().text());
                }
                return new Expression.Constant(text.toString());
            }
            case NUMBER -> {
                return new Expression.Constant(token.number());
            }
            case OPERATOR -> {
                switch (token.text()) {
                    case "(" -> {
                        Expression inside = tuple(true, Set.of(), true);
                        parser.expectOperator(")");
                        return inside;
                    }
                    case "[" -> {
                        return new Expression.Sequence(array(list()), false);
                    }
                    case "{" -> {
                        return dict();
                    }
                    default -> { }
                }
            }
            default -> { }
        }
        throw parser.error(token.at(), "found " + token.shown() + ", expected an expression");
    }

    private static Object constant(String name) {
        return switch (name) {
            case "true", "True" -> Boolean.TRUE;
            case "false", "False" -> Boolean.FALSE;
            default -> null;
        };
    }

    private List<Expression> list() {
        List<Expression> items = new ArrayList<>();
        while (!parser.takeOperator("]")) {
            if (!items.isEmpty()) {
                parser.expectOperator(",");
                if (parser.takeOperator("]")) {
                    break;
                }
            }
            items.add(expression());
        }
        return items;
    }

    private Expression dict() {
        List<Expression> keys = new ArrayList<>();
        List<Expression> values = new ArrayList<>();
        while (!parser.takeOperator("}")) {
            if (!keys.isEmpty()) {
                parser.expectOperator(",");
                if (parser.takeOperator("}")) {
                    break;
                }
            }
            keys.add(expression());
            parser.expectOperator(":");
            values.add(expression());
        }
        return new Expression.Dict(array(keys), array(values));
    }

    private Expression postfix(Expression operand) {
        Expression value = operand;
        while (true) {
            int at = parser.peek().at();
            if (parser.takeOperator(".")) {
                Token name = parser.take();
                if (name.kind() != Kind.NAME && !(name.kind() == Kind.NUMBER && name.number() instanceof Long)) {
                    throw parser.error(name.at(), "found " + name.shown() + ", expected a name or a whole number");
                }
                value = name.kind() == Kind.NAME ? new Expression.Member(value, name.text())
                        : new Expression.Item(value, new Expression.Constant(name.number()));
            } else if (parser.takeOperator("[")) {
                value = item(value);
            } else if (parser.peek().is(Kind.OPERATOR, "(")) {
                value = call(at, value);
            } else {
                return value;
            }
        }
    }

    private Expression call(int at, Expression function) {
        if (function instanceof Expression.Member member && Members.isUnsupportedMethod(member.name())) {
            throw parser.error(at, "the method '" + member.name() + "' is not supported");
        }
        return new Expression.Call(at, function, passed(), null);
    }

    /** Reads what is between brackets: a key, several with commas, or a slice. */
    private Expression item(Expression object) {
        int at = parser.peek().at();
        Expression from = parser.peek().is(Kind.OPERATOR, ":") ? null : expression();
        if (!parser.takeOperator(":")) {
            List<Expression> keys = new ArrayList<>(List.of(from));
            boolean isTuple = false;
            while (!parser.takeOperator("]")) {
                parser.expectOperator(",");
                isTuple = true;
                keys.add(expression());
            }
            return new Expression.Item(object, isTuple ? new Expression.Sequence(array(keys), true) : from);
        }
        Expression to = sliceBound();
        Expression step = parser.takeOperator(":") ? sliceBound() : null;
        if (!parser.takeOperator("]")) {
            throw parser.error(at, "found " + parser.peek().shown() + " in a slice, expected ']'");
        }
        return new Expression.Slice(object, from, to, step);
    }

    private Expression sliceBound() {
        Token token = parser.peek();
        return token.is(Kind.OPERATOR, ":") || token.is(Kind.OPERATOR, "]") ? null : expression();
    }

    private Expression.Passed passed() {
        int at = parser.peek().at();
        parser.expectOperator("(");
        List<Expression> positional = new ArrayList<>();
        Map<String, Expression> named = new LinkedHashMap<>();
        Expression list = null;
        Expression dict = null;
        boolean isFirst = true;
        while (!parser.takeOperator(")")) {
            if (!isFirst) {
                parser.expectOperator(",");
                if (parser.takeOperator(")")) {
                    break;
                }
            }
            isFirst = false;
            boolean isValid;
            if (parser.takeOperator("*")) {
                isValid = list == null && dict == null;
                list = expression();
            } else if (parser.takeOperator("**")) {
                isValid = dict == null;
                dict = expression();
            } else if (parser.peek().kind() == Kind.NAME && parser.peekSecond().is(Kind.OPERATOR, "=")) {
                String name = parser.take().text();
                parser.take();
                isValid = dict == null && !named.containsKey(name);
                named.put(name, expression());
            } else {
                isValid = list == null && dict == null && named.isEmpty();
                positional.add(expression());
            }
            if (!isValid) {
                throw parser.error(at, "the arguments are out of order, or one is there twice");
            }
        }
        return isFirst ? NOTHING : new Expression.Passed(array(positional), named, list, dict);
    }

    private Expression filtered(Expression operand) {
        Expression value = operand;
        while (true) {
            Token token = parser.peek();
            if (parser.takeOperator("|")) {
                value = filter(value);
            } else if (parser.takeName("is")) {
                value = test(value);
            } else if (token.is(Kind.OPERATOR, "(")) {
                value = call(token.at(), value);
            } else {
                return value;
            }
        }
    }

    /** Reads the filters of a block, {@code |a|b}, or {@code a|b} if there must be one. */
    List<Expression.Filtered> filters(boolean isNeeded) {
        List<Expression.Filtered> filters = new ArrayList<>();
        while (isNeeded && filters.isEmpty() || parser.takeOperator("|")) {
            filters.add(filter(null));
        }
        return filters;
    }

    private Expression.Filtered filter(Expression operand) {
        Token name = parser.expect(Kind.NAME, "the name of a filter");
        Filters.Filter filter = Filters.find(name.text());
        if (filter == null || parser.peek().is(Kind.OPERATOR, ".")) {
            throw parser.error(name.at(), "the filter '" + name.text() + "' is not supported");
        }
        Expression.Passed passed = parser.peek().is(Kind.OPERATOR, "(") ? passed() : NOTHING;
        requireNamed(name, passed);
        return new Expression.Filtered(name.at(), operand, filter, passed);
    }

    /** Refuses {@code map}, {@code select} and so on by the name of a filter or test that is not supported. */
    private void requireNamed(Token filter, Expression.Passed passed) {
        int index = filter.text().endsWith("attr") ? 1 : 0;
        if (passed.positional().length <= index
                || !(passed.positional()[index] instanceof Expression.Constant constant)
                || !(constant.value() instanceof String name)) {
            return;
        }
        boolean isKnown = switch (filter.text()) {
            case "map" -> Filters.find(name) != null;
            case "select", "reject", "selectattr", "rejectattr" -> Tests.find(name) != null;
            default -> true;
        };
        if (!isKnown) {
            throw parser.error(filter.at(), "'" + name + "' of '" + filter.text() + "' is not supported");
        }
    }

    private Expression test(Expression operand) {
        boolean isNegated = parser.takeName("not");
        Token name = parser.expect(Kind.NAME, "the name of a test");
        Filters.Test test = Tests.find(name.text());
        if (test == null || parser.peek().is(Kind.OPERATOR, ".")) {
            throw parser.error(name.at(), "the test '" + name.text() + "' is not supported");
        }
        Expression tested = new Expression.Tested(name.at(), operand, test, testArguments());
        return isNegated ? new Expression.Not(tested) : tested;
    }

    private Expression.Passed testArguments() {
        Token token = parser.peek();
        if (token.is(Kind.OPERATOR, "(")) {
            return passed();
        }
        boolean isArgument = switch (token.kind()) {
            case NAME -> !Set.of("else", "or", "and").contains(token.text());
            case STRING, NUMBER -> true;
            case OPERATOR -> token.text().equals("[") || token.text().equals("{");
            default -> false;
        };
        if (!isArgument) {
            return NOTHING;
        }
        if (token.is(Kind.NAME, "is")) {
            throw parser.error(token.at(), "tests cannot follow each other; put the first one in parentheses");
        }
        Expression argument = parser.nested(() -> postfix(primary()));
        return new Expression.Passed(new Expression[] {argument}, Map.of(), null, null);
    }
}
