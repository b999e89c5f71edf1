// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.table;

import java.util.LinkedHashSet;
import java.util.SequencedSet;
import java.util.function.Predicate;

/**
 * The open files of a table that may be closed and opened again: a mapping of each file is more than a system gives.
 * Of too many, the least recently used one that nobody reads is closed. Thread-safe.
 */
public final class OpenFiles<F> {

    private static final int MOST_OPEN = 512;

    private final Predicate<F> close;
    /** The least recently used first. Guarded by itself. */
    private final SequencedSet<F> files = new LinkedHashSet<>();

    /**
     * Creates an empty list.
     *
     * @param close closes a file unless somebody reads it, and tells whether it did
     */
    public OpenFiles(Predicate<F> close) {
        this.close = close;
    }

    /** Makes an open file the last to be closed, and closes one if there are too many. */
    public void used(F file) {
        F eldest = null;
        synchronized (files) {
            files.remove(file);
            files.add(file);
            if (files.size() > MOST_OPEN) {
                eldest = files.removeFirst();
            }
        }
        if (eldest != null && !close.test(eldest)) {
            synchronized (files) {
                files.add(eldest);
            }
        }
    }
}
