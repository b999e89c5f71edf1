// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.Lengths;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.TokenBudget;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongUnaryOperator;

/**
 * How many tokens a model makes of a sample's fields, of several modalities: patches of pictures, frames of sound, and
 * ids of text, in one number. A token budget then fills batches with them.
 *
 * {@snippet :
 * Dataset samples = RecordFields.of(shards).and("jpg").and("flac").and("txt");
 * ModelTokens tokens = ModelTokens.of(samples).each("jpg", 14 * 14 * 3).each("flac", 320).each("txt", 1);
 * TokenBudget budget = TokenBudget.sum(16_384).maxSamples(256);
 * DataLoaderBuilder loader = DataLoader.builder(samples).tokenBudget(budget, tokens).collator(tokens.collator(budget));
 * }
 *
 * <p>A sample's tokens are the sum over its fields; those that are not named count nothing. Immutable and thread-safe.
 */
public final class ModelTokens implements LongUnaryOperator {

    private final Dataset samples;
    private final List<Part> parts;

    /**
     * The tokens of a field.
     *
     * @param field its index
     * @param values of how many values a token is made
     * @param rows the length of each sample's first dimension
     */
    private record Part(int field, long values, LongUnaryOperator rows) {
    }

    private ModelTokens(Dataset samples, List<Part> parts) {
        this.samples = samples;
        this.parts = parts;
    }

    /**
     * Counts nothing yet.
     *
     * @param samples the dataset
     * @return the count
     */
    public static ModelTokens of(Dataset samples) {
        return new ModelTokens(Objects.requireNonNull(samples, "samples"), List.of());
    }

    /**
     * {@return this count and that of a field: a token for each so many of its values, the last of which may have
     * fewer} Examples: a patch of 14 by 14 pixels of three channels has 588 values; Whisper's encoder makes a token of
     * 320 samples of sound; an id of text is a token. A field of varying length is measured, which decodes it once if
     * it is decoded; the other method takes lengths that you know.
     *
     * @param field the field's name
     * @param values 1 or more
     * @throws IllegalArgumentException if there is no such field, it is counted already, or {@code values} is below 1
     */
    public ModelTokens each(String field, long values) {
        int index = samples.indexOf(field);
        TensorSpec spec = samples.fields().get(index);
        long fixed = spec.rank() == 0 ? 1 : spec.dim(0);
        return with(index, values, spec.isVariable() ? Lengths.of(samples, index) : _ -> fixed);
    }

    /**
     * {@return this count and that of a field whose lengths are known}
     *
     * @param field the field's name
     * @param values of how many values a token is made
     * @param lengths the length of each sample's first dimension; called by any thread
     * @throws IllegalArgumentException if there is no such field, it is counted already, or {@code values} is below 1
     */
    public ModelTokens each(String field, long values, LongUnaryOperator lengths) {
        return with(samples.indexOf(field), values, Objects.requireNonNull(lengths, "lengths"));
    }

    private ModelTokens with(int field, long values, LongUnaryOperator rows) {
        TensorSpec spec = samples.fields().get(field);
        if (values < 1) {
            throw new IllegalArgumentException(spec + ": a token of " + values + " values, expected 1 or more");
        }
        if (parts.stream().anyMatch(part -> part.field == field)) {
            throw new IllegalArgumentException(spec + ": its tokens are counted twice");
        }
        List<Part> more = new ArrayList<>(parts);
        more.add(new Part(field, values, rows));
        return new ModelTokens(samples, List.copyOf(more));
    }

    /** The values of a field in so many rows. */
    private long rowValues(int field) {
        TensorSpec spec = samples.fields().get(field);
        return spec.rank() == 0 ? 1 : spec.rowBytes() / spec.dtype().byteSize();
    }

    /**
     * {@return the tokens of a sample}
     *
     * @param sample its index
     */
    @Override
    public long applyAsLong(long sample) {
        long sum = 0;
        for (int i = 0; i < parts.size(); i++) {
            Part part = parts.get(i);
            sum += Math.ceilDiv(part.rows.applyAsLong(sample) * rowValues(part.field), part.values);
        }
        return sum;
    }

    /**
     * {@return a collator without padding, whose batches have room for what the budget lets in, not for as many of the
     * longest samples}
     *
     * @param budget the budget of the batches, of the sum of tokens
     * @throws IllegalArgumentException if it counts padding
     */
    public Ragged collator(TokenBudget budget) {
        if (budget.cost() != TokenBudget.Cost.SUM) {
            throw new IllegalArgumentException("found a budget of " + budget + ", expected one without padding");
        }
        Ragged collator = Ragged.fields();
        for (Part part : parts) {
            TensorSpec spec = samples.fields().get(part.field);
            if (spec.isVariable()) {
                long rows = Math.multiplyExact(budget.tokens(), part.values) / Math.max(1, rowValues(part.field));
                collator = collator.room(spec.name(), Math.clamp(rows, 1, Integer.MAX_VALUE));
            }
        }
        return collator;
    }

    /** For example {@code tokens of 588 values of jpg, 1 of txt}. */
    @Override
    public String toString() {
        return "tokens of " + String.join(", ", parts.stream().map(part -> part.values + " values of "
                + samples.fields().get(part.field).name()).toList());
    }
}
