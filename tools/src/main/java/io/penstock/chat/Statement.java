// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.chat.Scope.Reference;
import io.penstock.chat.Values.Namespace;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** A part of a template that does something. It returns how to go on: {@link #NEXT}, or what a loop tag asks for. */
interface Statement {

    int NEXT = 0;
    int CONTINUE = 1;
    int BREAK = 2;

    int run(Frame frame);

    /** Runs statements until one does not end with {@link #NEXT}. */
    static int run(Statement[] statements, Frame frame) {
        for (Statement statement : statements) {
            frame.render.step();
            int end = statement.run(frame);
            if (end != NEXT) {
                return end;
            }
        }
        return NEXT;
    }

    /** Text outside of tags. */
    record Data(String text) implements Statement {
        @Override
        public int run(Frame frame) {
            frame.write(text);
            return NEXT;
        }
    }

    /** {@code {{ … }}}. */
    record Print(int at, Expression expression) implements Statement {
        @Override
        public int run(Frame frame) {
            frame.render.at = at;
            expression.print(frame);
            return NEXT;
        }
    }

    /** {@code break} or {@code continue}. */
    record Jump(int how) implements Statement {
        @Override
        public int run(Frame frame) {
            return how;
        }
    }

    /** What is assigned to. */
    sealed interface Target permits Name, Names, Attribute {
        void assign(Frame frame, Object value);
    }

    /** A variable. */
    record Name(Reference reference) implements Target {
        @Override
        public void assign(Frame frame, Object value) {
            reference.set(frame, value);
        }
    }

    /** Targets that share the items of a value. */
    record Names(Target[] targets) implements Target {
        @Override
        public void assign(Frame frame, Object value) {
            Iterator<?> items = Values.iterator(value);
            Object[] values = new Object[targets.length];
            int count = 0;
            for (; items.hasNext() && count < values.length; count++) {
                values[count] = items.next();
            }
            if (count < values.length || items.hasNext()) {
                throw Values.error("cannot unpack " + Values.type(value) + " of "
                        + (items.hasNext() ? "more than " + count : count) + " items into " + values.length);
            }
            for (int i = 0; i < values.length; i++) {
                targets[i].assign(frame, values[i]);
            }
        }
    }

    /** An attribute of a namespace. */
    record Attribute(Expression object, String name) implements Target {
        @Override
        public void assign(Frame frame, Object value) {
            namespace(frame).attributes().put(name, value);
        }

        Namespace namespace(Frame frame) {
            if (!(object.value(frame) instanceof Namespace namespace)) {
                throw Values.error("cannot set the attribute '" + name + "' of what is no namespace");
            }
            return namespace;
        }
    }

    /** {@code {% set target = … %}}. */
    record Assignment(int at, Target target, Expression expression) implements Statement {
        @Override
        public int run(Frame frame) {
            frame.render.at = at;
            if (target instanceof Attribute attribute) {
                attribute.namespace(frame);
            }
            target.assign(frame, expression.value(frame));
            return NEXT;
        }
    }

    /**
     * A block whose text is captured: put through filters, then assigned or, if there is no target, written. The
     * innermost filter of {@code filters} comes first.
     */
    record Capture(int at, Scope scope, Statement[] body, List<Expression.Filtered> filters, Target target)
            implements Statement {
        @Override
        public int run(Frame frame) {
            StringBuilder before = frame.out;
            frame.out = new StringBuilder();
            Object value;
            int end;
            try {
                scope.enter(frame);
                end = Statement.run(body, frame);
                value = frame.out.toString();
            } finally {
                frame.out = before;
            }
            if (end != NEXT) {
                return end;
            }
            frame.render.at = at;
            for (Expression.Filtered filter : filters) {
                value = filter.apply(frame, value);
            }
            if (target != null) {
                target.assign(frame, value);
            } else {
                frame.write(value);
            }
            return NEXT;
        }
    }

    /** A condition of an {@code if} and what it leads to. */
    record Branch(int at, Expression test, Statement[] body) {
    }

    /** {@code if}, {@code elif}, {@code else}. */
    record If(Branch[] branches, Statement[] otherwise) implements Statement {
        @Override
        public int run(Frame frame) {
            for (Branch branch : branches) {
                frame.render.at = branch.at();
                if (Values.isTrue(branch.test().value(frame))) {
                    return Statement.run(branch.body(), frame);
                }
            }
            return Statement.run(otherwise, frame);
        }
    }

    /** {@code {% with a = 1 %}}. */
    record With(int at, Scope scope, Target[] targets, Expression[] values, Statement[] body) implements Statement {
        @Override
        public int run(Frame frame) {
            frame.render.at = at;
            Object[] first = new Object[values.length];
            for (int i = 0; i < first.length; i++) {
                first[i] = values[i].value(frame);
            }
            scope.enter(frame);
            for (int i = 0; i < first.length; i++) {
                targets[i].assign(frame, first[i]);
            }
            return Statement.run(body, frame);
        }
    }

    /** The {@code if} of a loop: it sees the item by variables of its own. */
    record LoopFilter(Scope scope, Target target, Expression test) {

        Iterator<Object> select(Frame frame, Iterator<?> items) {
            scope.enter(frame);
            return new Selection(items, item -> {
                target.assign(frame, item);
                return Values.isTrue(test.value(frame));
            }, frame.render);
        }
    }

    /** {@code for}; {@code loop} is the variable of that name if the body reads it, else null, as {@code filter} is. */
    record For(int at, Scope scope, Target target, Expression items, LoopFilter filter, Reference loop,
            Statement[] body, Scope elseScope, Statement[] otherwise) implements Statement {
        @Override
        public int run(Frame frame) {
            frame.render.at = at;
            Object value = items.value(frame);
            frame.render.read(Values.size(value));
            Iterator<?> left = Values.iterator(value);
            boolean isCounted = filter == null && (value instanceof Collection || value instanceof Map);
            left = filter == null ? left : filter.select(frame, left);
            int end = loop == null ? iterate(frame, left)
                    : iterate(frame, new Loop(left, isCounted ? Values.length(value) : -1));
            if (end == NEXT) {
                return NEXT;
            }
            elseScope.enter(frame);
            return Statement.run(otherwise, frame);
        }

        /** Returns {@link #CONTINUE} if no iteration came to the end of the body: then what is in else runs. */
        private int iterate(Frame frame, Iterator<?> left) {
            int result = CONTINUE;
            while (left.hasNext()) {
                int end = iteration(frame, left.next());
                result = end == NEXT ? NEXT : result;
                if (end == BREAK) {
                    break;
                }
            }
            return result;
        }

        private int iterate(Frame frame, Loop left) {
            int result = CONTINUE;
            while (left.hasNext()) {
                Object item = left.next();
                loop.set(frame, left);
                int end = iteration(frame, item);
                result = end == NEXT ? NEXT : result;
                if (end == BREAK) {
                    break;
                }
            }
            return result;
        }

        private int iteration(Frame frame, Object item) {
            frame.render.step();
            target.assign(frame, item);
            scope.enter(frame);
            return Statement.run(body, frame);
        }
    }

    /**
     * What a macro or call block is made of. {@code special} are the variables {@code caller}, {@code kwargs} and
     * {@code varargs}, each null if the body does not read it.
     */
    record MacroBody(int at, String name, Scope scope, List<String> names, Reference[] parameters,
            Expression[] defaults, Reference[] special, Statement[] body) {
    }

    /** {@code {% macro name(…) %}}. */
    record Definition(Reference name, MacroBody macro) implements Statement {
        @Override
        public int run(Frame frame) {
            name.set(frame, new Macro(macro, frame));
            return NEXT;
        }
    }

    /** {@code {% generation %}}. */
    record Generation(Scope scope, Statement[] body) implements Statement {
        @Override
        public int run(Frame frame) {
            return frame.render.generate(frame, scope, body);
        }
    }
}
