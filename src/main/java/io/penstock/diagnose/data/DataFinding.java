package io.penstock.diagnose.data;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;

/**
 * One thing about the data that is not as it was.
 *
 * @param field the field's name; empty if it is about samples
 * @param channel the channel; -1 if the field has none
 * @param measure what changed
 * @param before its value in the reference; for {@link Measure#DISTRIBUTION} the divergence that noise alone would give
 * @param now its value since; for {@link Measure#DISTRIBUTION} the divergence from the reference, in bits
 * @param sigmas how far out of the noise it is, in standard deviations; infinite where there is no noise
 * @param epoch the first epoch in which it was found; -1 if it is not of an epoch
 * @param detail more for people, such as which ids; may be empty
 */
public record DataFinding(String field, int channel, Measure measure, double before, double now, double sigmas,
        long epoch, String detail) {

    /** What may change. */
    public enum Measure {
        /** Values that are infinite or not a number, where none were. */
        NON_FINITE("share of non-finite values"),
        /** How often ids, or lengths, are met. */
        DISTRIBUTION("distribution"),
        /** The mean of a field, or of a channel. */
        MEAN("mean"),
        /** The standard deviation. */
        DEVIATION("standard deviation"),
        /** The share of padding. */
        PADDING("share of padding"),
        /** The share of rows that are all one value. */
        CONSTANT_ROWS("share of constant rows"),
        /** The share of samples that could not be read. */
        BAD_SAMPLES("share of bad samples");

        private final String text;

        Measure(String text) {
            this.text = text;
        }

        /** For people: {@code mean}. */
        @Override
        public String toString() {
            return text;
        }

        private boolean isShare() {
            return this == NON_FINITE || this == PADDING || this == CONSTANT_ROWS || this == BAD_SAMPLES;
        }
    }

    DataFinding since(long firstEpoch) {
        return new DataFinding(field, channel, measure, before, now, sigmas, firstEpoch, detail);
    }

    /** Whether another one is about the same, whatever its size. */
    boolean isAbout(DataFinding other) {
        return field.equals(other.field) && channel == other.channel && measure == other.measure;
    }

    /**
     * For people: {@code image, channel 2: mean from 117.2 to 96.4 (31 sigma), since epoch 3}.
     */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(field.isEmpty() ? "samples" : field);
        if (channel >= 0) {
            text.append(", channel ").append(channel);
        }
        text.append(": ").append(measure);
        if (measure == Measure.DISTRIBUTION) {
            text.append(String.format(Locale.ROOT, " %.3f bits apart, %.3f expected from noise", now, before));
        } else if (measure.isShare()) {
            text.append(" from ").append(number(100 * before)).append(" % to ").append(number(100 * now)).append(" %");
        } else {
            text.append(" from ").append(number(before)).append(" to ").append(number(now));
        }
        if (sigmas != Double.POSITIVE_INFINITY) {
            text.append(String.format(Locale.ROOT, " (%.0f sigma)", sigmas));
        }
        if (!detail.isEmpty()) {
            text.append("; ").append(detail);
        }
        return text.append(epoch >= 0 ? ", since epoch " + epoch : "").toString();
    }

    private static String number(double value) {
        return new BigDecimal(value).round(new MathContext(4)).stripTrailingZeros().toPlainString();
    }
}
