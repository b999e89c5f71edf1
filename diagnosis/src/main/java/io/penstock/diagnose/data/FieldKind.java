// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;

/** The meaning of a field's values, which decides what is measured. */
public enum FieldKind {
    /** Token ids or classes: their frequencies. */
    IDS,
    /** Quantities: mean and deviation, for each channel if there are any. */
    NUMBERS,
    /** Counts of elements: mean, deviation and distribution. */
    LENGTHS;

    /** The field with the starts of packed pieces: the differences are their lengths. */
    static final String STARTS = "cu_seqlens";
    private static final int IMAGE_RANK = 3;

    /**
     * Guesses a field's kind: lengths by their name; {@code bool}, floating-point, and {@code u8} of rank 3 and more
     * (images) as numbers; other integers as ids.
     *
     * @param field the batch's field
     * @return the kind
     */
    public static FieldKind of(TensorSpec field) {
        if (field.name().equals(STARTS) || field.name().equals("lengths") || field.name().endsWith("_lengths")) {
            return LENGTHS;
        }
        boolean image = field.dtype() == DType.U8 && field.rank() >= IMAGE_RANK;
        return field.dtype().isInteger() && !image && field.rank() > 0 ? IDS : NUMBERS;
    }
}
