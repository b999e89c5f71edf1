package io.penstock.diagnose.compare;

import java.util.Locale;

/** What became of a run in comparison with an earlier one. */
public enum Outcome {
    /** The step takes longer, or the memory is more, beyond the threshold and beyond the noise. */
    REGRESSION,
    /** The step is shorter, or the memory less. */
    IMPROVEMENT,
    /** One is better and the other worse. */
    MIXED,
    /** Whatever there is, it is less than the threshold. */
    UNCHANGED,
    /** The runs do not compare, are too short, or too noisy to tell. */
    INCONCLUSIVE;

    /**
     * The outcome of a name as an option on the command line gives it.
     *
     * @param name for example {@code regression}
     * @return the outcome
     * @throws IllegalArgumentException if there is none
     */
    public static Outcome of(String name) {
        return valueOf(name.toUpperCase(Locale.ROOT));
    }

    /**
     * The name in options and in JSON.
     *
     * @return the constant's name in lower case
     */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
