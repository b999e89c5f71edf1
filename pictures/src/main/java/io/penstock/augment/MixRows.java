// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static io.penstock.memory.LittleEndian.F32;
import static io.penstock.memory.LittleEndian.I16;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.augment.step.Warp;
import io.penstock.dataset.source.BadSampleException;
import io.penstock.dataset.source.BatchReader;
import io.penstock.memory.DType;
import io.penstock.memory.Slab;
import io.penstock.sampling.BatchPlan;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Mixes rows of a batch in place, each with the one before it. For one thread, which reuses its arrays. */
final class MixRows {

    private static final ThreadLocal<MixRows> OF_THREAD = ThreadLocal.withInitial(MixRows::new);

    private final double[] parameters = new double[BatchMix.PARAMETERS];
    private byte[] bytes = {};
    private short[] halves = {};
    private float[] row = {};
    private float[] partner = {};
    private float[] last = {};
    private double[] weights = {};
    private long[] classes = {};
    /** The label of one row; all zeros between two rows. */
    private float[] shares = {};

    static MixRows ofThread() {
        return OF_THREAD.get();
    }

    /** Returns the array of the batch's parameters, for {@link BatchMix#draw} to write. */
    double[] parameters() {
        return parameters;
    }

    /** Returns an array of at least {@code count} weights, for {@link BatchMix#drawWeights} to write. */
    double[] weights(int count) {
        if (weights.length < count) {
            weights = new double[count];
        }
        return weights;
    }

    static boolean takes(DType dtype) {
        return dtype == DType.U8 || dtype == DType.F16 || dtype == DType.BF16 || dtype == DType.F32;
    }

    /**
     * Blends whole rows, from the last to the first, since each needs the one before it as it was.
     *
     * @param first where the first row is
     */
    void mix(MemorySegment slab, long first, DType dtype, long imageBytes, int count) {
        int values = (int) (imageBytes / dtype.byteSize());
        if (row.length < values) {
            row = new float[values];
            partner = new float[values];
            last = new float[values];
        }
        load(slab, dtype, first + (count - 1) * imageBytes, last, values);
        System.arraycopy(last, 0, row, 0, values);
        for (int i = count - 1; i >= 0; i--) {
            if (i > 0) {
                load(slab, dtype, first + (i - 1) * imageBytes, partner, values);
            } else {
                System.arraycopy(last, 0, partner, 0, values);
            }
            blend(row, (float) weights[i], partner, (float) (1 - weights[i]), values);
            store(row, slab, dtype, first + i * imageBytes, values);
            float[] next = partner;
            partner = row;
            row = next;
        }
    }

    private static void blend(float[] row, float weight, float[] partner, float rest, int values) {
        for (int i = 0; i < values; i++) {
            row[i] = partner[i] * rest + row[i] * weight;
        }
    }

    private void load(MemorySegment images, DType dtype, long offset, float[] into, int values) {
        switch (dtype) {
            case U8 -> {
                reserve(values);
                MemorySegment.copy(images, JAVA_BYTE, offset, bytes, 0, values);
                for (int i = 0; i < values; i++) {
                    into[i] = bytes[i] & 0xFF;
                }
            }
            case F32 -> MemorySegment.copy(images, F32, offset, into, 0, values);
            default -> {
                reserveHalves(values);
                MemorySegment.copy(images, I16, offset, halves, 0, values);
                for (int i = 0; i < values; i++) {
                    into[i] = dtype == DType.F16 ? Float.float16ToFloat(halves[i])
                            : Float.intBitsToFloat(halves[i] << 16);
                }
            }
        }
    }

    /** Rounds once, to nearest even. */
    private void store(float[] from, MemorySegment images, DType dtype, long offset, int values) {
        switch (dtype) {
            case U8 -> {
                for (int i = 0; i < values; i++) {
                    bytes[i] = Warp.rounded(from[i]);
                }
                MemorySegment.copy(bytes, 0, images, JAVA_BYTE, offset, values);
            }
            case F32 -> MemorySegment.copy(from, 0, images, F32, offset, values);
            default -> {
                for (int i = 0; i < values; i++) {
                    halves[i] = dtype == DType.F16 ? Float.floatToFloat16(from[i]) : DType.bf16(from[i]);
                }
                MemorySegment.copy(halves, 0, images, I16, offset, values);
            }
        }
    }

    private void reserve(int count) {
        if (bytes.length < count) {
            bytes = new byte[count];
        }
    }

    private void reserveHalves(int count) {
        if (halves.length < count) {
            halves = new short[count];
        }
    }

    /**
     * Replaces a rectangle of each image by that of the image before it.
     *
     * @param first where the first image is
     * @param planes planes of an image
     * @param height rows of a plane
     * @param rowBytes bytes of a row
     * @param top the rectangle's first row
     * @param bottom the row below it
     * @param leftBytes where it begins in a row
     * @param partBytes its bytes in a row
     */
    void cut(MemorySegment slab, long first, long imageBytes, int count, int planes, int height, int rowBytes,
            int top, int bottom, int leftBytes, int partBytes) {
        int rows = bottom - top;
        reserve(planes * rows * partBytes);
        for (int i = count; i >= 0; i--) {                              // the last one's part is kept for the first
            for (int k = 0; k < planes * rows; k++) {
                long at = first + ((long) (k / rows) * height + top + k % rows) * rowBytes + leftBytes;
                if (i == count) {
                    MemorySegment.copy(slab, JAVA_BYTE, (i - 1) * imageBytes + at, bytes, k * partBytes, partBytes);
                } else if (i > 0) {
                    MemorySegment.copy(slab, (i - 1) * imageBytes + at, slab, i * imageBytes + at, partBytes);
                } else {
                    MemorySegment.copy(bytes, k * partBytes, slab, JAVA_BYTE, at, partBytes);
                }
            }
        }
    }

    /**
     * Writes each row's label, multiplied by the weight, plus its partner's, multiplied by the rest, with the rounding
     * of torchvision.
     */
    void softenLabels(BatchReader in, BatchPlan plan, int field, Slab out, int classCount) {
        DType dtype = in.samples().fields().get(field).dtype();
        if (classes.length < plan.count()) {
            classes = new long[plan.count()];
        }
        for (int i = 0; i < plan.count(); i++) {
            classes[i] = in.readLongs(in.locate(plan, i, field), 1, dtype)[0];
            if (classes[i] < 0 || classes[i] >= classCount) {
                throw new BadSampleException(plan.sample(i),
                        new IOException(in.samples().name(plan.sample(i)) + ", field '"
                                + in.samples().fields().get(field).name() + "': class "
                                + (dtype == DType.U64 ? Long.toUnsignedString(classes[i]) : classes[i])
                                + ", expected 0 to " + (classCount - 1)));
            }
        }
        if (shares.length < classCount) {
            shares = new float[classCount];
        }
        for (int i = 0; i < plan.count(); i++) {
            int own = (int) classes[i];
            int other = (int) classes[partner(i, plan.valid())];
            share(shares, own, other, weights[i]);
            MemorySegment.copy(shares, 0, out.segment(), F32,
                    out.offset(field) + (long) i * classCount * Float.BYTES, classCount);
            shares[own] = 0;
            shares[other] = 0;
        }
    }

    /** Sets the shares of two classes, which may be the same class. */
    static void share(float[] shares, int own, int other, double weight) {
        shares[other] = (float) (1 - weight);
        shares[own] += (float) weight;
    }

    /** Writes the added fields: the partners' labels, and the weights. */
    void pairLabels(BatchPlan plan, int labelBytes, Slab out, int field, int added) {
        MemorySegment slab = out.segment();
        for (int i = 0; i < plan.count(); i++) {
            MemorySegment.copy(slab, out.offset(field) + (long) partner(i, plan.valid()) * labelBytes, slab,
                    out.offset(added) + (long) i * labelBytes, labelBytes);
            slab.set(F32, out.offset(added + 1) + (long) i * Float.BYTES, (float) weights[i]);
        }
    }

    private static int partner(int i, int valid) {
        return i >= valid ? i : i == 0 ? valid - 1 : i - 1;
    }
}
