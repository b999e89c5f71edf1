// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.transform.ImageTransform.Layout;
import java.lang.foreign.MemorySegment;
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
            all.add(gatherRows());
            all.add(padRows());
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

    /** Images of several pieces of the twin's arrays each: every layout and dtype, mirrored and not. */
    List<Experiment> largeImages() {
        List<Experiment> all = new ArrayList<>();
        for (Layout from : Layout.values()) {
            for (Layout to : Layout.values()) {
                for (DType dtype : IMAGE_TYPES) {
                    all.add(images(6, 3, 61, 67, 50, 61, from, to, dtype, true, false));
                    all.add(images(2, 3, 61, 67, 61, 67, from, to, dtype, false, false));
                }
            }
        }
        return all;
    }

    private Experiment images() {
        return images(false);
    }

    /** An image transform as a loader's stage: with fewer images than there can be, crops in a field or none. */
    Experiment imageStage() {
        return images(true);
    }

    private Experiment images(boolean stage) {
        int height = random.nextInt(1, 40);
        int width = random.nextInt(4) == 0 ? random.nextInt(256, 600) : random.nextInt(1, 40);
        return images(random.nextInt(1, 5), random.nextInt(1, 5), height, width, random.nextInt(1, height + 1),
                random.nextInt(1, width + 1), Layout.values()[random.nextInt(2)], Layout.values()[random.nextInt(2)],
                IMAGE_TYPES[random.nextInt(3)], random.nextInt(4) > 0, stage);
    }

    private Experiment images(int batch, int channels, int height, int width, int cropHeight, int cropWidth,
            Layout from, Layout to, DType dtype, boolean own, boolean stage) {
        float scale = SCALES[random.nextInt(SCALES.length)];
        float[] mean = new float[channels];
        float[] deviation = new float[channels];
        for (int c = 0; c < channels; c++) {
            mean[c] = (float) random.nextDouble();
            deviation[c] = (float) random.nextDouble(0.01, 2) * scale;
        }
        Cells images = Cells.random(DType.U8, (long) batch * channels * height * width, random);
        Cells crops = crops(batch, height, width, cropHeight, cropWidth);
        Cells target = Cells.outputs(dtype, (long) batch * channels * cropHeight * cropWidth);
        for (int b = 0; b < batch; b++) {
            int top = own ? clamp(crops.integer(4L * b), height - cropHeight) : (height - cropHeight) / 2;
            int left = own ? clamp(crops.integer(4L * b + 1), width - cropWidth) : (width - cropWidth) / 2;
            boolean flip = own && crops.integer(4L * b + 2) != 0;
            for (int c = 0; c < channels; c++) {
                for (int y = 0; y < cropHeight; y++) {
                    for (int x = 0; x < cropWidth; x++) {
                        int sourceX = left + (flip ? cropWidth - 1 - x : x);
                        long p = images.bits(index(from, channels, height, width, b, c, top + y, sourceX));
                        float unit = p / 255f;
                        float centred = unit - mean[c];
                        float value = centred / deviation[c];
                        target.set(index(to, channels, cropHeight, cropWidth, b, c, y, x),
                                SlowCast.cast(DType.F32, dtype, Float.floatToRawIntBits(value) & 0xFFFF_FFFFL));
                    }
                }
            }
        }
        ImageTransform transform = ImageTransform.of(from, channels, height, width).crop(cropHeight, cropWidth)
                .normalize(mean, deviation).to(dtype, to);
        if (stage) {
            return stage(transform, batch, own).input("image", images).input("crops", crops)
                    .output(StageWork.OUT + "image", target);
        }
        return new Experiment("images " + from + " " + batch + "x" + channels + "x" + height + "x" + width + " to " + to
                + " " + dtype + " " + cropHeight + "x" + cropWidth, (lab, at) -> transform.enqueue(lab.stream(),
                        at.get("images"), batch, own ? at.get("crops") : 0, at.get("target")))
                .input("images", images).input("crops", crops).output("target", target);
    }

    private Experiment stage(ImageTransform transform, int batch, boolean own) {
        int most = batch + random.nextInt(4);
        var image = new TensorSpec("image", DType.U8, batched(most, transform.sourceShape()));
        var work = new StageWork(own ? transform.stage("image", "crops") : transform.stage("image"), batch, image,
                new TensorSpec("crops", DType.I32, most, 4))
                .shape("image", batched(batch, transform.sourceShape())).shape("crops", batch, 4)
                .expect("image", batched(batch, transform.targetShape()));
        return new Experiment("stage of " + batch + " of " + most + " images: " + transform, work);
    }

    private static long[] batched(long batch, long[] shape) {
        return LongStream.concat(LongStream.of(batch), LongStream.of(shape)).toArray();
    }

    /** Drawn as a trainer draws them; now and then outside of the image. */
    private Cells crops(int batch, int height, int width, int cropHeight, int cropWidth) {
        Cells crops = Cells.inputs(DType.I32, 4L * batch);
        var crop = new RandomCrop(height, width, cropHeight, cropWidth, 0.5);
        var keyed = new KeyedRandom(random.nextLong(), 3);
        for (int b = 0; b < batch; b++) {
            crop.draw(keyed, random.nextInt(1000), MemorySegment.ofArray(crops.bytes()),
                    (long) b * RandomCrop.PARAMETER_BYTES);
            if (random.nextInt(4) == 0) {
                crops.set(4L * b, random.nextInt()).set(4L * b + 1, random.nextInt());
            }
        }
        return crops;
    }

    private static int clamp(long offset, int greatest) {
        return (int) Math.min(Math.max(offset, 0), greatest);
    }

    private static long index(Layout layout, int channels, int height, int width, int b, int c, int y, int x) {
        return layout == Layout.NHWC ? ((long) (b * height + y) * width + x) * channels + c
                : ((long) (b * channels + c) * height + y) * width + x;
    }

    private Experiment gatherRows() {
        DType type = new DType[] {DType.I32, DType.I64, DType.U16, DType.U8}[random.nextInt(4)];
        int rows = random.nextInt(1, 200);
        int rowBytes = random.nextInt(1, 40) << random.nextInt(6);
        int count = random.nextInt(0, 300);
        Cells table = Cells.random(DType.U8, (long) rows * rowBytes, random);
        Cells indices = Cells.inputs(type, Math.max(1, count));
        Cells target = Cells.outputs(DType.U8, (long) count * rowBytes);
        for (int k = 0; k < count; k++) {
            indices.set(k, random.nextInt(10) == 0 ? random.nextLong() : random.nextInt(rows));
            for (int i = 0; i < rowBytes; i++) {
                long row = indices.integer(k);
                target.set((long) k * rowBytes + i, row >= 0 && row < rows ? table.bits(row * rowBytes + i) : 0);
            }
        }
        var transform = new GatherRowsTransform(type, rowBytes);
        return new Experiment("gather " + count + " of " + rows + " rows of " + rowBytes + " by " + type,
                (lab, at) -> transform.enqueue(lab.stream(), at.get("table"), rows, at.get("indices"), count,
                        at.get("target")))
                .input("table", table).input("indices", indices).output("target", target);
    }

    private Experiment padRows() {
        DType dtype = DType.values()[random.nextInt(DType.values().length)];
        DType type = random.nextBoolean() ? DType.I32 : DType.I64;
        int rows = random.nextInt(1, 50);
        int length = random.nextInt(1, 70);
        long padding = random.nextLong();
        Cells offsets = Cells.inputs(type, rows + 1L);
        for (int row = 0; row < rows; row++) {
            offsets.set(row + 1L, offsets.integer(row) + random.nextInt(length + 20));
        }
        Cells values = Cells.random(dtype, Math.max(1, offsets.integer(rows)), random);
        Cells target = Cells.outputs(dtype, (long) rows * length);
        for (int row = 0; row < rows; row++) {
            for (int t = 0; t < length; t++) {
                long from = offsets.integer(row) + t;
                target.set((long) row * length + t, from < offsets.integer(row + 1L) ? values.bits(from) : padding);
            }
        }
        var transform = new PadRowsTransform(dtype, type, padding);
        return new Experiment("pad " + rows + " rows of " + dtype + " to " + length,
                (lab, at) -> transform.enqueue(lab.stream(), at.get("values"), at.get("offsets"), rows, length,
                        at.get("target")))
                .input("values", values).input("offsets", offsets).output("target", target);
    }
}
