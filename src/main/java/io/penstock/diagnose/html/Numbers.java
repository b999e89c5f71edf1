package io.penstock.diagnose.html;

import java.util.Locale;

/** Numbers as people read them. */
final class Numbers {

    private static final String[] PREFIXES = {"", "k", "M", "G", "T"};

    private Numbers() {
    }

    /** Milliseconds with their unit, in microseconds or seconds where that reads better; a dash if unknown. */
    static String time(double millis) {
        if (Double.isNaN(millis)) {
            return "–";
        }
        if (Math.abs(millis) >= 1000) {
            return digits(millis / 1000) + " s";
        }
        return Math.abs(millis) < 1 && millis != 0 ? digits(millis * 1000) + " µs" : digits(millis) + " ms";
    }

    /** A rate or an amount with a decimal prefix; a dash if unknown. */
    static String quantity(double value, String unit) {
        if (Double.isNaN(value)) {
            return "–";
        }
        double scaled = value;
        int prefix = 0;
        while (Math.abs(scaled) >= 999.5 && prefix < PREFIXES.length - 1) {
            scaled /= 1000;
            prefix++;
        }
        return (digits(scaled) + " " + PREFIXES[prefix] + unit).strip();
    }

    static String percent(double share) {
        return Double.isNaN(share) ? "–" : String.format(Locale.ROOT, "%.1f %%", 100 * share);
    }

    /** Three digits, or a whole number as it is. */
    static String digits(double value) {
        if (Double.isNaN(value)) {
            return "–";
        }
        if (value == Math.rint(value) && Math.abs(value) < 1e6) {
            return String.format(Locale.ROOT, "%.0f", value);
        }
        double size = Math.abs(value);
        int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
        return String.format(Locale.ROOT, "%." + decimals + "f", value);
    }
}
