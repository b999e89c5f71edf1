// SPDX-License-Identifier: Apache-2.0
package io.penstock.text;

import java.util.Locale;

/** Counts, rates and shares. A number that is not known (NaN) is written {@code n/a}. */
public final class NumberText {

    static final String UNKNOWN = "n/a";

    private static final String[] PREFIXES = {"", "k", "M", "G", "T", "P"};

    /** A number with three digits and a decimal prefix, such as {@code 1.25 MB} or {@code 2.00 MB}. */
    public static String of(double value, String unit) {
        return scaled(value, unit, false);
    }

    /** Like {@link #of}, but a whole number has no decimals: {@code 2 MB}. */
    public static String round(double value, String unit) {
        return scaled(value, unit, true);
    }

    private static String scaled(double value, String unit, boolean isRound) {
        if (Double.isNaN(value)) {
            return UNKNOWN;
        }
        double scaled = value;
        int prefix = 0;
        while (Math.abs(scaled) >= 999.5 && prefix < PREFIXES.length - 1) {
            scaled /= 1000;
            prefix++;
        }
        String digits = prefix == 0 || isRound ? digits(scaled) : threeDigits(scaled);
        return (digits + " " + PREFIXES[prefix] + unit).strip();
    }

    /** A number with three digits; a whole number below a million as it is. */
    public static String digits(double value) {
        return Double.isNaN(value) ? UNKNOWN : value == Math.rint(value) && Math.abs(value) < 1e6
                ? String.format(Locale.ROOT, "%.0f", value) : threeDigits(value);
    }

    private static String threeDigits(double value) {
        double size = Math.abs(value);
        return String.format(Locale.ROOT, "%." + (size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2) + "f", value);
    }

    /** A count with its noun: {@code 1 document}, {@code 1,234 documents}. */
    public static String count(long count, String noun) {
        return count(count, noun, noun + "s");
    }

    /** A count with its noun, whose plural is irregular. */
    public static String count(long count, String noun, String plural) {
        StringBuilder text = new StringBuilder().append(count);
        for (int at = text.length() - 3; at > (count < 0 ? 1 : 0); at -= 3) {
            text.insert(at, ',');
        }
        return text.append(' ').append(count == 1 ? noun : plural).toString();
    }

    /** A share in percent: {@code 12.5 %}. */
    public static String percent(double share) {
        return Double.isNaN(share) ? UNKNOWN : String.format(Locale.ROOT, "%.1f %%", 100 * share);
    }

    /** A share in percent with two digits, for what may be tiny: {@code 0.0012 %}. */
    public static String roughPercent(double share) {
        return share == 0 ? "0 %" : String.format(Locale.ROOT, "%.2g %%", 100 * share);
    }

    /** By what share something has changed: {@code +12.5 %}. */
    public static String change(double share) {
        return String.format(Locale.ROOT, "%+.1f %%", 100 * share);
    }
}
