// SPDX-License-Identifier: Apache-2.0
package io.penstock.tune;

import java.util.List;

/**
 * Throughput as a function of one setting, with the others fixed.
 *
 * @param setting its name: {@code workers}, {@code read}, {@code prefetch}, {@code device_slots} or {@code final}
 * @param points the measured values, cheapest first
 * @param chosen the cheapest that is as fast as the fastest
 */
public record Curve(String setting, List<Measured> points, Measured chosen) {

    /**
     * {@return the value of the curve's setting in a candidate, for example {@code 4}; of the final curve, the
     * candidate's workers, read mode and prefetch}
     *
     * @param candidate one of the points
     */
    public String value(SearchPoint candidate) {
        return switch (setting) {
            case "workers" -> Integer.toString(candidate.workers());
            case "prefetch" -> Integer.toString(candidate.prefetch());
            case "read" -> candidate.readMode().toString();
            case "device_slots" -> Integer.toString(candidate.deviceSlots());
            default -> candidate.workers() + "/" + candidate.prefetch() + "/" + candidate.readMode();
        };
    }

    /** {@return the point with the highest median} */
    public Measured fastest() {
        return points.stream().filter(point -> point.standing() == Standing.FASTEST).findFirst().orElse(chosen);
    }
}
