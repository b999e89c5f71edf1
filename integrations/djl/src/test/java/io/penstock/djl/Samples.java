// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.penstock.dataset.Dataset;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;

/** Datasets whose values follow from the sample's index. */
final class Samples {

    private Samples() {
    }

    /** One field {@code x} of bytes at random; of truth values, 0 and 1. */
    static Dataset ofBytes(long size, DType dtype, long... shape) {
        return Dataset.generate(size, List.of(new TensorSpec("x", dtype, shape)), "bytes of " + dtype,
                (sample, _, out) -> {
                    SplittableRandom random = new SplittableRandom(sample);
                    MemorySegment x = out.tensor("x").segment();
                    for (long i = 0; i < x.byteSize(); i++) {
                        int any = random.nextInt();
                        x.set(JAVA_BYTE, i, (byte) (dtype == DType.BOOL ? any & 1 : any));
                    }
                });
    }

    /**
     * Fields {@code id}, {@code i64[]} with the sample's index, and {@code row}, {@code i64[width]} of
     * {@code index * 1000 + column}.
     */
    static Dataset ofIndices(long size, long width) {
        return Dataset.generate(size, List.of(new TensorSpec("id", DType.I64), new TensorSpec("row", DType.I64, width)),
                "indices", (sample, _, out) -> {
                    out.tensor("id").segment().set(JAVA_LONG_UNALIGNED, 0, sample);
                    Tensor row = out.tensor("row");
                    for (long i = 0; i < width; i++) {
                        row.segment().set(JAVA_LONG_UNALIGNED, i * Long.BYTES, sample * 1000 + i);
                    }
                });
    }

    /** Points around four centers: {@code point}, {@code f32[8]}, and {@code kind}, {@code i64[]} from 0 to 3. */
    static Dataset ofPoints(long size) {
        return Dataset.generate(size,
                List.of(new TensorSpec("point", DType.F32, 8), new TensorSpec("kind", DType.I64)), "points",
                (sample, _, out) -> {
                    SplittableRandom random = new SplittableRandom(sample);
                    long kind = sample % 4;
                    MemorySegment point = out.tensor("point").segment();
                    for (int i = 0; i < 8; i++) {
                        float center = i % 4 == kind ? 1 : 0;
                        point.set(JAVA_FLOAT_UNALIGNED, i * 4L, center + (float) random.nextDouble(-0.4, 0.4));
                    }
                    out.tensor("kind").segment().set(JAVA_LONG_UNALIGNED, 0, kind);
                });
    }
}
