// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.augment.step.AugmentMap;
import io.penstock.augment.step.AugmentWorker;
import io.penstock.augment.step.Pipeline;
import io.penstock.augment.step.Size;
import io.penstock.augment.step.Step;
import io.penstock.augment.step.Targets;
import io.penstock.dataset.Dataset;
import io.penstock.device.DeviceStage;
import io.penstock.image.ImageDecoding;
import io.penstock.image.StepParameters;
import io.penstock.image.Target;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.transform.ImageTransform;
import io.penstock.transform.ImageTransform.Layout;
import java.util.List;

/**
 * A pipeline of augmentation steps over image files, or decoded {@code u8} images {@code [H, W, C]}. A loader's workers
 * run it ({@link #mapped}), or, over decoded images, its device ({@link #stage}), with the same result. {@link
 * DeviceImages} leaves decoding to the device too.
 *
 * {@snippet :
 * Dataset train = Augment.images()
 *         .randomResizedCrop(224, 224).horizontalFlip(0.5)
 *         .colorJitter(0.4, 0.4, 0.4, 0.1)
 *         .normalize(new float[] {0.485f, 0.456f, 0.406f}, new float[] {0.229f, 0.224f, 0.225f})
 *         .to(DType.BF16, ImageTransform.Layout.NCHW).mapped(images, "jpg");
 * }
 *
 * <p>Steps run in the order of the calls; the pixels between them are {@code u8}. Names and defaults are torchvision's
 * (transforms v2), and so are the pixels for the same parameters; {@code docs/augment.md} has the table. The random
 * numbers are Penstock's own: a step draws from the loader's seed, the epoch, the sample's position in the epoch's
 * order, and the step's name, which is the pipeline's name, a dot, and the operation's: {@code
 * penstock.augment.horizontalFlip}, then {@code penstock.augment.horizontalFlip.2} and so on. So adding a step does not
 * change what other operations draw. Two pipelines of one name draw the same for a sample.
 *
 * <p>Immutable and thread-safe. Augmenting allocates nothing on the heap once a worker's arrays are large enough.
 */
public final class Augment extends PixelSteps {

    /** The name of a pipeline that is given none. */
    public static final String NAME = Pipeline.USUAL;

    private final Pipeline pipeline;

    Augment(Pipeline pipeline) {
        this.pipeline = pipeline;
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
        return new Augment(Pipeline.named(name));
    }

    @Override
    Augment with(Step step) {
        return new Augment(pipeline.with(step));
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
        return new Augment(pipeline.with(pipeline.ending().normalize(mean, deviation)));
    }

    /**
     * Ends the pipeline with floats: normalized ones, or {@code p / 255} without {@link #normalize}.
     *
     * @param dtype {@link DType#F32}, {@link DType#F16} or {@link DType#BF16}
     * @param layout the order of a batch's dimensions
     * @return a new pipeline, which takes no more steps
     */
    public Augment to(DType dtype, Layout layout) {
        return new Augment(pipeline.with(pipeline.ending().to(dtype, layout)));
    }

    /**
     * Decodes files in another way than to RGB as stored.
     *
     * @param how the channels, the orientation, the library
     * @return a new pipeline, for image files only
     */
    public Augment decoding(ImageDecoding how) {
        return new Augment(pipeline.with(how));
    }

    /**
     * Augments a field of a dataset, in the workers, each time a sample is read. Of image files, a step must make one
     * size, and only what the first steps crop is decoded, as far as the JPEG library can. A file that cannot be
     * decoded, or is too small for a crop, a mirrored border or a blur, is a bad sample.
     *
     * @param images samples with a field of {@code u8 [H, W, C]}, C at most 4, or of JPEG or PNG files; must stay open
     * @param field the field's name
     * @return the samples with the augmented images in its place
     * @throws IllegalArgumentException if the field is missing or unfit, a step cannot take the images, none makes one
     *     size of files, or a normalization does not fit the channels
     */
    public Dataset mapped(Dataset images, String field) {
        AugmentMap map = over(images.fields().get(images.indexOf(field)));
        TensorSpec augmented = map.result(field);
        ImageTransform transform = pipeline.ending().transform(augmented);
        String what = map.decodes() ? this + ", of files to " + map.decoding() : toString();
        if (transform == null) {
            return map.steps().isEmpty() ? images : images.map(field, augmented, what, name(), map);
        }
        return images.map(field, transform.result(field), what + ", " + transform, name(), map.to(transform));
    }

    /**
     * Augments an image field, and further fields of the same sample whose places in the image move with it.
     *
     * {@snippet :
     * Dataset train = Augment.images().randomResizedCrop(512, 512).horizontalFlip(0.5).colorJitter(0.4, 0.4, 0.4, 0.1)
     *         .mapped(images, "image", Target.mask("mask"), Target.boxes("boxes"), Target.keypoints("joints"));
     * }
     *
     * <p>If the field has image files, targets follow the size that each file tells, and a mask is a file too: a PNG
     * with the image's height and width, of gray values or palette indices. A mask of another size or kind is a bad
     * sample.
     *
     * @param samples samples with a field of {@code u8 [H, W, C]} or of image files, and the fields of the targets;
     *     must stay open
     * @param image the image field's name
     * @param targets what moves with the image
     * @return the samples with the augmented fields in place of theirs, and a field more for each target of boxes or
     *     keypoints, as {@link Target} says
     * @throws IllegalArgumentException if a field is missing or does not fit, or a step moves pixels in more than one
     *     way, as AugMix does
     */
    public Dataset mapped(Dataset samples, String image, Target... targets) {
        AugmentMap map = over(samples.fields().get(samples.indexOf(image)));
        var moves = new Targets(image, map, name(), toString());
        Dataset mapped = map.decodes() ? samples : mapped(samples, image);
        for (Target target : targets) {
            mapped = moves.mapped(mapped, target);
        }
        return map.decodes() ? mapped(mapped, image) : mapped;
    }

    /**
     * The same pipeline with another name, so that it draws other numbers: for another view of a sample.
     *
     * @param other the name of the new pipeline
     * @return a new pipeline
     * @throws IllegalArgumentException if the name has an unpaired surrogate
     */
    public Augment named(String other) {
        return new Augment(pipeline.renamed(other));
    }

    /**
     * Adds the parameters of each sample to a dataset, as a field for {@link #stage}. The workers draw them as {@link
     * #mapped} does; the images stay as they are.
     *
     * @param images samples with a field of {@code u8 [H, W, C]}, C at most 4; must stay open
     * @param field the field's name
     * @return the samples with {@link ParameterTable#field} as a further field
     * @throws IllegalArgumentException if the field is missing, is not of such images, a step cannot take them, the
     *     parameters are too many, or there is a field of that name
     */
    public Dataset withParameters(Dataset images, String field) {
        AugmentMap map = over(images.fields().get(images.indexOf(field)));
        return ParameterDraws.add(images, field, this, map);
    }

    /**
     * A loader stage that runs this pipeline on the device, by the parameters of {@link #withParameters}. The pixels
     * are those of {@link #mapped}.
     *
     * {@snippet :
     * DataLoader.builder(augment.withParameters(images, "jpg")).onDevice(augment.stage("jpg"));
     * }
     *
     * @param field the name of a field of {@code u8 [B, H, W, C]}
     * @return the stage; its single output replaces the field. Opening it throws an {@link IllegalArgumentException} if
     *     a step has no kernel
     */
    public DeviceStage stage(String field) {
        return new AugmentStage(this, field);
    }

    /**
     * The layout of the parameters in the field of {@link #withParameters}.
     *
     * @return the table's layout
     * @throws IllegalArgumentException if the parameters take more than {@value ParameterTable#MAX_BYTES} bytes
     */
    public ParameterTable table() {
        return ParameterTable.of(pipeline.steps());
    }

    Pipeline pipeline() {
        return pipeline;
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
        return AugmentMap.draw(pipeline.steps(), random, new Size(height, width));
    }

    /**
     * Augments one image by given parameters: those drawn before, or others. Normalization is left out.
     *
     * @param parameters one per step, in order
     * @param in the image, {@code u8 [H, W, C]}, or its file, {@code u8 [n]}
     * @param out the memory to write, {@code u8} of the result's shape
     * @throws IllegalArgumentException if the parameters are not those of the steps, one is out of range, or a tensor
     *     has another dtype or shape
     * @throws io.penstock.error.CodecException if the file cannot be decoded
     */
    public void apply(List<StepParameters> parameters, Tensor in, Tensor out) {
        AugmentWorker.apply(over(new TensorSpec("image", in.dtype(), in.shape())), parameters, in, out);
    }

    /**
     * Tells whether a field has images that a pipeline takes.
     *
     * @param field a field
     * @return true for {@code u8 [H, W, C]} with C at most 4
     */
    public static boolean areImages(TensorSpec field) {
        return AugmentMap.areImages(field);
    }

    /**
     * Returns what the steps make of images, before {@link #normalize} and {@link #to}.
     *
     * @param images a field of {@code u8 [H, W, C]}
     * @return the field of the results
     * @throws IllegalArgumentException if the field has no such images, or a step cannot take them
     */
    public TensorSpec result(TensorSpec images) {
        return over(images).result(images.name());
    }

    AugmentMap over(TensorSpec images) {
        return AugmentMap.of(pipeline.steps(), images, pipeline.decoding());
    }

    /** {@return the name that keys the random numbers} */
    public String name() {
        return pipeline.name();
    }

    /** For example {@code penstock.augment: horizontalFlip(p 0.5), randomCrop(32 x 32, padding 4 REFLECT)}. */
    @Override
    public String toString() {
        return pipeline.toString();
    }
}
