// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The variables of a part of a template: the whole of it, a loop's body, a macro. While the parser reads the part it
 * notes the events in order: which names are read, set, or are parameters. When all is read, {@link #resolve} gives
 * each name its slot.
 *
 * <p>The rules are those of {@code jinja2.idtracking}: a scope that sets a name of an outer scope has a variable of its
 * own, which begins with the outer one's value each time the scope is entered; a name that is read and set nowhere is
 * what the rendering was given. A scope that is a function has a frame of its own; others share that of their function.
 */
final class Scope {

    /** What happens to variables, in the order of the template. */
    sealed interface Event permits Reference, Branches {
    }

    /** A name is read, set, or is a parameter. */
    enum Use { READ, SET, PARAMETER }

    /** Ways through the template of which one is taken at most. */
    record Branches(List<List<Event>> ways) implements Event {
    }

    /** A name at one place; {@link #resolve} says where its value is. */
    static final class Reference implements Event {
        final String name;
        private final Use use;
        private boolean isInput;
        private int hops;
        private int index;

        Reference(String name, Use use) {
            this.name = name;
            this.use = use;
        }

        Object get(Frame frame) {
            return isInput ? frame.render.inputs[index] : frame.outer(hops).slots[index];
        }

        void set(Frame frame, Object value) {
            frame.outer(hops).slots[index] = value;
        }

        private void resolve(Scope scope, Variable variable) {
            isInput = variable.isInput();
            index = variable.index;
            hops = isInput ? 0 : scope.depth - variable.owner.depth;
        }
    }

    /** How a variable gets its first value when its scope is entered. */
    private enum Start { PARAMETER, INPUT, OUTER, MISSING }

    private static final class Variable {
        private final Scope owner;
        private final String name;
        private Start start;
        private Variable outer;
        private int index = -1;

        Variable(Scope owner, String name) {
            this.owner = owner;
            this.name = name;
        }

        /** Whether it is nothing but what the rendering was given. */
        boolean isInput() {
            return start == Start.INPUT && !owner.set.contains(name);
        }
    }

    /** The inputs of a template: the names that it reads and does not set, with their indices. */
    private final Map<String, Integer> inputs;
    private final Scope parent;
    private final Scope function;
    private final int depth;
    private final List<Event> events = new ArrayList<>();
    private final List<Scope> inner = new ArrayList<>();
    private final Map<String, Variable> variables = new LinkedHashMap<>();
    private final Set<String> set = new HashSet<>();
    private Variable[] entered = new Variable[0];
    private int size;

    private Scope(Scope parent, boolean isFunction, Map<String, Integer> inputs) {
        this.parent = parent;
        this.inputs = inputs;
        this.function = isFunction ? this : parent.function;
        this.depth = parent == null ? 0 : parent.depth + (isFunction ? 1 : 0);
    }

    static Scope root() {
        return new Scope(null, true, new HashMap<>());
    }

    /** A scope within this one. */
    Scope inner(boolean isFunction) {
        Scope scope = new Scope(this, isFunction, inputs);
        inner.add(scope);
        return scope;
    }

    List<Event> events() {
        return events;
    }

    /** The names that the rendering gives, and their indices in {@link Render#inputs}. */
    Map<String, Integer> inputs() {
        return inputs;
    }

    /** The frame of the function that this scope is, or is part of. */
    Object[] newSlots() {
        Object[] slots = new Object[function.size];
        Arrays.fill(slots, Values.MISSING);
        return slots;
    }

    /** Gives the variables of this scope, which is entered, their first values. */
    void enter(Frame frame) {
        for (Variable variable : entered) {
            frame.slots[variable.index] = switch (variable.start) {
                case INPUT -> frame.render.inputs[inputs.get(variable.name)];
                case OUTER -> value(frame, variable.outer);
                default -> Values.MISSING;
            };
        }
    }

    private Object value(Frame frame, Variable variable) {
        return variable.isInput() ? frame.render.inputs[variable.index]
                : frame.outer(depth - variable.owner.depth).slots[variable.index];
    }

    /** Gives each name of this scope and of those within it its slot. */
    void resolve() {
        replay(events);
        List<Variable> first = new ArrayList<>();
        for (Variable variable : variables.values()) {
            if (variable.start == Start.INPUT) {
                inputs.putIfAbsent(variable.name, inputs.size());
            }
            if (variable.isInput()) {
                variable.index = inputs.get(variable.name);
            } else {
                variable.index = function.size++;
                if (variable.start != Start.PARAMETER) {
                    first.add(variable);
                }
            }
        }
        entered = first.toArray(entered);
        bind(events);
        inner.forEach(Scope::resolve);
    }

    private void bind(List<Event> some) {
        for (Event event : some) {
            switch (event) {
                case Reference reference -> reference.resolve(this, find(reference.name));
                case Branches branches -> branches.ways().forEach(this::bind);
            }
        }
    }

    private Variable find(String name) {
        for (Scope scope = this; scope != null; scope = scope.parent) {
            Variable variable = scope.variables.get(name);
            if (variable != null) {
                return variable;
            }
        }
        return null;
    }

    private void replay(List<Event> some) {
        for (Event event : some) {
            switch (event) {
                case Reference reference -> replay(reference.name, reference.use);
                case Branches branches -> {
                    Set<String> before = new HashSet<>(set);
                    branches.ways().forEach(this::replay);
                    set.stream().filter(name -> !before.contains(name)).forEach(this::startOutside);
                }
            }
        }
    }

    private void replay(String name, Use use) {
        if (use == Use.READ) {
            if (find(name) == null) {
                define(name, Start.INPUT, null);
            }
            return;
        }
        set.add(name);
        if (use == Use.PARAMETER) {
            define(name, Start.PARAMETER, null);
        } else if (!variables.containsKey(name)) {
            Variable outer = parent == null ? null : parent.find(name);
            define(name, outer == null ? Start.MISSING : Start.OUTER, outer);
        }
    }

    /** A name that only some ways set has its value from outside the scope on the others. */
    private void startOutside(String name) {
        Variable outer = parent == null ? null : parent.find(name);
        define(name, outer == null ? Start.INPUT : Start.OUTER, outer);
    }

    private void define(String name, Start start, Variable outer) {
        Variable variable = variables.computeIfAbsent(name, key -> new Variable(this, key));
        variable.start = start;
        variable.outer = outer;
    }
}
