package io.penstock.diagnose.compare;

/**
 * One quantity in both runs.
 *
 * @param name what it is, with its unit
 * @param before in the earlier run; NaN if it was not measured
 * @param after in the later one; NaN if it was not measured
 */
public record Change(String name, double before, double after) {

    /**
     * The change.
     *
     * @return after minus before, in the quantity's unit; NaN if either was not measured
     */
    public double difference() {
        return after - before;
    }

    /**
     * The change in relation to before.
     *
     * @return 0.03 for 3 % more; NaN if either was not measured, or there was nothing before
     */
    public double ratio() {
        return before == 0 ? Double.NaN : after / before - 1;
    }
}
