package io.penstock.tune;

/**
 * A setting, and how it did.
 *
 * @param candidate the setting
 * @param memoryBytes of its slots
 * @param rounds how many it ran
 * @param samplesPerSecond the median of its rounds
 * @param low the lower end of the median's interval, of 95 % or as near to that as so few rounds allow
 * @param high its upper end
 * @param toFastest its throughput over that of the fastest of the race
 * @param verdict how it stands to that one
 */
public record Measured(Candidate candidate, long memoryBytes, int rounds, double samplesPerSecond, double low,
        double high, PairedRounds toFastest, Verdict verdict) {

    /**
     * Whether it may be chosen in place of the fastest.
     *
     * @return true unless it is slower
     */
    public boolean isAsFast() {
        return verdict != Verdict.SLOWER;
    }
}
