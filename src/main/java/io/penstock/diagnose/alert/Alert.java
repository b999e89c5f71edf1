package io.penstock.diagnose.alert;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;

/**
 * A rule fired, or cleared again.
 *
 * @param rule which
 * @param state whether it fired or cleared
 * @param value the mean that it was judged by
 * @param batches how many batches the loader had given by then
 * @param steps over how many of them the mean is: those of the rule, or fewer where batches hardly come
 */
public record Alert(AlertRule rule, State state, double value, long batches, long steps) {

    /** What became of a rule. */
    public enum State {
        /** Its condition holds, and did not before. */
        FIRED,
        /** Its condition holds no longer. */
        CLEARED
    }

    /** For people: {@code wait above 0.2 fired: wait share 0.345 over 100 steps, at batch 1200}. */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%s %s: %s %s over %d steps, at batch %d", rule.name(),
                state.name().toLowerCase(Locale.ROOT), rule.measure(),
                new BigDecimal(value).round(new MathContext(4)).stripTrailingZeros().toPlainString(), steps, batches);
    }
}
