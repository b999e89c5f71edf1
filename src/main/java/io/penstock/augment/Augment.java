// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.dataset.Dataset;
import io.penstock.image.ImageDecoding;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.transform.ImageTransform;
import io.penstock.transform.ImageTransform.Layout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A pipeline of augmentation steps over image files, or decoded {@code u8} images {@code [H, W, C]}, which a loader's
 * workers run while they fill a batch.
 *
 * {@snippet :
 * Dataset train = Augment.images()
 *         .randomResizedCrop(224, 224)
 *         .horizontalFlip(0.5)
 *         .colorJitter(0.4, 0.4, 0.4, 0.1)
 *         .normalize(new float[] {0.485f, 0.456f, 0.406f}, new float[] {0.229f, 0.224f, 0.225f})
 *         .to(DType.BF16, ImageTransform.Layout.NCHW)
 *         .mapped(images, "jpg");
 * }
 *
 * <p>Steps run in the order of the calls; the pixels between them are {@code u8}. Names and defaults are torchvision's
 * (transforms v2), and so are the pixels for the same parameters; {@code docs/augment.md} has the table. The random
 * numbers are Penstock's own: a step draws from the loader's seed, the epoch, the sample's position in the epoch's
 * order, and the step's name, which is the pipeline's name, a dot, and the operation's: {@code
 * penstock.augment.horizontalFlip}, then {@code penstock.augment.horizontalFlip.2} and so on. So adding a step does not
 * change what other operations draw. Two pipelines of one name draw the same for a sample, as is useful for an image
 * and its mask.
 *
 * <p>Immutable and thread-safe: each method returns a new pipeline. Augmenting allocates nothing on the heap once a
 * worker's arrays are large enough.
 */
public final class Augment {

    /** The name of a pipeline that is given none. */
    public static final String NAME = "penstock.augment";

    private final String name;
    private final List<AugmentMap.Named> steps;
    private final @Nullable Output output;
    /** How files become pixels; null if nothing was said. */
    private final @Nullable ImageDecoding decoding;

    private Augment(String name, List<AugmentMap.Named> steps, @Nullable Output output,
            @Nullable ImageDecoding decoding) {
        this.name = name;
        this.steps = steps;
        this.output = output;
        this.decoding = decoding;
    }

    /** {@return a pipeline without steps, named {@value #NAME}} */
    public static Augment images() {
        return images(NAME);
    }

    /**
     * A pipeline without steps.
     *
     * @param name keys the random numbers of its steps; pipelines of other names draw independent ones
     * @return the pipeline
     * @throws IllegalArgumentException if the name has an unpaired surrogate
     */
    public static Augment images(String name) {
        KeyedRandom.step(name);
        return new Augment(name, List.of(), null, null);
    }

    private Augment with(Step step) {
        if (output != null) {
            throw new IllegalStateException(
                    step + " after normalize or to, expected it before: steps change u8 pixels");
        }
        long before = steps.stream().filter(named -> named.step().operation().equals(step.operation())).count();
        String stepName = name + "." + step.operation() + (before == 0 ? "" : "." + (before + 1));
        List<AugmentMap.Named> more = new ArrayList<>(steps);
        more.add(new AugmentMap.Named(stepName, KeyedRandom.step(stepName), step));
        return new Augment(name, List.copyOf(more), null, decoding);
    }

    /**
     * Scales the shorter side to a size and keeps the aspect ratio: bilinear with antialiasing, with Pillow's bits.
     *
     * @param shorterSide in pixels; the longer side is rounded down
     * @return a new pipeline
     * @throws IllegalArgumentException if the size is below 1
     */
    public Augment resize(int shorterSide) {
        return with(new Resize(0, new Size(shorterSide, shorterSide).width()));
    }

    /**
     * Resizes to a size: bilinear with antialiasing, with Pillow's bits.
     *
     * @param height in pixels
     * @param width in pixels
     * @return a new pipeline
     * @throws IllegalArgumentException if a side is below 1
     */
    public Augment resize(int height, int width) {
        return with(new Resize(new Size(height, width).height(), width));
    }

    /**
     * Crops the middle. If the margins cannot be equal, half a pixel is rounded to even.
     *
     * @param height in pixels, at most the image's
     * @param width in pixels, at most the image's
     * @return a new pipeline
     * @throws IllegalArgumentException if a side is below 1
     */
    public Augment centerCrop(int height, int width) {
        return with(new Crop(Crop.Place.CENTER, new Size(height, width), Padding.NONE));
    }

    /**
     * Crops at a random place.
     *
     * @param height in pixels, at most the image's
     * @param width in pixels, at most the image's
     * @return a new pipeline
     * @throws IllegalArgumentException if a side is below 1
     */
    public Augment randomCrop(int height, int width) {
        return randomCrop(height, width, Padding.NONE);
    }

    /**
     * Crops the padded image at a random place.
     *
     * @param height in pixels, at most the padded image's
     * @param width in pixels, at most the padded image's
     * @param padding the border
     * @return a new pipeline
     * @throws IllegalArgumentException if a side is below 1
     */
    public Augment randomCrop(int height, int width, Padding padding) {
        return with(new Crop(Crop.Place.RANDOM, new Size(height, width), padding));
    }

    /**
     * Crops 8 % to 100 % of the area, with an aspect ratio of 3/4 to 4/3, at a random place, and resizes that.
     *
     * @param height of the result
     * @param width of the result
     * @return a new pipeline
     * @throws IllegalArgumentException if a side is below 1
     */
    public Augment randomResizedCrop(int height, int width) {
        return randomResizedCrop(height, width, RandomResizedCrop.SCALE, RandomResizedCrop.RATIO);
    }

    /**
     * Crops a random part and resizes it: bilinear with antialiasing, with Pillow's bits. The part's own edge is the
     * border: no pixel outside it counts. If ten draws do not fit into the image, the part is the largest in its middle
     * with the nearest allowed ratio.
     *
     * @param height of the result
     * @param width of the result
     * @param scale the part's area as a share of the image's
     * @param ratio the part's width over its height, drawn uniformly on a logarithmic scale
     * @return a new pipeline
     * @throws IllegalArgumentException if a side is below 1, or a range has a number that is not positive
     */
    public Augment randomResizedCrop(int height, int width, Range scale, Range ratio) {
        return with(new RandomResizedCrop(new Size(height, width), scale, ratio));
    }

    /**
     * Mirrors left and right.
     *
     * @param probability of the flip
     * @return a new pipeline
     * @throws IllegalArgumentException if the probability is not in 0 to 1
     */
    public Augment horizontalFlip(double probability) {
        return sometimes("horizontalFlip", "", Sometimes.Channels.ANY, probability, Canvas::flipHorizontally);
    }

    /**
     * Mirrors top and bottom.
     *
     * @param probability of the flip
     * @return a new pipeline
     * @throws IllegalArgumentException if the probability is not in 0 to 1
     */
    public Augment verticalFlip(double probability) {
        return sometimes("verticalFlip", "", Sometimes.Channels.ANY, probability, Canvas::flipVertically);
    }

    /**
     * Rotates about the middle; the size stays.
     *
     * @param degrees the largest angle, clockwise or counterclockwise; at least 0
     * @param interpolation how the image is read; torchvision's default is {@link Interpolation#NEAREST}
     * @param fill the value of all channels outside the image, 0 to 255
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment rotate(double degrees, Interpolation interpolation, int fill) {
        return with(new Affine(Affine.Kind.ROTATE, AffineRanges.degrees(degrees), interpolation, fill));
    }

    /**
     * Rotates, shifts, scales and shears about the middle; the size stays.
     *
     * @param ranges what the transform is drawn from
     * @param interpolation how the image is read; torchvision's default is {@link Interpolation#NEAREST}
     * @param fill the value of all channels outside the image, 0 to 255
     * @return a new pipeline
     * @throws IllegalArgumentException if the fill is out of range
     */
    public Augment affine(AffineRanges ranges, Interpolation interpolation, int fill) {
        return with(new Affine(Affine.Kind.AFFINE, ranges, interpolation, fill));
    }

    /**
     * Changes brightness, contrast and saturation by factors drawn from {@code max(1 - x, 0)} to {@code 1 + x}, and the
     * hue by {@code -hue} to {@code hue}, in a random order. A change by 0 is left out.
     *
     * @param brightness x of the brightness, at least 0
     * @param contrast x of the contrast, at least 0
     * @param saturation x of the saturation, at least 0
     * @param hue the largest turn, as a share of the color circle: 0 to 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment colorJitter(double brightness, double contrast, double saturation, double hue) {
        return colorJitter(ColorJitter.around1(brightness), ColorJitter.around1(contrast),
                ColorJitter.around1(saturation), Range.of(-hue, hue));
    }

    /**
     * Changes brightness, contrast, saturation and hue in a random order. A change by exactly 1, or of the hue by 0, is
     * left out.
     *
     * @param brightness the factor: 0 makes black
     * @param contrast the factor: 0 makes the mean luminance of all
     * @param saturation the factor: 0 makes gray
     * @param hue the turn, as a share of the color circle: -0.5 to 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment colorJitter(Range brightness, Range contrast, Range saturation, Range hue) {
        return with(new ColorJitter(brightness, contrast, saturation, hue));
    }

    /**
     * Sets all channels to the luminance.
     *
     * @param probability of the change; torchvision's default is 0.1
     * @return a new pipeline
     * @throws IllegalArgumentException if the probability is not in 0 to 1
     */
    public Augment grayscale(double probability) {
        return colors("grayscale", "", probability, ColorChanges::grayscale);
    }

    /**
     * Inverts all values.
     *
     * @param probability of the change; torchvision's default is 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if the probability is not in 0 to 1
     */
    public Augment invert(double probability) {
        return colors("invert", "", probability, ColorChanges::invert);
    }

    /**
     * Keeps the highest bits of all values.
     *
     * @param bits 0 to 8
     * @param probability of the change; torchvision's default is 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment posterize(int bits, double probability) {
        if (bits < 0 || bits > 8) {
            throw new IllegalArgumentException("posterize to " + bits + " bits, expected 0 to 8");
        }
        return colors("posterize", "bits " + bits, probability, canvas -> ColorChanges.posterize(canvas, bits));
    }

    /**
     * Inverts the values from a threshold on.
     *
     * @param threshold 0 to 255
     * @param probability of the change; torchvision's default is 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment solarize(double threshold, double probability) {
        if (!(threshold >= 0 && threshold <= 255)) {
            throw new IllegalArgumentException("solarize from " + threshold + ", expected 0 to 255");
        }
        return colors("solarize", "threshold " + threshold, probability,
                canvas -> ColorChanges.solarize(canvas, threshold));
    }

    /**
     * Stretches each channel's values to 0 to 255.
     *
     * @param probability of the change; torchvision's default is 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if the probability is not in 0 to 1
     */
    public Augment autocontrast(double probability) {
        return colors("autocontrast", "", probability, ColorChanges::autocontrast);
    }

    /**
     * Makes each channel's values equally frequent.
     *
     * @param probability of the change; torchvision's default is 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if the probability is not in 0 to 1
     */
    public Augment equalize(double probability) {
        return colors("equalize", "", probability, ColorChanges::equalize);
    }

    /**
     * Sharpens, or smooths with a factor below 1.
     *
     * @param factor at least 0: 0 is smooth, 1 changes nothing, 2 is sharp
     * @param probability of the change; torchvision's default is 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment sharpness(double factor, double probability) {
        if (!(factor >= 0 && factor < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException("sharpness " + factor + ", expected at least 0");
        }
        return colors("sharpness", "factor " + factor, probability, canvas -> ColorChanges.sharpness(canvas, factor));
    }

    /**
     * Fills a random rectangle with black: 2 % to 33 % of the area, with a height of 0.3 to 3.3 times the width.
     *
     * @param probability of a rectangle; torchvision's default is 0.5
     * @return a new pipeline
     * @throws IllegalArgumentException if the probability is not in 0 to 1
     */
    public Augment randomErasing(double probability) {
        return randomErasing(probability, Erasing.SCALE, Erasing.RATIO, 0);
    }

    /**
     * Fills a random rectangle. If ten draws do not fit into the image, nothing is filled.
     *
     * @param probability of a rectangle
     * @param scale the rectangle's area as a share of the image's
     * @param ratio its height over its width, drawn uniformly on a logarithmic scale
     * @param value what all channels become, 0 to 255
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment randomErasing(double probability, Range scale, Range ratio, int value) {
        return with(new Erasing(probability, scale, ratio, value));
    }

    /** {@return a new pipeline with RandAugment as torchvision's default has it: 2 operations of magnitude 9 of 30} */
    public Augment randAugment() {
        return randAugment(2, 9, Interpolation.NEAREST);
    }

    /**
     * Applies random operations of 14, one after the other, with a fixed magnitude and a random sign. Outside the image
     * is black.
     *
     * @param operations how many, 1 to 4
     * @param magnitude 0 to 30
     * @param interpolation how images are read
     * @return a new pipeline
     * @throws IllegalArgumentException if a number is out of range
     */
    public Augment randAugment(int operations, int magnitude, Interpolation interpolation) {
        return with(new Policy(Policy.Kind.RAND_AUGMENT, operations, magnitude, interpolation));
    }

    /**
     * Applies one random operation of 14 with a random magnitude and sign: TrivialAugment, with wide ranges. Outside
     * the image is black.
     *
     * @param interpolation how images are read; torchvision's default is {@link Interpolation#NEAREST}
     * @return a new pipeline
     */
    public Augment trivialAugmentWide(Interpolation interpolation) {
        return with(new Policy(Policy.Kind.TRIVIAL_AUGMENT_WIDE, 1, 0, interpolation));
    }

    private Augment colors(String operation, String settings, double probability, Sometimes.Change change) {
        return sometimes(operation, settings, Sometimes.Channels.GRAY_OR_RGB, probability, change);
    }

    private Augment sometimes(String operation, String settings, Sometimes.Channels channels, double probability,
            Sometimes.Change change) {
        return with(new Sometimes(operation, settings, channels, probability, change));
    }

    /**
     * Ends the pipeline with {@code (p / 255 - mean) / deviation} in f32, as {@link ImageTransform#normalize} has it;
     * to {@code f32 [C, H, W]} unless {@link #to} says otherwise.
     *
     * @param mean each channel's mean
     * @param deviation each channel's standard deviation
     * @return a new pipeline, which takes no more steps
     */
    public Augment normalize(float[] mean, float[] deviation) {
        Output of = output == null ? Output.DEFAULT : output;
        return new Augment(name, steps, of.normalized(mean, deviation), decoding);
    }

    /**
     * Ends the pipeline with floats: normalized ones, or {@code p / 255} without {@link #normalize}.
     *
     * @param dtype {@link DType#F32}, {@link DType#F16} or {@link DType#BF16}
     * @param layout the order of a batch's dimensions
     * @return a new pipeline, which takes no more steps
     */
    public Augment to(DType dtype, Layout layout) {
        Output of = output == null ? Output.DEFAULT : output;
        return new Augment(name, steps, of.to(dtype, layout), decoding);
    }

    /**
     * Decodes the files of a field in another way than to RGB as stored.
     *
     * @param how which channels, whether turned upright, by which library
     * @return a new pipeline, for fields of image files only
     */
    public Augment decoding(ImageDecoding how) {
        return new Augment(name, steps, output, how);
    }

    /**
     * Augments a field of a dataset, in the workers, each time a sample is read. The field has decoded images of one
     * size, or image files as stored, of all sizes, one of which a step must make. Of a file, what the first steps crop
     * and resize is decoded straight to that: as far as {@link io.penstock.image.FrameDecoder} can, only the part that
     * is needed. A file that cannot be decoded, or is too small for a crop, is a bad sample.
     *
     * @param images samples with a field of {@code u8 [H, W, C]}, C at most 4, or of JPEG and PNG files,
     *     {@code u8 [*]}; must stay open
     * @param field the field's name
     * @return the samples with the augmented images in its place
     * @throws IllegalArgumentException if the field is missing, is not of such images, or a step cannot take them; if
     *     no step makes one size of files; or if a normalization has not one number per channel or another dtype than
     *     floats
     */
    public Dataset mapped(Dataset images, String field) {
        TensorSpec in = images.fields().get(images.indexOf(field));
        AugmentMap map = over(in);
        TensorSpec augmented = map.result(field);
        if (output == null) {
            return steps.isEmpty() ? images : images.map(field, augmented, describe(map), name, map);
        }
        ImageTransform transform = output.of(augmented);
        return images.map(field, transform.result(field), describe(map) + ", " + transform, name, map.to(transform));
    }

    private String describe(AugmentMap map) {
        return map.decodes() ? this + ", of files to " + map.decoding() : toString();
    }

    /**
     * Draws the parameters of one image, as a worker does.
     *
     * @param random the source of draws, with the run's seed and the epoch; left at another key
     * @param position the sample's position in the epoch's order
     * @param height of the image; of a file that is turned upright, of the upright one
     * @param width of the image
     * @return the parameters of each step, in order
     */
    public List<StepParameters> parameters(KeyedRandom random, long position, int height, int width) {
        random.select(position, 0);
        return AugmentMap.draw(steps, random, new Size(height, width));
    }

    /**
     * Augments one image by given parameters: those drawn before, or others. Normalization is left out.
     *
     * @param parameters one per step, in order
     * @param in the image, {@code u8 [H, W, C]}, or its file in native memory, {@code u8 [n]}
     * @param out the memory to write, {@code u8} of the result's shape
     * @throws IllegalArgumentException if the parameters are not those of the steps, one is out of range, or a tensor
     *     has another dtype or shape
     * @throws UncheckedIOException if the file cannot be decoded
     */
    public void apply(List<StepParameters> parameters, Tensor in, Tensor out) {
        try (var worker = new AugmentWorker(over(new TensorSpec("image", in.dtype(), in.shape())))) {
            worker.apply(parameters, in, out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    AugmentMap over(TensorSpec images) {
        return AugmentMap.of(steps, images, decoding);
    }

    /** For example {@code penstock.augment: horizontalFlip(p 0.5), randomCrop(32 x 32, padding 4 REFLECT)}. */
    @Override
    public String toString() {
        return name + ": " + steps.stream().map(named -> named.step().toString()).collect(Collectors.joining(", "));
    }
}
