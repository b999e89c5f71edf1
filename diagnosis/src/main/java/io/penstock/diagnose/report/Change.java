// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.report;

/**
 * One quantity in both runs.
 *
 * @param name its name with the unit
 * @param before its value in the earlier run; NaN if not measured
 * @param after its value in the later run; NaN if not measured
 */
public record Change(String name, double before, double after) {

    /** {@return after minus before, in the quantity's unit; NaN if either was not measured} */
    public double difference() {
        return after - before;
    }

    /** Whether it is above 0 in one of the runs. */
    boolean isMeasured() {
        return before > 0 || after > 0;
    }

    /** {@return the relative change, 0.03 for 3 % more; NaN if either was not measured, or the earlier value is 0} */
    public double ratio() {
        return before == 0 ? Double.NaN : after / before - 1;
    }
}
