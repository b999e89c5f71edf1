// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;

/**
 * Tells whoever measures this process that a thread does something else than training: writing a checkpoint, or
 * evaluating. What is marked is left out of the steps' times. Without a listener a mark does nothing.
 *
 * {@snippet :
 * try (Marks.Mark _ = Marks.begin("evaluation")) {
 *     // …
 * }
 * }
 *
 * <p>Thread-safe. {@link io.penstock.state.Checkpoint#save} marks itself.
 */
public final class Marks {

    /** Work that has begun; closing it ends it. Closed by the thread that began it; marks nest. */
    @FunctionalInterface
    public interface Mark extends AutoCloseable {

        /** Ends the work. */
        @Override
        void close();
    }

    /** Measures the work that is marked, on the thread that does it. */
    @FunctionalInterface
    public interface Listener {

        /**
         * Learns that work begins on the calling thread.
         *
         * @param name what it is: {@code checkpoint}, {@code evaluation}
         * @return closed by the same thread when the work ends
         */
        Mark began(String name);
    }

    private static final Set<Listener> LISTENERS = new CopyOnWriteArraySet<>();

    private Marks() {
    }

    /**
     * Adds a listener; one that was added already stays.
     *
     * @param listener called for every mark of every thread from now on
     */
    public static void add(Listener listener) {
        LISTENERS.add(listener);
    }

    /**
     * Removes a listener, if it was added.
     *
     * @param listener called no more
     */
    public static void remove(Listener listener) {
        LISTENERS.remove(listener);
    }

    /**
     * Begins work that is no training, on the calling thread.
     *
     * @param name what it is: {@code checkpoint}, {@code evaluation}
     * @return closed by the caller when the work ends
     */
    public static Mark begin(String name) {
        List<Mark> begun = new ArrayList<>();
        LISTENERS.forEach(listener -> begun.add(listener.began(name)));
        return () -> begun.forEach(Mark::close);
    }
}
