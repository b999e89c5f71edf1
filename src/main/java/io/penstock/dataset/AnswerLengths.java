// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.dataset.reading.SampleReader;
import io.penstock.dataset.source.BadSampleException;
import io.penstock.dataset.source.BatchReader;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.TokenContent;
import java.io.IOException;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;

/**
 * The numbers and lengths of the answers in each sample of a field {@code answers}, measured once on all processors, 4
 * bytes per sample. As lengths for orders and batches by length, a sample's is that of its padded rows together.
 * Immutable.
 *
 * <p>The field, {@code i32[*]}, holds the number of answers, then for each its number of tokens and its score as the
 * bits of an {@code f32}, then the masked tokens of all of them. Specified in {@code docs/spec/conversations.md}.
 */
public final class AnswerLengths implements LongUnaryOperator {

    private static final int RUN = 4096;

    /** The longest answer of each sample, rounded up. */
    private final int[] longest;
    private final int answers;
    private final int multipleOf;

    private AnswerLengths(int[] longest, int answers, int multipleOf) {
        this.longest = longest;
        this.answers = answers;
        this.multipleOf = multipleOf;
    }

    /**
     * Measures the answers of all samples. For a decoded field, this decodes each sample.
     *
     * @param dataset samples of one field {@code answers}
     * @param multipleOf lengths are rounded up to a multiple of this: 1 for no rounding, 8 or 64 for tensor cores
     * @return the lengths
     * @throws IllegalArgumentException if the field is another, there are 2^31 samples or more, or the multiple is
     *     below 1
     * @throws BadSampleException if a sample is corrupt or cannot be decoded; names it
     */
    public static AnswerLengths of(Dataset dataset, int multipleOf) {
        TensorSpec field = dataset.fields().getFirst();
        if (dataset.fields().size() != 1 || !field.name().equals(TokenContent.ANSWERS.fieldName())
                || field.dtype() != DType.I32 || dataset.arrivals().isPresent()) {
            throw new IllegalArgumentException("found samples of " + dataset.fields()
                    + ", expected a field answers i32[*] of samples with an index");
        }
        if (multipleOf < 1 || dataset.size() > Integer.MAX_VALUE - 8) {
            throw new IllegalArgumentException(dataset.size() + " samples, lengths to multiples of " + multipleOf
                    + ": expected fewer than 2^31, and at least 1");
        }
        int[] longest = new int[(int) dataset.size()];
        int most = IntStream.range(0, Math.ceilDiv(longest.length, RUN)).parallel().map(run -> {
            int answers = 0;
            try (SampleReader reader = new SampleReader(dataset, ReadMode.AUTO)) {
                for (int sample = run * RUN; sample < Math.min(longest.length, (run + 1L) * RUN); sample++) {
                    Span value = reader.locate(sample, 0);
                    long numbers = value.byteSize() / Integer.BYTES;
                    int first = numbers == 0 ? 0 : reader.readIntegers(value, 1, DType.I32)[0];
                    int[] head = reader.readIntegers(value, (int) Math.clamp(1 + 2L * first, 0, numbers), DType.I32);
                    int count = check(head, numbers, sample);
                    answers = Math.max(answers, count);
                    for (int answer = 0; answer < count; answer++) {
                        longest[sample] = Math.max(longest[sample], head[1 + 2 * answer]);
                    }
                    longest[sample] = Math.toIntExact(Math.ceilDiv(longest[sample], (long) multipleOf) * multipleOf);
                }
            }
            return answers;
        }).max().orElse(0);
        return new AnswerLengths(longest, most, multipleOf);
    }

    /**
     * {@return the number of answers in a value, after a check of its numbers}
     *
     * @param head the value, or at least the numbers before the tokens
     * @param numbers how many numbers the value has
     * @param sample the sample's index, for the error
     * @throws BadSampleException if the number or a length is negative or too large, or the lengths do not add up
     */
    public static int check(int[] head, long numbers, long sample) {
        int count = numbers == 0 ? 0 : head[0];
        if (count < 1 || count > (numbers - 1) / 2 || numbers > BatchReader.MAX_INTEGERS) {
            throw bad(sample, count + " answers in " + numbers + " numbers",
                    "1 or more, with a length and a score each, in fewer than 2^31 numbers");
        }
        long tokens = 0;
        for (int answer = 0; answer < count; answer++) {
            int length = head[1 + 2 * answer];
            if (length < 0) {
                throw bad(sample, "answer " + answer + " of " + length + " tokens", "0 or more");
            }
            tokens += length;
        }
        if (tokens != numbers - 1 - 2L * count) {
            throw bad(sample, "answers of " + tokens + " tokens", "as many as follow, " + (numbers - 1 - 2L * count));
        }
        return count;
    }

    private static BadSampleException bad(long sample, String found, String expected) {
        return new BadSampleException(sample, new IOException("sample " + sample + ": found " + found + ", expected "
                + expected));
    }

    /** {@return the most answers in a sample} */
    public int answers() {
        return answers;
    }

    /** {@return what lengths are rounded up to a multiple of} */
    public int multipleOf() {
        return multipleOf;
    }

    /** {@return the number of samples} */
    public long samples() {
        return longest.length;
    }

    /**
     * {@return the tokens of a sample's longest answer, rounded up}
     *
     * @param sample the sample's index
     * @throws IndexOutOfBoundsException if the sample does not exist
     */
    public int longest(long sample) {
        return longest[(int) Objects.checkIndex(sample, (long) longest.length)];
    }

    /** {@return the tokens of the longest answer in all samples, rounded up} */
    public int longest() {
        return Arrays.stream(longest).max().orElse(0);
    }

    /**
     * {@return the tokens of a sample's rows with padding: the most answers in any sample times its longest}
     *
     * @param sample the sample's index
     * @throws IndexOutOfBoundsException if the sample does not exist
     */
    @Override
    public long applyAsLong(long sample) {
        return (long) answers * longest(sample);
    }
}
