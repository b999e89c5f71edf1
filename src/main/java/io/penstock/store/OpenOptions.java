package io.penstock.store;

import io.penstock.codec.DecodeLimit;
import io.penstock.memory.DType;
import java.util.List;
import java.util.Objects;

/**
 * What is known of a store that its files do not say, and what they may decode to.
 *
 * @param format the name of its format, whatever content and names look like: one of {@link StoreFormats#all}; null to
 *     look
 * @param dtype the type of its elements, for a format that does not say it; null for what the format says
 * @param shape the shape of its elements, for a format that does not say it: {@code -1} as first dimension stands for
 *     as many as there are; null for what the format says
 * @param member the part that is wanted of a store that has several: LMDB's database, a HDF5 group; null for all, or
 *     the only one
 * @param decodeLimit what each compressed file may decode to
 */
public record OpenOptions(String format, DType dtype, List<Long> shape, String member, DecodeLimit decodeLimit) {

    /** Everything is as the files say. */
    public static final OpenOptions DEFAULT = new OpenOptions(null, null, null, null, DecodeLimit.DEFAULT);

    /** Copies. */
    public OpenOptions {
        shape = shape == null ? null : List.copyOf(shape);
        Objects.requireNonNull(decodeLimit, "decodeLimit");
    }

    /**
     * These options and a format.
     *
     * @param format its name, for example {@code npy}
     * @return the options
     */
    public OpenOptions withFormat(String format) {
        return new OpenOptions(format, dtype, shape, member, decodeLimit);
    }

    /**
     * These options and a type of elements.
     *
     * @param dtype the type
     * @return the options
     */
    public OpenOptions withDType(DType dtype) {
        return new OpenOptions(format, dtype, shape, member, decodeLimit);
    }

    /**
     * These options and a shape.
     *
     * @param shape the shape; its first dimension may be -1
     * @return the options
     */
    public OpenOptions withShape(List<Long> shape) {
        return new OpenOptions(format, dtype, shape, member, decodeLimit);
    }

    /**
     * These options and a part.
     *
     * @param member the part's name
     * @return the options
     */
    public OpenOptions withMember(String member) {
        return new OpenOptions(format, dtype, shape, member, decodeLimit);
    }

    /**
     * These options and a limit.
     *
     * @param limit what each compressed file may decode to
     * @return the options
     */
    public OpenOptions withDecodeLimit(DecodeLimit limit) {
        return new OpenOptions(format, dtype, shape, member, limit);
    }
}
