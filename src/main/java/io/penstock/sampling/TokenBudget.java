// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.Objects;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;

/**
 * The token capacity of one rank's batch, which then holds as many samples as fit instead of a fixed number.
 *
 * @param tokens the most tokens in a batch, 1 to 2^40
 * @param maxSamples the most samples in a batch, at least 1, however short they are
 * @param multipleOf rounds the padded length up to a multiple of this, at least 1: the collator's, or a multiple of it
 * @param cost how tokens are counted
 */
public record TokenBudget(long tokens, int maxSamples, int multipleOf, Cost cost) {

    private static final long MAX_TOKENS = 1L << 40;
    private static final int MOST_SAMPLES = 1 << 16;
    private static final long FEW = 1 << 16;

    /** How tokens are counted. */
    public enum Cost {
        /** The batch's tokens with padding: the number of samples times the longest length, rounded up. */
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
     * A budget for padded batches, counting padding.
     *
     * @param tokens the most tokens in a batch, with padding
     * @return the budget, with as many samples as tokens, but at most 65,536
     */
    public static TokenBudget padded(long tokens) {
        return new TokenBudget(tokens, Math.clamp(tokens, 1, MOST_SAMPLES), 1, Cost.PADDED);
    }

    /**
     * A budget for batches without padding.
     *
     * @param tokens the most tokens in a batch
     * @return the budget, with as many samples as tokens, but at most 65,536
     */
    public static TokenBudget sum(long tokens) {
        return new TokenBudget(tokens, Math.clamp(tokens, 1, MOST_SAMPLES), 1, Cost.SUM);
    }

    /**
     * {@return this budget, with another limit of samples}
     *
     * @param samples the most samples in a batch; bounds the fields that are not padded
     */
    public TokenBudget maxSamples(int samples) {
        return new TokenBudget(tokens, samples, multipleOf, cost);
    }

    /**
     * {@return this budget, with the padded length rounded up}
     *
     * @param multiple rounds the padded length up to a multiple of this
     */
    public TokenBudget toMultipleOf(int multiple) {
        return new TokenBudget(tokens, maxSamples, multiple, cost);
    }

    /** Returns the cost of a sample alone in a batch; its length is at most the budget. */
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
                + " (raise the budget, truncate samples, or leave this one out)";
    }

    /** Checks every sample; large datasets use all processors. */
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
