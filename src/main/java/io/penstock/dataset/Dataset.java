package io.penstock.dataset;

import io.penstock.decode.Decoder;
import io.penstock.io.Rows;
import io.penstock.io.Span;
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
     * Where a field is.
     *
     * @param field its name
     * @return its position in {@link #fields}
     * @throws IllegalArgumentException if there is no such field
     */
    default int indexOf(String field) {
        List<String> names = fields().stream().map(TensorSpec::name).toList();
        int index = names.indexOf(field);
        if (index < 0) {
            throw new IllegalArgumentException("no field '" + field + "', samples have " + names);
        }
        return index;
    }

    /**
     * Points at one field of one sample as it is stored, without touching its bytes unless they are stored compressed.
     *
     * @param sample the sample's index
     * @param field the field's position in {@link #fields}
     * @param into set to the field's bytes: where the field has no {@link #decoder}, packed, row-major, little-endian,
     *     and for a variable field their number says how long this sample is; otherwise what the decoder takes
     * @throws IndexOutOfBoundsException if there is no such sample
     */
    void locate(long sample, int field, Span into);

    /**
     * Whether a field's value may lie in several runs of bytes, which {@link #parts} counts and {@link #locatePart}
     * points at; {@link #locate} is then for those of one run alone.
     *
     * @param field the field's position in {@link #fields}
     * @return true if so, for whatever sample
     */
    default boolean hasParts(int field) {
        return false;
    }

    /**
     * The runs of bytes that a field's value lies in.
     *
     * @param sample the sample's index
     * @param field the field's position in {@link #fields}
     * @return the count; 1 unless {@link #hasParts}
     * @throws IndexOutOfBoundsException if there is no such sample
     */
    default int parts(long sample, int field) {
        return 1;
    }

    /**
     * Points at one run of the bytes that a field's value lies in, one behind the other.
     *
     * @param sample the sample's index
     * @param field the field's position in {@link #fields}
     * @param part from 0 up to, not including, {@link #parts}
     * @param into set to the run
     * @throws IndexOutOfBoundsException if there is no such sample or part
     */
    default void locatePart(long sample, int field, int part, Span into) {
        locate(sample, field, into);
    }

    /**
     * What makes a field of its stored bytes.
     *
     * @param field the field's position in {@link #fields}
     * @return the decoder, or null if the bytes are stored as the field has them
     */
    default Decoder decoder(int field) {
        return null;
    }

    /**
     * What code of a user makes of a field of other samples.
     *
     * @param field the field's position in {@link #fields}
     * @return how this field comes to be; null unless it does, and then {@link #locate} is not for it
     */
    default FieldMap map(int field) {
        return null;
    }

    /**
     * What users call a sample, for messages.
     *
     * @param sample the sample's index
     * @return for example {@code sample 17}; a store's own name for it, where it has one
     */
    default String name(long sample) {
        return "sample " + sample;
    }

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
