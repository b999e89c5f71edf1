package io.penstock.cli;

import java.util.Locale;

/** Numbers as people read them. */
final class Quantity {

    private static final String[] PREFIXES = {"", "k", "M", "G", "T", "P"};

    private Quantity() {
    }

    /** A number with three digits and a decimal prefix, such as {@code 1.25 MB}. */
    static String of(double value, String unit) {
        double scaled = value;
        int prefix = 0;
        while (scaled >= 999.5 && prefix < PREFIXES.length - 1) {
            scaled /= 1000;
            prefix++;
        }
        int decimals = prefix == 0 && value == Math.rint(value) || scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2;
        return String.format(Locale.ROOT, "%." + decimals + "f %s%s", scaled, PREFIXES[prefix], unit).strip();
    }

    /** A count with its noun: {@code 1 document}, {@code 1,234 documents}. */
    static String count(long count, String noun) {
        return count(count, noun, noun + "s");
    }

    /** A count with its noun, whose plural is irregular. */
    static String count(long count, String noun, String plural) {
        return String.format(Locale.ROOT, "%,d %s", count, count == 1 ? noun : plural);
    }

    /** A time in milliseconds, with three digits behind the point: {@code 1.250 ms}. */
    static String millis(double nanos) {
        return String.format(Locale.ROOT, "%.3f ms", nanos / 1e6);
    }

    /** A share in percent: {@code 12.5 %}. */
    static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", 100 * share);
    }

    /** A time such as {@code 0:07} or {@code 1:02:03}. */
    static String duration(double seconds) {
        long whole = (long) Math.min(seconds, 1e9);
        return whole >= 3600
                ? String.format(Locale.ROOT, "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60)
                : String.format(Locale.ROOT, "%d:%02d", whole / 60, whole % 60);
    }
}
