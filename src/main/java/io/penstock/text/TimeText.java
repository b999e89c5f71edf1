// SPDX-License-Identifier: Apache-2.0
package io.penstock.text;

import java.util.Locale;
import java.util.Map;

/** Lengths of time. */
public final class TimeText {

    private static final Map<String, Double> NANOS = Map.of("ms", 1e6, "s", 1e9, "", 1e9, "m", 60e9, "h", 3600e9);

    /** Milliseconds with their unit, in microseconds or seconds where that reads better: {@code 1.25 s}. */
    public static String of(double millis) {
        double size = Math.abs(millis);
        return Double.isNaN(millis) ? NumberText.UNKNOWN : size >= 1000 ? NumberText.digits(millis / 1000) + " s"
                : size < 1 && millis != 0 ? NumberText.digits(millis * 1000) + " µs"
                : NumberText.digits(millis) + " ms";
    }

    /** Nanoseconds as milliseconds with three decimals: {@code 1.250 ms}. */
    public static String millis(double nanos) {
        return String.format(Locale.ROOT, "%.3f ms", nanos / 1e6);
    }

    /** Seconds as a clock shows them: {@code 0:07} or {@code 1:02:03}. */
    public static String clock(double seconds) {
        long whole = (long) Math.min(seconds, 1e9);
        return whole >= 3600
                ? String.format(Locale.ROOT, "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60)
                : String.format(Locale.ROOT, "%d:%02d", whole / 60, whole % 60);
    }

    /** Reads {@code 30s}, {@code 2m}, {@code 500ms} or a number of seconds; returns nanoseconds, which are positive. */
    public static long readNanos(String text) {
        return Amount.read(text, NANOS, "a time such as 30s, 2m or 500ms");
    }
}
