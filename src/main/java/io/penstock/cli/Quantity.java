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
        return String.format(Locale.ROOT, "%,d %s%s", count, noun, count == 1 ? "" : "s");
    }

    /** A time such as {@code 0:07} or {@code 1:02:03}. */
    static String duration(double seconds) {
        long whole = (long) Math.min(seconds, 1e9);
        return whole >= 3600
                ? String.format(Locale.ROOT, "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60)
                : String.format(Locale.ROOT, "%d:%02d", whole / 60, whole % 60);
    }
}
