// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;

/**
 * A change of the data.
 *
 * @param field the field's name; empty if it is about samples
 * @param channel the channel; -1 if the field has none
 * @param measure what changed
 * @param before its value in the reference; for {@link Measure#DISTRIBUTION} the divergence expected from noise alone
 * @param now its present value; for {@link Measure#DISTRIBUTION} the divergence from the reference, in bits
 * @param sigmas distance from the noise in standard deviations; infinite without noise
 * @param epoch the first epoch with the change; -1 if it does not belong to an epoch
 * @param detail details as text, such as which ids; may be empty
 */
public record DataFinding(String field, int channel, Measure measure, double before, double now, double sigmas,
        long epoch, String detail) {

    /** The measures that may change. */
    public enum Measure {
        /** Infinite or NaN values, where there were none. */
        NON_FINITE("share of non-finite values"),
        /** The frequencies of ids or lengths. */
        DISTRIBUTION("distribution"),
        /** The mean of a field, or of a channel. */
        MEAN("mean"),
        /** The standard deviation. */
        DEVIATION("standard deviation"),
        /** The share of padding. */
        PADDING("share of padding"),
        /** The share of rows with only one value. */
        CONSTANT_ROWS("share of constant rows"),
        /** The share of unreadable samples. */
        BAD_SAMPLES("share of bad samples");

        private final String text;

        Measure(String text) {
            this.text = text;
        }

    /** The name as text: {@code mean}. */
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

    /** Whether another finding is about the same thing, whatever its size. */
    boolean isAbout(DataFinding other) {
        return field.equals(other.field) && channel == other.channel && measure == other.measure;
    }

    /** A line of text: {@code image, channel 2: mean from 117.2 to 96.4 (31 sigma), since epoch 3}. */
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
