// SPDX-License-Identifier: Apache-2.0
package io.penstock.bridge;

import io.penstock.dataset.Dataset;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;

/** Datasets whose values follow from the sample's index. */
public final class Samples {

    private Samples() {
    }

    /**
     * One field {@code x}. Its bytes are random; truth values are 0 and 1, and floats are small whole numbers.
     *
     * @param size the number of samples
     * @param dtype the field's dtype
     * @param shape the field's shape in a sample
     * @return the dataset
     */
    public static Dataset of(long size, DType dtype, long... shape) {
        return Dataset.generate(size, List.of(new TensorSpec("x", dtype, shape)), "samples of " + dtype,
                (sample, _, out) -> {
                    SplittableRandom random = new SplittableRandom(sample);
                    MemorySegment x = out.tensor("x").segment();
                    for (long i = 0; i < x.byteSize(); i++) {
                        int any = random.nextInt();
                        // Exponents with a bit clear: neither infinite nor a NaN, which frameworks may change
                        x.set(ValueLayout.JAVA_BYTE, i, (byte) (dtype == DType.BOOL ? any & 1
                                : dtype.isInteger() ? any : any & 0xBB));
                    }
                });
    }

    /**
     * Fields {@code id}, {@code i64[]} with the sample's index, and {@code row}, {@code f32[width]} of
     * {@code index + column}.
     *
     * @param size the number of samples
     * @param width the row's length
     * @return the dataset
     */
    public static Dataset rows(long size, long width) {
        return Dataset.generate(size, List.of(new TensorSpec("id", DType.I64), new TensorSpec("row", DType.F32, width)),
                "rows", (sample, _, out) -> {
                    out.tensor("id").segment().set(ValueLayout.JAVA_LONG_UNALIGNED, 0, sample);
                    MemorySegment row = out.tensor("row").segment();
                    for (long i = 0; i < width; i++) {
                        row.set(ValueLayout.JAVA_FLOAT_UNALIGNED, i * Float.BYTES, sample + i);
                    }
                });
    }
}
