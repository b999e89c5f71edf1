package io.penstock.dataset;

import io.penstock.memory.Rows;
import io.penstock.memory.Span;
import io.penstock.memory.TensorSpec;
import java.util.List;

/**
 * Samples of named fields, addressed by an index from 0 to {@link #size}.
 *
 * <p>A dataset is immutable and may be read by any number of threads. It does not own the store behind it, which must
 * stay open as long as the dataset is read.
 */
public interface Dataset {

    /**
     * The number of samples.
     *
     * @return the count
     */
    long size();

    /**
     * The fields that every sample has, with the shape of one sample; the first dimension of a field may be
     * {@linkplain TensorSpec#VARIABLE variable}.
     *
     * @return at least one field; names differ
     */
    List<TensorSpec> fields();

    /**
     * Points at one field of one sample, without touching its bytes.
     *
     * @param sample the sample's index
     * @param field the field's position in {@link #fields}
     * @param into set to the field's bytes, packed, row-major, little-endian; for a variable field their number says
     *     how long this sample is
     * @throws IndexOutOfBoundsException if there is no such sample
     */
    void locate(long sample, int field, Span into);

    /**
     * A field of all samples as rows at equal distances, if that is how they lie: then sample {@code i} is row
     * {@code i}, and readers need not ask where each is. An implementation that cannot say so leaves this out.
     *
     * @param field the field's position in {@link #fields}
     * @return the rows, or null
     */
    default Rows rows(int field) {
        return null;
    }

    /**
     * The greatest length that a field has along its first dimension, over all samples.
     *
     * @param field the field's position in {@link #fields}
     * @return that dimension, if it is fixed; otherwise the greatest one, which may take a pass over the store's index
     */
    long maxLength(int field);

    /**
     * A short text that changes when the samples do: what a saved state compares.
     *
     * @return the fingerprint: that of the store, and how it is cut into samples
     */
    String fingerprint();
}
