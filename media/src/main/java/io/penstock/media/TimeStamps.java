// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import io.penstock.error.CodecException;

/** How far times of a file may be from its time 0, so that no computation with them overflows. */
final class TimeStamps {

    /** 68 years: times that count from 1970 are within. */
    private static final long END_SECONDS = 1L << 31;
    /** The sum or difference of two times in samples is a long. */
    private static final long END_SAMPLES = 1L << 61;

    private TimeStamps() {
    }

    /**
     * Returns the first time stamp that is too far, in units of a time base. A nearer one times the numerator is below
     * 2^62, and so is the difference of two times the numerator below 2^63.
     *
     * @param numerator of the time base, 1 or more
     * @param denominator of the time base, 1 or more
     */
    static long end(int numerator, int denominator) {
        return END_SECONDS * denominator / numerator;
    }

    /**
     * Refuses a time stamp that is too far from 0.
     *
     * @param pts the time stamp
     * @param end of {@link #end}
     * @throws CodecException if it is {@code end} or more, before or behind 0
     */
    static void check(long pts, long end) {
        if (pts <= -end || pts >= end) {
            throw new CodecException("a packet at the time stamp " + pts, "one between " + -end + " and " + end
                    + ", 68 years");
        }
    }

    /**
     * Refuses a time of sound, in samples, that is too far from 0.
     *
     * @throws CodecException if it is
     */
    static long checkSamples(long time) {
        if (time <= -END_SAMPLES || time >= END_SAMPLES) {
            throw new CodecException("sound that begins at the time of sample " + time, "one between " + -END_SAMPLES
                    + " and " + END_SAMPLES);
        }
        return time;
    }

    /**
     * Returns {@code floor(pts * rate * numerator / denominator + offset)}: the number of the sample at a time stamp
     * that was checked.
     *
     * @param pts the time stamp
     * @param numerator of its time base
     * @param denominator of its time base
     * @param rate samples a second
     * @param isNearest whether the offset is a half, rather than 0
     */
    static long sample(long pts, int numerator, int denominator, int rate, boolean isNearest) {
        long units = pts * numerator;
        // Whole seconds and the rest apart: their products fit a long.
        long rest = 2L * Math.floorMod(units, denominator) * rate + (isNearest ? denominator : 0);
        return Math.floorDiv(units, denominator) * rate + rest / (2L * denominator);
    }
}
