// SPDX-License-Identifier: Apache-2.0
package io.penstock.tune;

/**
 * A setting with its measurements.
 *
 * @param candidate the setting
 * @param memoryBytes memory of its slots
 * @param rounds number of rounds
 * @param samplesPerSecond the median of its rounds
 * @param low lower end of the median's interval, of 95 % or as close to it as the number of rounds allows
 * @param high upper end
 * @param toFastest its throughput relative to the fastest of the race
 * @param standing how it compares with the fastest
 */
public record Measured(SearchPoint candidate, long memoryBytes, int rounds, double samplesPerSecond, double low,
        double high, PairedRounds toFastest, Standing standing) {

    /** {@return whether it may be chosen instead of the fastest: it is not slower} */
    public boolean isAsFast() {
        return standing != Standing.SLOWER;
    }
}
