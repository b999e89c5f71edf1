// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.augment.step.Ending;
import io.penstock.augment.step.Erasing;
import io.penstock.augment.step.PassArguments;
import io.penstock.device.Kernel;
import io.penstock.image.AffineRanges;
import io.penstock.image.AutoAugmentPolicy;
import io.penstock.image.Interpolation;
import io.penstock.image.Padding;
import io.penstock.image.Range;
import io.penstock.image.ResizeFilter;
import io.penstock.image.StepParameters;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.transform.Cells;
import io.penstock.transform.Experiment;
import io.penstock.transform.ImageTransform.Layout;
import io.penstock.transform.StageWork;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;

/** Pipelines as stages of a loader, on random images and parameters, and what workers make of the same. */
public final class AugmentExperiments {

    /** The kernels of a pipeline. */
    public static final List<Kernel> KERNELS =
            List.of(PassArguments.PREPARE, PassArguments.MEASURE, PassArguments.COLUMNS, PassArguments.PASS);

    private static final Range FACTORS = Range.of(0, 2);
    private static final Range ONE = Range.of(1, 1);
    private static final Range NO_TURN = Range.of(0, 0);
    private static final AffineRanges AFFINE =
            AffineRanges.degrees(60).translate(0.3, 0.3).scale(0.5, 2).shear(20, 10);

    /** Each step alone; colors, which take images of one or three channels, come last. */
    private static final List<UnaryOperator<Augment>> STEPS = List.of(
            augment -> augment.horizontalFlip(0.5), augment -> augment.verticalFlip(0.5),
            augment -> augment.resize(7), augment -> augment.resize(40, 9), augment -> augment.resize(2, 3),
            augment -> augment.randomResizedCrop(8, 11), augment -> augment.randomResizedCrop(30, 25),
            augment -> augment.centerCrop(5, 4), augment -> augment.randomCrop(6, 6),
            augment -> augment.randomCrop(9, 8, Padding.constant(3, 77)),
            augment -> augment.randomCrop(9, 8, Padding.of(3, Padding.Mode.EDGE)),
            augment -> augment.randomCrop(9, 8, Padding.of(3, Padding.Mode.REFLECT)),
            augment -> augment.randomCrop(9, 8, Padding.of(3, Padding.Mode.SYMMETRIC)),
            augment -> augment.pad(Padding.constant(2, 9)), augment -> augment.pad(Padding.of(3, Padding.Mode.EDGE)),
            augment -> augment.rotate(180, Interpolation.NEAREST, 9),
            augment -> augment.rotate(45, Interpolation.BILINEAR, 200),
            augment -> augment.affine(AFFINE, Interpolation.NEAREST, 0),
            augment -> augment.affine(AFFINE, Interpolation.BILINEAR, 128),
            augment -> augment.randomErasing(0.9, Erasing.SCALE, Erasing.RATIO, 33),
            augment -> augment.resize(11, ResizeFilter.NEAREST), augment -> augment.resize(6, 31, ResizeFilter.BOX),
            augment -> augment.resize(35, 7, ResizeFilter.BICUBIC), augment -> augment.resize(4, ResizeFilter.BICUBIC),
            augment -> augment.perspective(0.6, 0.9, Interpolation.NEAREST, 7),
            augment -> augment.perspective(0.9, 0.9, Interpolation.BILINEAR, 99),
            augment -> augment.gaussianBlur(3), augment -> augment.gaussianBlur(9, Range.of(0.1, 5)),
            augment -> augment.gaussianBlur(1), augment -> augment.gaussianNoise(Range.of(0, 0.5)),
            augment -> augment.grayscale(0.8), augment -> augment.invert(0.8), augment -> augment.posterize(3, 0.8),
            augment -> augment.solarize(100.5, 0.8), augment -> augment.autocontrast(0.8),
            augment -> augment.equalize(0.8), augment -> augment.sharpness(1.7, 0.8),
            augment -> augment.sharpness(0.2, 0.8),
            augment -> augment.colorJitter(FACTORS, ONE, ONE, NO_TURN),
            augment -> augment.colorJitter(ONE, FACTORS, ONE, NO_TURN),
            augment -> augment.colorJitter(ONE, ONE, FACTORS, NO_TURN),
            augment -> augment.colorJitter(1, 1, 1, 0.5), augment -> augment.colorJitter(0.4, 0, 0.4, 0.5),
            augment -> augment.gamma(Range.of(0, 3), 0.9), augment -> augment.brightnessContrast(0.5, 0.9, 0.9),
            augment -> augment.augMix(), augment -> augment.augMix(10, 2, 2, 0.4, Interpolation.NEAREST),
            augment -> augment.randAugment(), augment -> augment.randAugment(2, 30, Interpolation.BILINEAR),
            augment -> augment.trivialAugmentWide(Interpolation.NEAREST),
            augment -> augment.trivialAugmentWide(Interpolation.BILINEAR),
            augment -> augment.autoAugment(AutoAugmentPolicy.SVHN, Interpolation.NEAREST),
            augment -> augment.autoAugment(AutoAugmentPolicy.IMAGENET, Interpolation.BILINEAR));
    private static final int COLORS = 30;

    private final SplittableRandom random;

    /** Experiments by a seed. */
    public AugmentExperiments(long seed) {
        this.random = new SplittableRandom(seed);
    }

    /** Each step alone, on small images too, and pipelines of several. */
    public List<Experiment> all() {
        List<Experiment> all = new ArrayList<>();
        all.add(experiment(Augment.images(), 3, 14, 17));
        for (int s = 0; s < STEPS.size(); s++) {
            Augment augment = STEPS.get(s).apply(Augment.images());
            int channels = channels(s >= COLORS);
            all.add(experiment(augment, channels, random.nextInt(14, 30), random.nextInt(17, 40)));
            int height = random.nextInt(1, 6);
            int width = random.nextInt(1, 6);
            if (takes(augment, height, width)) {
                all.add(experiment(augment, channels, height, width));
            }
        }
        for (int i = 0; i < 24; i++) {
            all.add(experiment(mixed(), channels(true), random.nextInt(14, 30), random.nextInt(17, 40)));
        }
        for (Augment augment : pipelines()) {
            all.add(experiment(augment, 3, random.nextInt(14, 30), random.nextInt(17, 40)));
        }
        all.add(experiment(Augment.images().horizontalFlip(0.5).solarize(9, 0.5), 1, 2, 2100));
        return all;
    }

    /** Steps that share a pass, as recipes have them. */
    private static List<Augment> pipelines() {
        Augment cropped = Augment.images().randomCrop(10, 9).horizontalFlip(0.5).verticalFlip(0.5);
        Augment padded = Augment.images().randomCrop(10, 9, Padding.of(4, Padding.Mode.REFLECT)).horizontalFlip(0.5);
        return List.of(cropped, padded, cropped.randomCrop(5, 5).horizontalFlip(0.5),
                cropped.affine(AFFINE, Interpolation.BILINEAR, 9).horizontalFlip(0.5).colorJitter(0.4, 0.4, 0.4, 0.1),
                padded.randomErasing(0.9).rotate(40, Interpolation.NEAREST, 3).sharpness(2, 0.9),
                Augment.images().randomResizedCrop(9, 8).horizontalFlip(0.5).randAugment().randomErasing(0.9),
                padded.gaussianNoise(Range.of(0.1, 0.2)).horizontalFlip(0.5).grayscale(0.5),
                cropped.gaussianBlur(5).horizontalFlip(0.5).gaussianBlur(3).gamma(Range.of(0.5, 2), 1).randomErasing(1),
                padded.augMix(3, 2, 0, 1, Interpolation.NEAREST).horizontalFlip(0.5)
                        .augMix(3, 1, 1, 1, Interpolation.BILINEAR),
                Augment.images().resize(16).centerCrop(14, 15).horizontalFlip(0.5).verticalFlip(0.5));
    }

    private static boolean takes(Augment augment, int height, int width) {
        try {
            augment.table();
            augment.over(new TensorSpec("image", DType.U8, height, width, 3)).sizes();
            return true;
        } catch (IllegalArgumentException e) {
            return false;                                           // too many parameters, or too small an image
        }
    }

    private int channels(boolean colors) {
        return colors ? random.nextInt(4) == 0 ? 1 : 3 : random.nextInt(1, 5);
    }

    /** Steps in a random order, as many as fit into the table. */
    private Augment mixed() {
        Augment augment = Augment.images();
        for (int steps = random.nextInt(2, 10); steps > 0; steps--) {
            Augment more = STEPS.get(random.nextInt(STEPS.size())).apply(augment);
            augment = takes(more, 14, 17) ? more : augment;
        }
        return switch (random.nextInt(3)) {
            case 0 -> augment;
            case 1 -> augment.to(DType.F32, Layout.NHWC);
            default -> augment.to(DType.F32, Layout.NCHW);
        };
    }

    private Experiment experiment(Augment augment, int channels, int height, int width) {
        int batch = random.nextInt(1, 5);
        int most = batch + random.nextInt(3);
        Cells images = images(most, height, width, channels);
        ParameterTable table = augment.table();
        Cells rows = Cells.inputs(DType.U8, (long) most * table.rowBytes());
        TensorSpec result = augment.over(new TensorSpec("image", DType.U8, height, width, channels)).result("image");
        TensorSpec output = augment.pipeline().ending().result(result);
        Cells target = Cells.outputs(output.dtype(), most * result.byteSize());
        var keyed = new KeyedRandom(random.nextLong(), 1);
        long imageBytes = (long) height * width * channels;
        for (int b = 0; b < batch; b++) {
            List<StepParameters> parameters = augment.parameters(keyed, b, height, width);
            MemorySegment row = MemorySegment.ofArray(rows.bytes())
                    .asSlice((long) b * table.rowBytes(), table.rowBytes());
            table.write(parameters, Tensor.of(row, DType.U8, table.rowBytes()));
            byte[] pixels = new byte[Math.toIntExact(result.byteSize())];
            augment.apply(parameters, Tensor.of(MemorySegment.ofArray(images.bytes()).asSlice(b * imageBytes,
                    imageBytes), DType.U8, height, width, channels),
                    Tensor.of(MemorySegment.ofArray(pixels), DType.U8, result.shape()));
            put(target, augment.pipeline().ending(), b, pixels, channels);
        }
        String parameters = table.field("image").name();
        var work = new StageWork(augment.stage("image"), batch,
                new TensorSpec("image", DType.U8, most, height, width, channels),
                new TensorSpec(parameters, DType.U8, most, table.rowBytes()))
                .shape("image", batch, height, width, channels).shape(parameters, batch, table.rowBytes())
                .expect("image", batch);
        return new Experiment(augment + " of " + batch + " of " + most + " images " + height + "x" + width + "x"
                + channels + " to " + output, work)
                .input("image", images).input(parameters, rows).output(StageWork.OUT + "image", target);
    }

    /** Noise, smooth images, and images of one value, whose tables are special. */
    private Cells images(int count, int height, int width, int channels) {
        Cells images = Cells.random(DType.U8, (long) count * height * width * channels, random);
        int imageBytes = height * width * channels;
        for (int i = 0; i < count; i++) {
            int kind = random.nextInt(4);
            if (kind == 0) {
                Arrays.fill(images.bytes(), i * imageBytes, (i + 1) * imageBytes, (byte) random.nextInt(256));
            } else if (kind == 1) {
                for (int at = 0; at < imageBytes; at++) {
                    images.set((long) i * imageBytes + at,
                            at / channels % width * 5 + at / channels / width * 3 + at % channels * 20 & 0xFF);
                }
            }
        }
        return images;
    }

    private static void put(Cells target, Ending ending, int image, byte[] pixels, int channels) {
        int count = pixels.length / channels;
        boolean planes = ending.dtype() != null && ending.layout() == Layout.NCHW;
        for (int i = 0; i < pixels.length; i++) {
            long at = (long) image * pixels.length + (planes ? (long) i % channels * count + i / channels : i);
            target.set(at, ending.dtype() == null ? pixels[i] & 0xFF
                    : Float.floatToRawIntBits((pixels[i] & 0xFF) / 255f) & 0xFFFF_FFFFL);
        }
    }
}
