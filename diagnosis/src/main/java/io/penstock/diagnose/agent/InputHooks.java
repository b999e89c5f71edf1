// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.agent;

import io.penstock.diagnose.Diagnose;
import io.penstock.diagnose.InputCalls;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * What a class calls that {@link TrainerAgent} has changed to time its input. Not for calls by hand: use {@link
 * Diagnose#wrap} instead. The number is that of the input, in the order of the agent's arguments.
 */
public final class InputHooks {

    private static final List<InputCalls> INPUTS = new CopyOnWriteArrayList<>();

    private InputHooks() {
    }

    /** Begins with inputs of these names, numbered from 0. */
    static void open(List<String> names) {
        names.forEach(name -> INPUTS.add(Diagnose.calls(name)));
    }

    static List<InputCalls> inputs() {
        return INPUTS;
    }

    /**
     * A call begins.
     *
     * @param input its number
     */
    public static void begin(int input) {
        INPUTS.get(input).begin();
    }

    /**
     * The call returns the input of a step.
     *
     * @param input its number
     */
    public static void given(int input) {
        INPUTS.get(input).given();
    }

    /**
     * {@return what the call says of more input: 0 for none, as a class file has a boolean}
     *
     * @param more what the call returns
     * @param input its number
     */
    public static int answered(int more, int input) {
        if (more == 0) {
            INPUTS.get(input).over();
        } else {
            INPUTS.get(input).more();
        }
        return more;
    }

    /**
     * {@return the same iterator, timed}
     *
     * @param <T> the input of a step
     * @param source what the method returns
     * @param input its number
     */
    public static <T> Iterator<T> timed(Iterator<T> source, int input) {
        InputCalls calls = INPUTS.get(input);
        return new Iterator<>() {

            @Override
            public boolean hasNext() {
                calls.begin();
                boolean more = source.hasNext();
                answered(more ? 1 : 0, input);
                return more;
            }

            @Override
            public T next() {
                calls.begin();
                T item = source.next();
                calls.given();
                return item;
            }

            @Override
            public void remove() {
                source.remove();
            }
        };
    }

    /**
     * {@return the same input, timed}
     *
     * @param <T> the input of a step
     * @param source what the method returns
     * @param input its number
     */
    public static <T> Iterable<T> timed(Iterable<T> source, int input) {
        return () -> timed(source.iterator(), input);
    }
}
