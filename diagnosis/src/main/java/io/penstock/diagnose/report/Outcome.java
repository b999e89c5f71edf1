// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.report;

import java.util.Locale;

/** The outcome of comparing a run with an earlier one. */
public enum Outcome {
    /** The step is longer, or memory is more, beyond the threshold and the noise. */
    REGRESSION,
    /** The step is shorter, or the memory less. */
    IMPROVEMENT,
    /** One is better and the other worse. */
    MIXED,
    /** Any change is below the threshold. */
    UNCHANGED,
    /** The runs are not comparable, too short, or too noisy. */
    INCONCLUSIVE;

    /**
     * {@return the outcome with a name}
     *
     * @param name for example {@code regression}
     * @throws IllegalArgumentException if no outcome has it
     */
    public static Outcome of(String name) {
        return valueOf(name.toUpperCase(Locale.ROOT));
    }

    /** {@return the name in options and in JSON: the constant's name in lower case} */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
