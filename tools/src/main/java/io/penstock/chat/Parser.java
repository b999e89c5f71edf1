// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.chat.Lexer.Kind;
import io.penstock.chat.Lexer.Token;
import io.penstock.chat.Scope.Branches;
import io.penstock.chat.Scope.Event;
import io.penstock.chat.Scope.Reference;
import io.penstock.chat.Scope.Use;
import io.penstock.chat.Statement.MacroBody;
import io.penstock.chat.Statement.Target;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** Reads the statements of a template, by recursive descent as Jinja's own parser does. */
final class Parser {

    /** A template that is read: its statements, and the scope that they run in. */
    record Parsed(Scope scope, Statement[] body, boolean hasGeneration) {
    }

    private static final int MOST_DEPTH = 100;
    private static final Set<String> SPECIAL = Set.of("caller", "kwargs", "varargs");

    /** Notes which of some names are read in a body before they are set there. */
    private record Watch(Set<String> names, Set<String> found) {
    }

    final String source;
    private final List<Token> tokens;
    private final ExpressionParser expressions;
    private final List<Watch> watches = new ArrayList<>();
    private final Map<String, Integer> firstRead = new HashMap<>();
    private Scope scope = Scope.root();
    private List<Event> events = scope.events();
    private int next;
    private int depth;
    /** The loops around this place within its function, and in all. */
    private int loops;
    private int allLoops;
    private boolean hasGeneration;

    private Parser(String source) {
        this.source = source;
        this.tokens = Lexer.tokens(source);
        this.expressions = new ExpressionParser(this);
    }

    /** Reads a {@link Lexer#normalized} template. */
    static Parsed parse(String source) {
        Parser parser = new Parser(source);
        Statement[] body = parser.statements(Set.of());
        parser.scope.resolve();
        for (String name : parser.scope.inputs().keySet()) {
            if (Functions.UNSUPPORTED.contains(name)) {
                throw parser.error(parser.firstRead.get(name), "'" + name + "' is not supported");
            }
        }
        return new Parsed(parser.scope, body, parser.hasGeneration);
    }

    // Tokens.

    Token peek() {
        return tokens.get(next);
    }

    Token peekSecond() {
        return tokens.get(Math.min(next + 1, tokens.size() - 1));
    }

    Token take() {
        Token token = peek();
        next += token.kind() == Kind.END ? 0 : 1;
        return token;
    }

    boolean takeName(String name) {
        return takeIf(Kind.NAME, name);
    }

    boolean takeOperator(String operator) {
        return takeIf(Kind.OPERATOR, operator);
    }

    private boolean takeIf(Kind kind, String text) {
        boolean is = peek().is(kind, text);
        next += is ? 1 : 0;
        return is;
    }

    Token expect(Kind kind, String expected) {
        Token token = take();
        if (token.kind() != kind) {
            throw error(token.at(), "found " + token.shown() + ", expected " + expected);
        }
        return token;
    }

    void expectOperator(String operator) {
        if (!takeOperator(operator)) {
            throw error(peek().at(), "found " + peek().shown() + ", expected '" + operator + "'");
        }
    }

    private void expectBlockEnd() {
        expect(Kind.BLOCK_END, "'%}'");
    }

    ChatTemplateException error(int at, String problem) {
        return ChatTemplateException.at(source, at, problem);
    }

    /** Reads what is nested one level deeper. */
    <T> T nested(Supplier<T> reader) {
        if (++depth > MOST_DEPTH) {
            throw error(peek().at(), "more than " + MOST_DEPTH + " levels of nesting");
        }
        T read = reader.get();
        depth--;
        return read;
    }

    // Variables.

    /** Notes that a name is read. */
    Reference read(Token name) {
        firstRead.putIfAbsent(name.text(), name.at());
        for (Watch watch : watches) {
            if (watch.names.contains(name.text())) {
                watch.found.add(name.text());
            }
        }
        return note(name.text(), Use.READ);
    }

    private Reference set(Token name, Use use) {
        if (use == Use.SET && allLoops > 0 && name.text().equals("loop")) {
            throw error(name.at(), "a loop cannot set 'loop'");
        }
        watches.forEach(watch -> watch.names.remove(name.text()));
        return note(name.text(), use);
    }

    private Reference note(String name, Use use) {
        Reference reference = new Reference(name, use);
        events.add(reference);
        return reference;
    }

    private <T> T within(Scope inner, Supplier<T> reader) {
        Scope outer = scope;
        scope = inner;
        T read = noting(inner.events(), reader);
        scope = outer;
        return read;
    }

    /** Reads something whose events go to a list. */
    private <T> T noting(List<Event> list, Supplier<T> reader) {
        List<Event> before = events;
        events = list;
        T read = reader.get();
        events = before;
        return read;
    }

    private <T> T watching(Set<String> names, Set<String> found, Supplier<T> reader) {
        watches.add(new Watch(new HashSet<>(names), found));
        T read = reader.get();
        watches.removeLast();
        return read;
    }

    // Statements.

    /** Reads statements up to a block that begins with one of some names, which is left at that name. */
    private Statement[] statements(Set<String> ends) {
        List<Statement> statements = new ArrayList<>();
        while (true) {
            Token token = take();
            switch (token.kind()) {
                case DATA -> statements.add(new Statement.Data(token.text()));
                case PRINT_BEGIN -> {
                    statements.add(new Statement.Print(token.at(), expressions.tuple(true, Set.of())));
                    expect(Kind.PRINT_END, "'}}'");
                }
                case BLOCK_BEGIN -> {
                    if (peek().kind() == Kind.NAME && ends.contains(peek().text())) {
                        return statements.toArray(new Statement[0]);
                    }
                    statements.add(nested(this::statement));
                    expectBlockEnd();
                }
                default -> {
                    if (!ends.isEmpty()) {
                        throw error(token.at(), "found the end of the template, expected one of the tags "
                                + ends.stream().sorted().toList());
                    }
                    return statements.toArray(new Statement[0]);
                }
            }
        }
    }

    /** Reads the body of a block and its end, up to the end of that tag. */
    private Statement[] body(String end) {
        Statement[] body = bodyUpTo(Set.of(end));
        take();
        return body;
    }

    private Statement[] bodyUpTo(Set<String> ends) {
        takeOperator(":");
        expectBlockEnd();
        return statements(ends);
    }

    private Statement statement() {
        Token tag = expect(Kind.NAME, "the name of a tag");
        return switch (tag.text()) {
            case "set" -> assignment(tag.at());
            case "if" -> condition(tag.at());
            case "for" -> loop(tag.at());
            case "macro" -> macro(tag.at());
            case "call" -> callBlock(tag.at());
            case "filter" -> filterBlock(tag.at());
            case "with" -> with(tag.at());
            case "generation" -> generation();
            case "print" -> print(tag.at());
            case "break", "continue" -> {
                if (loops == 0) {
                    throw error(tag.at(), "'" + tag.text() + "' is outside of a loop");
                }
                yield new Statement.Jump(tag.text().equals("break") ? Statement.BREAK : Statement.CONTINUE);
            }
            default -> throw error(tag.at(), "the tag '" + tag.text() + "' is not supported here");
        };
    }

    private Statement print(int at) {
        List<Statement> prints = new ArrayList<>();
        while (peek().kind() != Kind.BLOCK_END) {
            if (!prints.isEmpty()) {
                expectOperator(",");
            }
            prints.add(new Statement.Print(at, expressions.expression()));
        }
        return new Statement.If(new Statement.Branch[0], prints.toArray(new Statement[0]));
    }

    private Statement assignment(int at) {
        List<Event> ofTarget = new ArrayList<>();
        Target target = noting(ofTarget, () -> target(Use.SET, true, Set.of()));
        if (takeOperator("=")) {
            Expression value = expressions.tuple(true, Set.of());
            events.addAll(ofTarget);
            return new Statement.Assignment(at, target, value);
        }
        events.addAll(ofTarget);
        Scope inner = scope.inner(false);
        List<Expression.Filtered> filters = within(inner, () -> expressions.filters(false));
        Statement[] body = within(inner, () -> body("endset"));
        return new Statement.Capture(at, inner, body, filters, target);
    }

    private Statement filterBlock(int at) {
        Scope inner = scope.inner(false);
        List<Event> ofFilters = new ArrayList<>();
        List<Expression.Filtered> filters = noting(ofFilters, () -> expressions.filters(true));
        events.addAll(ofFilters);
        Statement[] body = within(inner, () -> body("endfilter"));
        inner.events().addAll(ofFilters);
        return new Statement.Capture(at, inner, body, filters, null);
    }

    private Statement condition(int at) {
        List<Statement.Branch> branches = new ArrayList<>();
        Expression test = expressions.tuple(false, Set.of());
        Set<String> ends = Set.of("elif", "else", "endif");
        List<Event> first = new ArrayList<>();
        List<Event> others = new ArrayList<>();
        List<Event> last = new ArrayList<>();
        branches.add(new Statement.Branch(at, test, noting(first, () -> bodyUpTo(ends))));
        while (peek().is(Kind.NAME, "elif")) {
            int elif = take().at();
            Expression other = noting(others, () -> expressions.tuple(false, Set.of()));
            List<Event> way = new ArrayList<>();
            branches.add(new Statement.Branch(elif, other, noting(way, () -> bodyUpTo(ends))));
            others.add(new Branches(List.of(way)));
        }
        Statement[] otherwise = take().text().equals("else") ? noting(last, () -> body("endif")) : new Statement[0];
        events.add(new Branches(List.of(first, others, last)));
        return new Statement.If(branches.toArray(new Statement.Branch[0]), otherwise);
    }

    private Statement loop(int at) {
        allLoops++;
        Scope inner = scope.inner(false);
        int targetAt = next;
        Target target = within(inner, () -> loopTarget());
        Expression items = expressions.tuple(false, Set.of("recursive"));
        Statement.LoopFilter filter = null;
        if (takeName("if")) {
            int testAt = next;
            Scope tested = scope.inner(false);
            next = targetAt;
            Target copy = within(tested, () -> loopTarget());
            next = testAt;
            filter = new Statement.LoopFilter(tested, copy, within(tested, expressions::expression));
        }
        if (peek().is(Kind.NAME, "recursive")) {
            throw error(peek().at(), "a recursive loop is not supported");
        }
        Set<String> found = new HashSet<>();
        loops++;
        Statement[] body = within(inner, () -> watching(Set.of("loop"), found,
                () -> bodyUpTo(Set.of("endfor", "else"))));
        loops--;
        Reference loop = found.isEmpty() ? null
                : within(inner, () -> note("loop", Use.PARAMETER));
        Scope other = scope.inner(false);
        Statement[] otherwise = take().text().equals("else") ? within(other, () -> body("endfor"))
                : new Statement[0];
        allLoops--;
        return new Statement.For(at, inner, target, items, filter, loop, body, other, otherwise);
    }

    private Target loopTarget() {
        Target target = target(Use.PARAMETER, false, Set.of("in"));
        if (!takeName("in")) {
            throw error(peek().at(), "found " + peek().shown() + ", expected 'in'");
        }
        return target;
    }

    private Statement with(int at) {
        List<Target> targets = new ArrayList<>();
        List<Expression> values = new ArrayList<>();
        Scope inner = scope.inner(false);
        while (peek().kind() != Kind.BLOCK_END && !peek().is(Kind.OPERATOR, ":")) {
            if (!targets.isEmpty()) {
                expectOperator(",");
            }
            targets.add(within(inner, () -> target(Use.PARAMETER, false, Set.of())));
            expectOperator("=");
            values.add(expressions.expression());
        }
        Statement[] body = within(inner, () -> body("endwith"));
        return new Statement.With(at, inner, targets.toArray(new Target[0]), values.toArray(new Expression[0]), body);
    }

    private Statement generation() {
        hasGeneration = true;
        Scope inner = scope.inner(true);
        return new Statement.Generation(inner, within(inner, () -> functionBody("endgeneration")));
    }

    /** Reads a body that is a function, which loops outside of it do not see. */
    private Statement[] functionBody(String end) {
        int outside = loops;
        loops = 0;
        Statement[] body = body(end);
        loops = outside;
        return body;
    }

    private Statement macro(int at) {
        Token name = expect(Kind.NAME, "the name of a macro");
        requireAssignable(name);
        Reference reference = set(name, Use.SET);
        Signature signature = new Signature(scope.inner(true));
        within(signature.inner, () -> signature.read());
        return new Statement.Definition(reference, signature.macro(at, name.text(), "endmacro"));
    }

    private Statement callBlock(int at) {
        Signature signature = new Signature(scope.inner(true));
        if (peek().is(Kind.OPERATOR, "(")) {
            within(signature.inner, () -> signature.read());
        }
        if (!(expressions.expression() instanceof Expression.Call call)) {
            throw error(at, "the tag 'call' needs a call");
        }
        MacroBody caller = signature.macro(at, "caller", "endcall");
        return new Statement.Print(at, new Expression.Call(call.at(), call.function(), call.passed(), caller));
    }

    /** The parameters of a macro or call block, and its body. */
    private final class Signature {
        private final Scope inner;
        private final List<String> names = new ArrayList<>();
        private final List<Reference> parameters = new ArrayList<>();
        private final List<Expression> defaults = new ArrayList<>();

        Signature(Scope inner) {
            this.inner = inner;
        }

        boolean read() {
            expectOperator("(");
            while (!takeOperator(")")) {
                if (!names.isEmpty()) {
                    expectOperator(",");
                }
                Token name = expect(Kind.NAME, "the name of a parameter");
                requireAssignable(name);
                if (names.contains(name.text())) {
                    throw error(name.at(), "the parameter '" + name.text() + "' is there twice");
                }
                names.add(name.text());
                parameters.add(set(name, Use.PARAMETER));
                if (takeOperator("=")) {
                    defaults.add(expressions.expression());
                } else if (!defaults.isEmpty()) {
                    throw error(name.at(), "a parameter without a default stands behind one with a default");
                }
            }
            return true;
        }

        MacroBody macro(int at, String name, String end) {
            Set<String> found = new HashSet<>();
            Statement[] body = within(inner, () -> watching(SPECIAL, found, () -> functionBody(end)));
            Reference[] special = new Reference[SPECIAL.size()];
            int index = 0;
            for (String each : List.of("caller", "kwargs", "varargs")) {
                boolean isSpecial = found.contains(each) && !names.contains(each);
                special[index++] = isSpecial ? within(inner, () -> note(each, Use.PARAMETER)) : null;
            }
            return new MacroBody(at, name, inner, names, parameters.toArray(new Reference[0]),
                    defaults.toArray(new Expression[0]), special, body);
        }
    }

    private void requireAssignable(Token name) {
        if (ExpressionParser.isConstant(name.text())) {
            throw error(name.at(), "cannot assign to '" + name.text() + "'");
        }
    }

    // Targets.

    /** Reads a target: a name, an attribute of a namespace if that may be, or several with commas. */
    private Target target(Use use, boolean mayBeAttribute, Set<String> ends) {
        List<Target> targets = new ArrayList<>();
        boolean isTuple = false;
        while (!isTargetEnd(ends)) {
            targets.add(single(use, mayBeAttribute));
            if (!takeOperator(",")) {
                break;
            }
            isTuple = true;
        }
        if (targets.isEmpty()) {
            throw error(peek().at(), "found " + peek().shown() + ", expected a name to assign to");
        }
        return isTuple ? new Statement.Names(targets.toArray(new Target[0])) : targets.getFirst();
    }

    private boolean isTargetEnd(Set<String> ends) {
        Token token = peek();
        return token.kind() == Kind.BLOCK_END || token.is(Kind.OPERATOR, ")")
                || token.kind() == Kind.NAME && ends.contains(token.text());
    }

    private Target single(Use use, boolean mayBeAttribute) {
        if (takeOperator("(")) {
            Target target = nested(() -> target(use, mayBeAttribute, Set.of()));
            expectOperator(")");
            return target;
        }
        Token name = expect(Kind.NAME, "a name to assign to");
        requireAssignable(name);
        if (mayBeAttribute && takeOperator(".")) {
            Token attribute = expect(Kind.NAME, "the name of an attribute");
            return new Statement.Attribute(new Expression.Variable(note(name.text(), Use.READ)), attribute.text());
        }
        if (use == Use.PARAMETER && allLoops > 0 && name.text().equals("loop")) {
            throw error(name.at(), "a loop cannot set 'loop'");
        }
        return new Statement.Name(set(name, use));
    }
}
