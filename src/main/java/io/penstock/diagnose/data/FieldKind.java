package io.penstock.diagnose.data;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;

/** What the values of a field mean, and so what is measured of them. */
public enum FieldKind {
    /** Token ids or classes: how often each is there. */
    IDS,
    /** Quantities: mean and deviation, of each channel where there are some. */
    NUMBERS,
    /** Counts of elements: mean, deviation and how they are spread. */
    LENGTHS;

    /** Where packed pieces begin: the differences are their lengths. */
    static final String STARTS = "cu_seqlens";
    private static final int IMAGE_RANK = 3;

    /**
     * What a field of a batch is taken for: lengths by their names; other integers as ids, but truth values, and
     * {@code u8} of rank 3 and more, which are images, as numbers; floating-point as numbers.
     *
     * @param field the field, as the batch has it
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
