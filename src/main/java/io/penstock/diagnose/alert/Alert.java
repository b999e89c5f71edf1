// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.alert;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;

/**
 * A rule fired or cleared.
 *
 * @param rule the rule
 * @param state whether it fired or cleared
 * @param value the mean that was judged
 * @param batches batches delivered so far
 * @param steps number of steps averaged: the rule's, or fewer if batches hardly arrive
 */
public record Alert(AlertRule rule, State state, double value, long batches, long steps) {

    /** A rule's change. */
    public enum State {
        /** Its condition holds, and did not before. */
        FIRED,
        /** Its condition no longer holds. */
        CLEARED
    }

    /** A line of text: {@code wait above 0.2 fired: wait share 0.345 over 100 steps, at batch 1200}. */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%s %s: %s %s over %d steps, at batch %d", rule.name(),
                state.name().toLowerCase(Locale.ROOT), rule.quantity(),
                new BigDecimal(value).round(new MathContext(4)).stripTrailingZeros().toPlainString(), steps, batches);
    }
}
