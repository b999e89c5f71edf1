// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.transform.ImageTransform.Layout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

/** Random images and tensors, and what comes of them element by element. */
final class TensorExperiments {
    private static final int CAST_ELEMENTS = 400;

    /** Values at which conversions go wrong, as f64. */
    private static final double[] EDGES = {0.0, -0.0, 0.5, -0.5, 1, -1, 1.5, 2.5, 127.5, 128, -128, -129, 240, 255, 256,
        447, 448, 464, 465, 480, 57344, 61439, 61440, 65504, 65519.99, 65520, 65535, 65536, 0x1p-9, 0x1p-10, 0x1.8p-10,
        0x1p-14, 0x1p-15, 0x1p-16, 0x1p-17, 0x1p-24, 0x1p-25, 0x1.000002p-25, 0x1p-133, 0x1p-134, 0x1p-149, 0x1p-150,
        0x1.0000000000001p-150, 0x1p31, 0x1.fffffffcp30, -0x1p31, 0x1p32, 0x1p53, 0x1p63, -0x1p63, 0x1.8p63, 0x1p64,
        0x1.fffffep127, 0x1.ffffffp127, 0x1.fefp127, 0x1.ffp127, Double.MIN_VALUE, Double.MAX_VALUE,
        Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.NaN};

    private static final DType[] IMAGE_TYPES = {DType.F32, DType.F16, DType.BF16};

    /** Of deviations: results that f16 has as subnormal numbers, and beyond what it has. */
    private static final float[] SCALES = {1, 1, 0x1p22f, 0x1p-22f};

    private final SplittableRandom random;

    TensorExperiments(long seed) {
        this.random = new SplittableRandom(seed);
    }

    List<Experiment> all() {
        List<Experiment> all = new ArrayList<>();
        for (DType from : DType.values()) {
            for (DType to : DType.values()) {
                all.add(cast(from, to));
            }
        }
        for (int i = 0; i < 24; i++) {
            all.add(images());
        }
        return all;
    }

    private Experiment cast(DType from, DType to) {
        int count = from.byteSize() == 1 ? 256 : CAST_ELEMENTS;
        Cells source = Cells.random(from, count, random);
        for (int i = 0; i < count; i++) {
            if (from == DType.BOOL) {
                source.set(i, i & 1);
            } else if (from.byteSize() == 1) {
                source.set(i, i);
            } else if (from.isFloat() && i < 3 * EDGES.length) {      // edges, and their neighbours
                double edge = EDGES[i / 3];
                source.set(i, SlowCast.cast(DType.F64, from, Double.doubleToRawLongBits(edge)) + i % 3 - 1);
            } else if (i % 2 == 0) {                                // small magnitudes as often as large ones
                source.set(i, source.bits(i) >> random.nextInt(8 * from.byteSize()));
            }
        }
        Cells target = Cells.outputs(to, count);
        for (int i = 0; i < count; i++) {
            target.set(i, SlowCast.cast(from, to, source.bits(i)));
        }
        var transform = new CastTransform(from, to);
        return new Experiment("cast " + from + " to " + to,
                (lab, at) -> transform.enqueue(lab.stream(), at.get("source"), count, at.get("target")))
                .input("source", source).output("target", target);
    }

    /** Images of several pieces of the twin's arrays each: every layout and dtype. */
    List<Experiment> largeImages() {
        List<Experiment> all = new ArrayList<>();
        for (Layout from : Layout.values()) {
            for (Layout to : Layout.values()) {
                for (DType dtype : IMAGE_TYPES) {
                    all.add(images(2, 3, 161, 67, from, to, dtype, false));
                }
            }
        }
        return all;
    }

    private Experiment images() {
        return images(false);
    }

    /** An image transform as a loader's stage: with fewer images than there can be. */
    Experiment imageStage() {
        return images(true);
    }

    private Experiment images(boolean stage) {
        int width = random.nextInt(4) == 0 ? random.nextInt(256, 600) : random.nextInt(1, 40);
        return images(random.nextInt(1, 5), random.nextInt(1, 5), random.nextInt(1, 40), width,
                Layout.values()[random.nextInt(2)], Layout.values()[random.nextInt(2)],
                IMAGE_TYPES[random.nextInt(3)], stage);
    }

    private Experiment images(int batch, int channels, int height, int width, Layout from, Layout to, DType dtype,
            boolean stage) {
        float scale = SCALES[random.nextInt(SCALES.length)];
        float[] mean = new float[channels];
        float[] deviation = new float[channels];
        for (int c = 0; c < channels; c++) {
            mean[c] = (float) random.nextDouble();
            deviation[c] = (float) random.nextDouble(0.01, 2) * scale;
        }
        Cells images = Cells.random(DType.U8, (long) batch * channels * height * width, random);
        Cells target = Cells.outputs(dtype, (long) batch * channels * height * width);
        for (int b = 0; b < batch; b++) {
            for (int c = 0; c < channels; c++) {
                for (int y = 0; y < height; y++) {
                    for (int x = 0; x < width; x++) {
                        long p = images.bits(index(from, channels, height, width, b, c, y, x));
                        float unit = p / 255f;
                        float centred = unit - mean[c];
                        float value = centred / deviation[c];
                        target.set(index(to, channels, height, width, b, c, y, x),
                                SlowCast.cast(DType.F32, dtype, Float.floatToRawIntBits(value) & 0xFFFF_FFFFL));
                    }
                }
            }
        }
        ImageTransform transform = ImageTransform.of(from, channels, height, width).normalize(mean, deviation)
                .to(dtype, to);
        if (stage) {
            return stage(transform, batch).input("image", images).output(StageWork.OUT + "image", target);
        }
        return new Experiment("images " + from + " " + batch + "x" + channels + "x" + height + "x" + width + " to " + to
                + " " + dtype, (lab, at) -> transform.enqueue(lab.stream(), at.get("images"), batch, at.get("target")))
                .input("images", images).output("target", target);
    }

    private Experiment stage(ImageTransform transform, int batch) {
        int most = batch + random.nextInt(4);
        var work = new StageWork(transform.stage("image"), batch,
                new TensorSpec("image", DType.U8, batched(most, transform.sourceShape())))
                .shape("image", batched(batch, transform.sourceShape()))
                .expect("image", batched(batch, transform.targetShape()));
        return new Experiment("stage of " + batch + " of " + most + " images: " + transform, work);
    }

    private static long[] batched(long batch, long[] shape) {
        return LongStream.concat(LongStream.of(batch), LongStream.of(shape)).toArray();
    }

    private static long index(Layout layout, int channels, int height, int width, int b, int c, int y, int x) {
        return layout == Layout.NHWC ? ((long) (b * height + y) * width + x) * channels + c
                : ((long) (b * channels + c) * height + y) * width + x;
    }
}
