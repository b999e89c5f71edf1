package io.penstock.diagnose;

/**
 * One wait of the trainer, split.
 *
 * @param nanos how long it was
 * @param byCause its parts, by the ordinal of their {@link Cause}: they add up to it
 * @param orderedBehind what {@link Cause#ORDER} stands for: what the batch itself was doing meanwhile
 */
record Wait(long nanos, long[] byCause, long[] orderedBehind) {

    /** Shorter than what a thread needs to wake up is no wait. */
    static final long MIN_NANOS = 50_000;

    long nanos(Cause cause) {
        return byCause[cause.ordinal()];
    }

    /** Whether it was long enough to be looked into. */
    boolean counts() {
        return nanos >= MIN_NANOS;
    }

    Cause largest() {
        return largest(byCause);
    }

    static Cause largest(long[] byCause) {
        Cause largest = Cause.OTHER;
        for (Cause cause : Cause.values()) {
            if (byCause[cause.ordinal()] > byCause[largest.ordinal()]) {
                largest = cause;
            }
        }
        return largest;
    }
}
