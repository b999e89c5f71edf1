// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import io.penstock.io.DecodeLimit;
import io.penstock.memory.DType;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a store's files do not declare, and limits on decoding.
 *
 * @param format the format's name, one of {@link StoreFormats#all}, which skips detection; null to detect
 * @param dtype the element type, for a format that declares none; null for the declared one
 * @param shape the shape, for a format that declares none; a first dimension of {@code -1} is inferred from the file
 *     size; null for the declared shape
 * @param member the part to open of a store with several: an LMDB database, an HDF5 group; null for all, or the only
 *     one. A format without members refuses it
 * @param headerBytes the bytes to skip before the first element, for a format that declares none
 * @param decodeLimit the most that each compressed file may decode to
 */
public record OpenOptions(@Nullable String format, @Nullable DType dtype, @Nullable List<Long> shape,
        @Nullable String member, long headerBytes, DecodeLimit decodeLimit) {

    /** No options: the files declare everything. */
    public static final OpenOptions DEFAULT = new OpenOptions(null, null, null, null, 0, DecodeLimit.DEFAULT);

    /**
     * Checks the header's size and copies the shape.
     *
     * @throws IllegalArgumentException if the header's size is negative
     */
    public OpenOptions {
        if (headerBytes < 0) {
            throw new IllegalArgumentException("a header of " + headerBytes + " bytes, expected 0 or more");
        }
        shape = shape == null ? null : List.copyOf(shape);
        Objects.requireNonNull(decodeLimit, "decodeLimit");
    }

    /**
     * {@return these options with a format}
     *
     * @param format the format's name, for example {@code npy}
     */
    public OpenOptions withFormat(String format) {
        return new OpenOptions(format, dtype, shape, member, headerBytes, decodeLimit);
    }

    /**
     * {@return these options with an element type}
     *
     * @param dtype the type
     */
    public OpenOptions withDType(DType dtype) {
        return new OpenOptions(format, dtype, shape, member, headerBytes, decodeLimit);
    }

    /**
     * {@return these options with a shape}
     *
     * @param shape the shape; its first dimension may be -1
     */
    public OpenOptions withShape(List<Long> shape) {
        return new OpenOptions(format, dtype, shape, member, headerBytes, decodeLimit);
    }

    /**
     * {@return these options with a part}
     *
     * @param member the part's name
     */
    public OpenOptions withMember(String member) {
        return new OpenOptions(format, dtype, shape, member, headerBytes, decodeLimit);
    }

    /**
     * {@return these options with a header that is skipped}
     *
     * @param bytes the header's size: the offset of the first element
     * @throws IllegalArgumentException if it is negative
     */
    public OpenOptions withHeaderBytes(long bytes) {
        return new OpenOptions(format, dtype, shape, member, bytes, decodeLimit);
    }

    /**
     * {@return these options with a decode limit}
     *
     * @param limit the most that each compressed file may decode to
     */
    public OpenOptions withDecodeLimit(DecodeLimit limit) {
        return new OpenOptions(format, dtype, shape, member, headerBytes, limit);
    }
}
