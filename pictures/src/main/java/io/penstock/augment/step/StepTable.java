// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.step.PixelOp.Kind;
import io.penstock.image.AffineRanges;
import io.penstock.image.AutoAugmentPolicy;
import io.penstock.image.ImageDecoding;
import io.penstock.image.Interpolation;
import io.penstock.image.Padding;
import io.penstock.image.PixelFormat;
import io.penstock.image.Range;
import io.penstock.image.ResizeFilter;
import io.penstock.image.StepForm;
import io.penstock.memory.DType;
import io.penstock.transform.ImageTransform.Layout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Every step as a text has it: one entry a method of the builder, in the order of the help. */
final class StepTable {

    static final List<Float> IMAGENET_MEAN = List.of(0.485f, 0.456f, 0.406f);
    static final List<Float> IMAGENET_DEVIATION = List.of(0.229f, 0.224f, 0.225f);

    private static final ValueForm<Interpolation> INTERPOLATION = ValueForm.word(List.of(Interpolation.values()));
    private static final ValueForm<Padding.Mode> PADDING = ValueForm.word(List.of(Padding.Mode.values()));
    private static final Range NONE = Range.of(0, 0);
    private static final Range UNCHANGED = Range.of(1, 1);
    private static final double SOMETIMES = 0.5;

    /** Adds a step with these values to a pipeline. */
    @FunctionalInterface
    interface Maker {
        Pipeline add(Pipeline pipeline, Values values);
    }

    /**
     * A parameter.
     *
     * @param name its name
     * @param form how it is written
     * @param standard what it is if it is not given; null if it must be given
     */
    record Parameter<T>(String name, ValueForm<T> form, @Nullable T standard) {

        /** Writes the value of this parameter. */
        @SuppressWarnings("unchecked")
        String text(Object value) {
            return form.writer().apply((T) value);
        }
    }

    /**
     * A step.
     *
     * @param name the builder's method, and the operation of the step's form
     * @param shortName what a text has
     * @param maker adds the step
     * @param reader returns the values of a step, in the order of the parameters
     */
    record Entry(String name, String shortName, List<Parameter<?>> parameters, Maker maker,
            Function<Step, List<?>> reader) {

        <T> Entry with(String parameter, ValueForm<T> form, @Nullable T standard) {
            List<Parameter<?>> more = new ArrayList<>(parameters);
            more.add(new Parameter<>(parameter, form, standard));
            return new Entry(name, shortName, List.copyOf(more), maker, reader);
        }

        StepForm form() {
            return new StepForm(name, shortName, parameters.stream().map(parameter -> new StepForm.Parameter(
                    parameter.name, parameter.form.what(),
                    parameter.standard == null ? "" : parameter.text(parameter.standard))).toList());
        }
    }

    /** The values of a step's parameters, in order; each has the type of its parameter's form. */
    record Values(List<Object> all) {

        /** Returns a value as the requested type, which is that of its parameter's form. */
        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
        <T> T get(int i) {
            return (T) all.get(i);
        }

        float[] floats(int i) {
            List<Float> floats = get(i);
            float[] array = new float[floats.size()];
            for (int k = 0; k < array.length; k++) {
                array[k] = floats.get(k);
            }
            return array;
        }

        /** A border of three parameters. */
        Padding padding(int i) {
            return new Padding(get(i), get(i + 1), get(i + 2));
        }
    }

    /** How files are turned. */
    private enum Orientation {
        STORED, UPRIGHT
    }

    /** How much of files is decoded. */
    private enum Detail {
        WHOLE, SCALED
    }

    /** The entry that says how files are decoded; it has no step. */
    static final Entry DECODING = new Entry("decoding", "decode", List.of(), (pipeline, v) -> {
        ImageDecoding decoding = ImageDecoding.to(v.get(0));
        ImageDecoding turned = v.<Orientation>get(1) == Orientation.UPRIGHT ? decoding.upright() : decoding;
        return pipeline.with(v.<Detail>get(2) == Detail.SCALED ? turned.scaled() : turned);
    }, _ -> List.of())
            .with("format", ValueForm.word(List.of(PixelFormat.values())), PixelFormat.RGB)
            .with("orientation", ValueForm.word(List.of(Orientation.values())), Orientation.STORED)
            .with("detail", ValueForm.word(List.of(Detail.values())), Detail.WHOLE);

    /** The entry that ends a pipeline with a normalization; it has no step. */
    static final Entry NORMALIZE = new Entry("normalize", "normalize", List.of(), (pipeline, v) -> {
        boolean isShort = v.<List<Float>>get(1).isEmpty();
        if (isShort && !v.all().getFirst().equals(IMAGENET_MEAN)) {
            throw new IllegalArgumentException("deviation: found nothing, expected a number per channel");
        }
        return pipeline.with(pipeline.ending().normalize(v.floats(0),
                isShort ? floats(IMAGENET_DEVIATION) : v.floats(1)));
    }, _ -> List.of())
            .with("mean", ValueForm.channels(IMAGENET_MEAN), null)
            .with("deviation", ValueForm.channels(IMAGENET_DEVIATION), List.of());

    /** The entry that ends a pipeline with a dtype; it has no step. */
    static final Entry TO = new Entry("to", "to", List.of(),
            (pipeline, v) -> pipeline.with(pipeline.ending().to(v.get(0),
                    v.get(1))), _ -> List.of())
                    .with("dtype", ValueForm.word(List.of(DType.F32, DType.F16, DType.BF16)), null)
                    .with("layout", ValueForm.word(List.of(Layout.NCHW, Layout.NHWC)), Layout.NCHW);

    static final List<Entry> ENTRIES = List.of(DECODING,
            entry("fused", "fused", Fused.class, _ -> List.of(), _ -> Fused.NONE),
            entry("randomResizedCrop", "rrc", RandomResizedCrop.class,
                    step -> List.of(step.size(), step.scale(), step.ratio()),
                    v -> new RandomResizedCrop(v.get(0), v.get(1), v.get(2)))
                    .with("size", ValueForm.SIZE, null).with("scale", ValueForm.RANGE, RandomResizedCrop.SCALE)
                    .with("ratio", ValueForm.RANGE, RandomResizedCrop.RATIO),
            entry("resize", "resize", Resize.class,
                    step -> List.of(step.height() == 0 ? List.of(step.width()) : List.of(step.height(), step.width()),
                            step.filter()),
                    v -> resize(v.get(0), v.get(1)))
                    .with("size", ValueForm.SIDES, null)
                    .with("filter", ValueForm.word(List.of(ResizeFilter.values())), ResizeFilter.BILINEAR),
            entry("pad", "pad", Pad.class,
                    step -> List.of(step.padding().pixels(), step.padding().mode(), step.padding().fill()),
                    v -> new Pad(v.padding(0)))
                    .with("padding", ValueForm.WHOLE, null).with("mode", PADDING, Padding.Mode.CONSTANT)
                    .with("fill", ValueForm.WHOLE, 0),
            entry("centerCrop", "center", Crop.class, step -> List.of(step.size()),
                    v -> new Crop(Crop.Place.CENTER, v.get(0), Padding.NONE)).with("size", ValueForm.SIZE, null),
            entry("randomCrop", "crop", Crop.class,
                    step -> List.of(step.size(), step.padding().pixels(), step.padding().mode(), step.padding().fill()),
                    v -> new Crop(Crop.Place.RANDOM, v.get(0), v.padding(1)))
                    .with("size", ValueForm.SIZE, null).with("padding", ValueForm.WHOLE, 0)
                    .with("mode", PADDING, Padding.Mode.CONSTANT).with("fill", ValueForm.WHOLE, 0),
            sometimes("horizontalFlip", "flip", Kind.FLIP_HORIZONTALLY, SOMETIMES),
            sometimes("verticalFlip", "vflip", Kind.FLIP_VERTICALLY, SOMETIMES),
            entry("rotate", "rotate", Affine.class,
                    step -> List.of(step.ranges().angle().high(), step.interpolation(), step.fill()),
                    v -> new Affine(Affine.Kind.ROTATE, AffineRanges.degrees(v.get(0)), v.get(1),
                            v.get(2)))
                    .with("degrees", ValueForm.NUMBER, null)
                    .with("interpolation", INTERPOLATION, Interpolation.NEAREST).with("fill", ValueForm.WHOLE, 0),
            entry("affine", "affine", Affine.class, StepTable::affine,
                    v -> new Affine(Affine.Kind.AFFINE, new AffineRanges(v.get(0), v.get(1), v.get(2),
                            v.get(3), v.get(4), v.get(5)), v.get(6), v.get(7)))
                    .with("degrees", ValueForm.SPREAD, null).with("translateX", ValueForm.NUMBER, 0.0)
                    .with("translateY", ValueForm.NUMBER, 0.0).with("scale", ValueForm.RANGE, UNCHANGED)
                    .with("shearX", ValueForm.SPREAD, NONE).with("shearY", ValueForm.SPREAD, NONE)
                    .with("interpolation", INTERPOLATION, Interpolation.NEAREST).with("fill", ValueForm.WHOLE, 0),
            entry("perspective", "perspective", Perspective.class,
                    step -> List.of(step.distortion(), step.probability(), step.interpolation(), step.fill()),
                    v -> new Perspective(v.get(0), v.get(1), v.get(2), v.get(3)))
                    .with("distortion", ValueForm.NUMBER, Perspective.DISTORTION)
                    .with("p", ValueForm.PROBABILITY, SOMETIMES)
                    .with("interpolation", INTERPOLATION, Interpolation.BILINEAR).with("fill", ValueForm.WHOLE, 0),
            entry("colorJitter", "jitter", ColorJitter.class,
                    step -> List.of(step.brightness(), step.contrast(), step.saturation(), step.hue()),
                    v -> new ColorJitter(v.get(0), v.get(1), v.get(2), v.get(3)))
                    .with("brightness", ValueForm.FACTOR, UNCHANGED).with("contrast", ValueForm.FACTOR, UNCHANGED)
                    .with("saturation", ValueForm.FACTOR, UNCHANGED)
                    .with("hue", ValueForm.SPREAD, Range.of(-0.0, 0)),
            sometimes("grayscale", "gray", Kind.GRAYSCALE, 0.1),
            sometimes("invert", "invert", Kind.SOLARIZE, SOMETIMES),
            entry("posterize", "posterize", Sometimes.class,
                    step -> List.of((int) step.setting(), step.probability()),
                    v -> Sometimes.posterize(v.get(0), v.get(1)))
                    .with("bits", ValueForm.WHOLE, null).with("p", ValueForm.PROBABILITY, SOMETIMES),
            entry("solarize", "solarize", Sometimes.class, step -> List.of(step.setting(), step.probability()),
                    v -> Sometimes.solarize(v.get(0), v.get(1)))
                    .with("threshold", ValueForm.NUMBER, null).with("p", ValueForm.PROBABILITY, SOMETIMES),
            sometimes("autocontrast", "autocontrast", Kind.AUTOCONTRAST, SOMETIMES),
            sometimes("equalize", "equalize", Kind.EQUALIZE, SOMETIMES),
            entry("sharpness", "sharpness", Sometimes.class, step -> List.of(step.setting(), step.probability()),
                    v -> Sometimes.sharpness(v.get(0), v.get(1)))
                    .with("factor", ValueForm.NUMBER, null).with("p", ValueForm.PROBABILITY, SOMETIMES),
            entry("gamma", "gamma", ToneCurve.class, step -> List.of(step.first(), step.probability()),
                    v -> ToneCurve.gamma(v.get(0), v.get(1)))
                    .with("gamma", ValueForm.RANGE, Range.of(0.8, 1.2)).with("p", ValueForm.PROBABILITY, SOMETIMES),
            entry("brightnessContrast", "bc", ToneCurve.class,
                    step -> List.of(step.second().high(), ValueForm.distance(step.first()), step.probability()),
                    v -> ToneCurve.line(v.get(0), v.get(1), v.get(2)))
                    .with("brightness", ValueForm.NUMBER, 0.2).with("contrast", ValueForm.NUMBER, 0.2)
                    .with("p", ValueForm.PROBABILITY, SOMETIMES),
            entry("gaussianBlur", "blur", GaussianBlur.class, step -> List.of(step.size(), step.sigma()),
                    v -> new GaussianBlur(v.get(0), v.get(1)))
                    .with("size", ValueForm.WHOLE, null).with("sigma", ValueForm.AMOUNT, GaussianBlur.SIGMA),
            entry("gaussianNoise", "noise", GaussianNoise.class, step -> List.of(step.sigma()),
                    v -> new GaussianNoise(v.get(0))).with("sigma", ValueForm.AMOUNT, Range.of(0.1, 0.1)),
            entry("randomErasing", "erase", Erasing.class,
                    step -> List.of(step.probability(), step.scale(), step.ratio(), step.value()),
                    v -> new Erasing(v.get(0), v.get(1), v.get(2), v.get(3)))
                    .with("p", ValueForm.PROBABILITY, SOMETIMES).with("scale", ValueForm.RANGE, Erasing.SCALE)
                    .with("ratio", ValueForm.RANGE, Erasing.RATIO).with("value", ValueForm.WHOLE, 0),
            entry("randAugment", "ra", Policy.class,
                    step -> List.of(step.operations(), step.magnitude(), step.interpolation()),
                    v -> Policy.randAugment(v.get(0), v.get(1), v.get(2)))
                    .with("operations", ValueForm.WHOLE, 2).with("magnitude", ValueForm.WHOLE, 9)
                    .with("interpolation", INTERPOLATION, Interpolation.NEAREST),
            entry("trivialAugmentWide", "ta", Policy.class, step -> List.of(step.interpolation()),
                    v -> Policy.trivialAugmentWide(v.get(0)))
                    .with("interpolation", INTERPOLATION, Interpolation.NEAREST),
            entry("autoAugment", "aa", Policy.class,
                    step -> List.of(Objects.requireNonNull(step.learned()), step.interpolation()),
                    v -> Policy.autoAugment(v.get(0), v.get(1)))
                    .with("policy", ValueForm.word(List.of(AutoAugmentPolicy.values())), AutoAugmentPolicy.IMAGENET)
                    .with("interpolation", INTERPOLATION, Interpolation.NEAREST),
            entry("augMix", "augmix", AugMix.class,
                    step -> List.of(step.severity(), step.chains(), step.depth(), step.alpha(), step.interpolation()),
                    v -> new AugMix(v.get(0), v.get(1), v.get(2), v.get(3), v.get(4)))
                    .with("severity", ValueForm.WHOLE, 3).with("chains", ValueForm.WHOLE, 3)
                    .with("depth", ValueForm.WHOLE, 0).with("alpha", ValueForm.NUMBER, 1.0)
                    .with("interpolation", INTERPOLATION, Interpolation.BILINEAR),
            NORMALIZE, TO);

    /** Returns the text of how files are decoded. */
    static String text(ImageDecoding decoding) {
        return PipelineText.text(DECODING, List.of(decoding.format(),
                decoding.isUpright() ? Orientation.UPRIGHT : Orientation.STORED,
                decoding.isScaled() ? Detail.SCALED : Detail.WHOLE));
    }

    /** Adds the texts of a normalization, and of a dtype or layout that is not the default. */
    static void end(Ending ending, List<String> parts) {
        float @Nullable [] mean = ending.mean();
        float @Nullable [] deviation = ending.deviation();
        DType dtype = ending.dtype();
        if (dtype == null) {
            return;
        }
        if (mean != null && deviation != null) {
            List<Float> means = list(mean);
            List<Float> deviations = list(deviation);
            boolean isShort = means.equals(IMAGENET_MEAN) && deviations.equals(IMAGENET_DEVIATION);
            parts.add(PipelineText.text(NORMALIZE, List.of(means, isShort ? List.of() : deviations)));
        }
        if (mean == null || dtype != DType.F32 || ending.layout() != Layout.NCHW) {
            parts.add(PipelineText.text(TO, List.of(dtype, ending.layout())));
        }
    }

    private static List<Float> list(float[] values) {
        List<Float> list = new ArrayList<>();
        for (float value : values) {
            list.add(value);
        }
        return list;
    }

    private static <S extends Step> Entry entry(String name, String shortName, Class<S> type,
            Function<S, List<?>> reader, Function<Values, S> maker) {
        return new Entry(name, shortName, List.of(), (pipeline, v) -> pipeline.with(maker.apply(v)),
                step -> reader.apply(type.cast(step)));
    }

    /** Returns a step that has only a probability. */
    private static Entry sometimes(String name, String shortName, Kind kind, double standard) {
        return entry(name, shortName, Sometimes.class, step -> List.of(step.probability()),
                v -> Sometimes.of(name, kind, v.get(0))).with("p", ValueForm.PROBABILITY, standard);
    }

    private static Resize resize(List<Integer> sides, ResizeFilter filter) {
        return sides.size() == 1 ? Resize.shorterSide(sides.getFirst(), filter)
                : Resize.to(new Size(sides.getFirst(), sides.getLast()), filter);
    }

    private static List<?> affine(Affine step) {
        AffineRanges ranges = step.ranges();
        return List.of(ranges.angle(), ranges.translateX(), ranges.translateY(), ranges.scale(), ranges.shearX(),
                ranges.shearY(), step.interpolation(), step.fill());
    }

    private static float[] floats(List<Float> values) {
        return new Values(List.of(values)).floats(0);
    }
}
