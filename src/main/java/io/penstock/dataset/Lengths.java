// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.dataset.reading.SampleReader;
import io.penstock.dataset.source.BadSampleException;
import io.penstock.dataset.source.FieldSource;
import io.penstock.io.ReadMode;
import io.penstock.memory.TensorSpec;
import java.util.Objects;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;

/**
 * The length of one field in each sample, for orders and batches by length: measured once on all processors, 4 bytes
 * per sample. Immutable.
 *
 * <p>A token store knows the lengths of its documents: {@link Documents#length} needs no table.
 */
public final class Lengths implements LongUnaryOperator {

    private static final int RUN = 4096;

    private final int[] lengths;

    private Lengths(int[] lengths) {
        this.lengths = lengths;
    }

    /**
     * Measures a field. For a decoded field, this reads each sample and asks the decoder.
     *
     * @param dataset the samples
     * @param field the field's position in the dataset's fields; of varying length
     * @return the lengths along its first dimension
     * @throws IllegalArgumentException if the field is of a fixed shape, or there are 2^31 samples or more
     * @throws BadSampleException if a sample is corrupt or cannot be decoded; names it
     */
    public static Lengths of(Dataset dataset, int field) {
        return of(dataset, field, Long.MAX_VALUE);
    }

    /**
     * Measures a field that will be truncated.
     *
     * @param dataset the samples
     * @param field the field's position in the dataset's fields; of varying length
     * @param maxLength the maximum length, as in the collator
     * @return the lengths along its first dimension, none above {@code maxLength}
     * @throws IllegalArgumentException if the field is of a fixed shape, or there are 2^31 samples or more
     * @throws BadSampleException if a sample is corrupt or cannot be decoded; names it
     */
    public static Lengths of(Dataset dataset, int field, long maxLength) {
        TensorSpec spec = dataset.fields().get(field);
        if (!spec.isVariable()) {
            throw new IllegalArgumentException(spec + " has one length, expected a field of varying length");
        }
        if (dataset.size() > Integer.MAX_VALUE - 8) {
            throw new IllegalArgumentException(dataset.size() + " samples, expected fewer than 2^31");
        }
        int[] lengths = new int[(int) dataset.size()];
        long rowBytes = Math.max(1, spec.rowBytes());
        IntStream.range(0, Math.ceilDiv(lengths.length, RUN)).parallel().forEach(run -> {
            try (SampleReader reader = new SampleReader(dataset, ReadMode.AUTO)) {
                int end = (int) Math.min(lengths.length, (run + 1L) * RUN);
                for (int sample = run * RUN; sample < end; sample++) {
                    lengths[sample] = Math.toIntExact(Math.min(maxLength, reader.byteSize(sample, field) / rowBytes));
                }
            }
        });
        return new Lengths(lengths);
    }

    /** Measures all values of a field and returns the greatest length. Skips bad samples; reading one fails later. */
    static long longest(Dataset dataset, int field) {
        long rowBytes = Math.max(1, dataset.fields().get(field).rowBytes());
        long longest = 0;
        try (SampleReader reader = new SampleReader(dataset, ReadMode.AUTO)) {
            for (long sample = 0; sample < dataset.size(); sample++) {
                try {
                    longest = Math.max(longest, reader.byteSize(sample, field) / rowBytes);
                } catch (BadSampleException _) {
                    // Skipped: it has no length.
                }
            }
        }
        return longest;
    }

    /**
     * Returns the greatest length of a field in a part of a dataset. It is measured. Generated values may need the
     * random numbers of a batch: of these it is the greatest length in the whole dataset.
     */
    static long longest(Dataset part, int field, Dataset whole) {
        return isGenerated(whole.source(field)) ? whole.maxLength(field) : longest(part, field);
    }

    private static boolean isGenerated(FieldSource source) {
        return switch (source) {
            case FieldSource.Generated generated -> generated.maxLength() > Generated.NO_LENGTH;
            case FieldSource.Mapped mapped -> isGenerated(mapped.input());
            case FieldSource.Joined joined -> joined.parts().stream().anyMatch(Lengths::isGenerated);
            default -> false;
        };
    }

    /**
     * {@return a sample's length, at least 0}
     *
     * @param sample the sample's index
     * @throws IndexOutOfBoundsException if the sample does not exist
     */
    @Override
    public long applyAsLong(long sample) {
        return lengths[(int) Objects.checkIndex(sample, (long) lengths.length)];
    }
}
