package io.penstock.sampling;

import java.util.Objects;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;

/**
 * What a batch of one rank has room for: as many samples as fit in so many tokens, rather than a number of samples.
 *
 * @param tokens the most that a batch costs, 1 to 2^40
 * @param maxSamples the most samples of a batch, at least 1, however short they are
 * @param multipleOf what the padded length is a multiple of, at least 1: that of the collator, or a multiple of it
 * @param cost how samples cost
 */
public record TokenBudget(long tokens, int maxSamples, int multipleOf, Cost cost) {

    private static final long MAX_TOKENS = 1L << 40;
    private static final int MOST_SAMPLES = 1 << 16;
    private static final long FEW = 1 << 16;

    /** How samples cost. */
    public enum Cost {
        /** As many tokens as the batch has with padding: samples times the longest one, rounded up. */
        PADDED,
        /** The tokens of all samples, for batches without padding. */
        SUM
    }

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a number is outside its range
     */
    public TokenBudget {
        Objects.requireNonNull(cost, "cost");
        check("tokens", tokens, MAX_TOKENS);
        check("samples", maxSamples, Integer.MAX_VALUE);
        check("multiple of", multipleOf, Integer.MAX_VALUE);
    }

    private static void check(String what, long found, long most) {
        if (found < 1 || found > most) {
            throw new IllegalArgumentException("token budget: " + what + " " + found + ", expected 1 to " + most);
        }
    }

    /**
     * A budget for padded batches: samples times the longest one.
     *
     * @param tokens the most tokens of a batch, with padding
     * @return the budget, for up to as many samples as tokens, but no more than 65,536
     */
    public static TokenBudget padded(long tokens) {
        return new TokenBudget(tokens, Math.clamp(tokens, 1, MOST_SAMPLES), 1, Cost.PADDED);
    }

    /**
     * A budget for batches without padding.
     *
     * @param tokens the most tokens of a batch
     * @return the budget, for up to as many samples as tokens, but no more than 65,536
     */
    public static TokenBudget sum(long tokens) {
        return new TokenBudget(tokens, Math.clamp(tokens, 1, MOST_SAMPLES), 1, Cost.SUM);
    }

    /**
     * The same, with another limit of samples.
     *
     * @param samples the most samples of a batch; it bounds the fields of a batch that are not padded
     * @return the budget
     */
    public TokenBudget maxSamples(int samples) {
        return new TokenBudget(tokens, samples, multipleOf, cost);
    }

    /**
     * The same, with the padded length rounded up.
     *
     * @param multiple what it is a multiple of
     * @return the budget
     */
    public TokenBudget toMultipleOf(int multiple) {
        return new TokenBudget(tokens, maxSamples, multiple, cost);
    }

    /** What a sample of a length that is not above the budget costs in a batch of its own. */
    long alone(long length) {
        return cost == Cost.SUM ? length : Math.ceilDiv(length, (long) multipleOf) * multipleOf;
    }

    boolean fits(long length) {
        return length >= 0 && length <= tokens && alone(length) <= tokens;
    }

    String misfit(long sample, long length) {
        return "sample " + sample + " has " + length + " tokens"
                + (multipleOf > 1 && cost == Cost.PADDED ? ", padded to a multiple of " + multipleOf : "")
                + ": expected at most the token budget of " + tokens
                + " (a larger budget, samples cut to a length, or this one left out would do)";
    }

    /** Looks at every sample, of many by all processors. */
    void checkAll(LongUnaryOperator lengths, long samples) {
        LongStream all = LongStream.range(0, samples);
        (samples < FEW ? all : all.parallel()).filter(sample -> !fits(lengths.applyAsLong(sample))).findFirst()
                .ifPresent(sample -> {
                    throw new IllegalArgumentException(misfit(sample, lengths.applyAsLong(sample)));
                });
    }

    /** For example {@code at most 16384 tokens with padding, 256 samples}. */
    @Override
    public String toString() {
        return "at most " + tokens + " tokens" + (cost == Cost.PADDED ? " with padding" : "") + ", " + maxSamples
                + " samples" + (multipleOf > 1 ? ", lengths to multiples of " + multipleOf : "");
    }
}
