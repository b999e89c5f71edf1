// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import static io.penstock.memory.LittleEndian.F32;
import static io.penstock.memory.LittleEndian.I32;

import io.penstock.dataset.AnswerLengths;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.BadSampleException;
import io.penstock.dataset.source.BatchReader;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.TokenBudget;
import io.penstock.store.TokenContent;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Batches of answers to one question each, for training on preferences: the chosen and the rejected one of a pair, or
 * several in the order of the record. With B samples of at most K answers, and T the batch's longest answer, question
 * included, rounded up as {@link AnswerLengths} says:
 *
 * <ul>
 *   <li>{@code input_ids}, {@code [B, K, T]}: each row an answer's tokens, then the pad value;
 *   <li>{@code labels}, {@code [B, K, T]} like the ids: the next token, or {@value PackedLm#IGNORED} where it is not
 *       trained on, at the last token and in padding;
 *   <li>{@code attention_mask}, {@code bool[B, K, T]}: 1 for a token, 0 for padding;
 *   <li>{@code lengths}, {@code i32[B, K]}: the number of tokens in each row, 0 where a sample has fewer answers;
 *   <li>{@code scores}, {@code f32[B, K]}: the answers' scores, and 0 where there is none; their difference is a pair's
 *       margin;
 *   <li>{@code prefix_lengths}, {@code i32[B]}: the number of tokens that all answers of the sample begin with.
 * </ul>
 */
public final class PadAnswers implements Collator {

    private static final int FIELDS = 6;

    private final DType dtype;
    private final long padValue;
    private final int answers;
    private final int longest;
    private final int multipleOf;
    /** Of each sample; empty if they are known only when a sample is read. */
    private final Optional<AnswerLengths> lengths;

    private PadAnswers(DType dtype, long padValue, int answers, int longest, int multipleOf,
            Optional<AnswerLengths> lengths) {
        this.dtype = dtype;
        this.padValue = padValue;
        this.answers = answers;
        this.longest = longest;
        this.multipleOf = multipleOf;
        this.lengths = lengths;
    }

    /**
     * Creates a collator.
     *
     * @param dtype the ids' dtype in the batch: {@link DType#I32}, as they are stored, or {@link DType#I64}
     * @param padValue the id after a row's tokens
     * @param lengths of the dataset that is collated
     * @return the collator
     * @throws IllegalArgumentException if the dtype is another, or the pad value does not fit it
     */
    public static PadAnswers of(DType dtype, long padValue, AnswerLengths lengths) {
        Pad.checkPadValue(padValue, Integers.widened(dtype));
        return new PadAnswers(dtype, padValue, lengths.answers(), lengths.longest(), lengths.multipleOf(),
                Optional.of(lengths));
    }

    /**
     * Creates a collator for samples whose lengths are not known before they are read, such as those of a stream. A
     * sample that exceeds a limit is bad.
     *
     * @param dtype the ids' dtype in the batch: {@link DType#I32}, as they are stored, or {@link DType#I64}
     * @param padValue the id after a row's tokens
     * @param answers the most answers of a sample: K
     * @param longest the most tokens of an answer, a multiple of {@code multipleOf}
     * @param multipleOf lengths are rounded up to a multiple of this: 1 for no rounding
     * @return the collator
     * @throws IllegalArgumentException if the dtype is another, the pad value does not fit it, a number is below 1, or
     *     the longest is no multiple
     */
    public static PadAnswers of(DType dtype, long padValue, int answers, int longest, int multipleOf) {
        Pad.checkPadValue(padValue, Integers.widened(dtype));
        if (answers < 1 || longest < 1 || multipleOf < 1 || longest % multipleOf != 0) {
            throw new IllegalArgumentException("at most " + answers + " answers of at most " + longest + " tokens, to"
                    + " multiples of " + multipleOf + ": expected at least 1, and the tokens a multiple");
        }
        return new PadAnswers(dtype, padValue, answers, longest, multipleOf, Optional.empty());
    }

    /** {@return the lengths of the dataset that is collated; empty if they are not known before samples are read} */
    public Optional<AnswerLengths> lengths() {
        return lengths;
    }

    @Override
    public SlabLayout layout(Dataset dataset, TokenBudget budget) {
        if (lengths.isEmpty()) {
            throw new IllegalArgumentException("found a token budget, but no lengths of samples, expected"
                    + " AnswerLengths, or batches of a fixed size");
        }
        long tokens = budget.tokens();
        SlabLayout most = layout(dataset, budget.maxSamples(), tokens / Math.max(1, answers));
        long idBytes = tokens * most.fields().getFirst().dtype().byteSize();
        return most.bounded(0, idBytes).bounded(1, idBytes).bounded(2, tokens);
    }

    @Override
    public SlabLayout layout(Dataset dataset, int batchSize) {
        return layout(dataset, batchSize, Long.MAX_VALUE);
    }

    private SlabLayout layout(Dataset dataset, int batchSize, long mostTokens) {
        lengths.filter(known -> known.samples() != dataset.size()).ifPresent(known -> {
            throw new IllegalArgumentException("found lengths of " + known.samples() + " samples, expected those of "
                    + dataset);
        });
        TensorSpec field = dataset.fields().getFirst();
        if (!field.name().equals(TokenContent.ANSWERS.fieldName()) || field.dtype() != DType.I32) {
            throw new IllegalArgumentException("found samples of " + dataset.fields()
                    + ", expected a field answers i32[*]");
        }
        long tokens = Math.min(mostTokens, longest);
        return SlabLayout.of(new TensorSpec(CausalLm.INPUT_IDS, dtype, batchSize, answers, tokens),
                new TensorSpec(CausalLm.LABELS, dtype, batchSize, answers, tokens),
                new TensorSpec(Pad.ATTENTION_MASK, DType.BOOL, batchSize, answers, tokens),
                new TensorSpec(Pad.LENGTHS, DType.I32, batchSize, answers),
                new TensorSpec("scores", DType.F32, batchSize, answers),
                new TensorSpec("prefix_lengths", DType.I32, batchSize));
    }

    @Override
    public void collate(BatchReader in, BatchPlan plan, Slab out) {
        in.locateAll(plan, 0);
        int length = layOut(in, plan, out);
        DType to = out.layout().fields().getFirst().dtype();
        MemorySegment slab = out.segment();
        for (int i = 0; i < plan.count(); i++) {
            Span value = in.located(i);
            int size = Math.toIntExact(value.byteSize() / Integer.BYTES);
            int[] numbers = in.readIntegers(value, size, DType.I32);
            int count = AnswerLengths.check(numbers, size, plan.sample(i));
            int first = 1 + 2 * count;
            for (int answer = 0; answer < answers; answer++) {
                long row = (long) i * answers + answer;
                int tokens = answer < count ? numbers[1 + 2 * answer] : 0;
                if (tokens > length || count > answers) {
                    throw new BadSampleException(plan.sample(i), new IOException("sample " + plan.sample(i) + ": found "
                            + count + " answers, one of " + tokens + " tokens, expected at most " + answers + " of "
                            + length));
                }
                long at = row * length;
                long ids = out.offset(0) + at * to.byteSize();
                long labels = out.offset(1) + at * to.byteSize();
                Context.store(numbers, first, tokens, slab, to, ids, labels);
                int labeled = Math.max(0, tokens - 1);
                Integers.fill(slab, ids + (long) tokens * to.byteSize(), to, length - tokens, padValue);
                Integers.fill(slab, labels + (long) labeled * to.byteSize(), to, length - labeled, PackedLm.IGNORED);
                Integers.fill(slab, out.offset(2) + at, DType.BOOL, tokens, 1);
                Integers.fill(slab, out.offset(2) + at + tokens, DType.BOOL, length - tokens, 0);
                slab.set(I32, out.offset(3) + 4 * row, tokens);
                slab.set(F32, out.offset(4) + 4 * row,
                        answer < count ? Float.intBitsToFloat(numbers[2 + 2 * answer]) : 0f);
                first += tokens;
            }
            slab.set(I32, out.offset(5) + 4L * i, prefix(numbers, count));
        }
    }

    /** Sets the batch's shapes and returns the length of its rows. */
    private int layOut(BatchReader in, BatchPlan plan, Slab out) {
        int most = 0;
        AnswerLengths known = lengths.orElse(null);
        for (int i = 0; i < plan.count(); i++) {
            most = Math.max(most, known != null ? known.longest(plan.sample(i)) : longest(in, plan.sample(i), i));
        }
        for (int f = 0; f < FIELDS; f++) {
            out.setDim(f, 0, plan.count());
        }
        for (int f = 0; f < 3; f++) {
            out.setDim(f, 2, most);
        }
        out.layOut();
        return most;
    }

    /** Returns the tokens of a located sample's longest answer, rounded up. */
    private int longest(BatchReader in, long sample, int row) {
        Span value = in.located(row);
        long numbers = value.byteSize() / Integer.BYTES;
        int[] head = in.readIntegers(value, (int) Math.min(numbers, 1 + 2L * answers), DType.I32);
        int count = numbers == 0 ? 0 : head[0];
        int most = 0;
        if (count <= answers) {
            AnswerLengths.check(head, numbers, sample);
            for (int answer = 0; answer < count; answer++) {
                most = Math.max(most, head[1 + 2 * answer]);
            }
        }
        if (count > answers || most > longest) {
            throw new BadSampleException(sample, new IOException("sample " + sample + ": found " + count + " answers,"
                    + " one of " + most + " tokens, expected at most " + answers + " of " + longest));
        }
        return Math.ceilDiv(most, multipleOf) * multipleOf;
    }

    /** Returns how many tokens all answers have in common at their begin, trained on or not. */
    private static int prefix(int[] numbers, int count) {
        int first = 1 + 2 * count;
        int common = numbers[1];
        int begin = first + numbers[1];
        for (int answer = 1; answer < count; answer++) {
            int most = Math.min(common, numbers[1 + 2 * answer]);
            common = 0;
            while (common < most && Context.id(numbers[first + common]) == Context.id(numbers[begin + common])) {
                common++;
            }
            begin += numbers[1 + 2 * answer];
        }
        return common;
    }

    @Override
    public String toString() {
        return "pad-answers(" + dtype + ")";
    }
}
