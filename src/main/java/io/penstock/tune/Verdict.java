package io.penstock.tune;

/** How a setting stands to the fastest one of its race. */
public enum Verdict {
    /** It has the highest median. */
    FASTEST("fastest"),
    /** It is shown to be no slower than the fastest, but for what is of no account. */
    SAME("equally fast"),
    /** The rounds do not tell it from the fastest. */
    WITHIN_NOISE("within noise"),
    /** It is shown to be slower. */
    SLOWER("slower");

    private final String words;

    Verdict(String words) {
        this.words = words;
    }

    /** For people. */
    @Override
    public String toString() {
        return words;
    }
}
