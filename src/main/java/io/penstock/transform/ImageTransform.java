package io.penstock.transform;

import static io.penstock.transform.ImageArguments.BATCH;
import static io.penstock.transform.ImageArguments.CHANNELS;
import static io.penstock.transform.ImageArguments.CROPS;
import static io.penstock.transform.ImageArguments.CROP_HEIGHT;
import static io.penstock.transform.ImageArguments.CROP_WIDTH;
import static io.penstock.transform.ImageArguments.CROP_X;
import static io.penstock.transform.ImageArguments.CROP_Y;
import static io.penstock.transform.ImageArguments.HEIGHT;
import static io.penstock.transform.ImageArguments.SOURCE;
import static io.penstock.transform.ImageArguments.SOURCE_CHANNELS_LAST;
import static io.penstock.transform.ImageArguments.TARGET;
import static io.penstock.transform.ImageArguments.TARGET_CHANNELS_LAST;
import static io.penstock.transform.ImageArguments.TARGET_TYPE;
import static io.penstock.transform.ImageArguments.WIDTH;

import io.penstock.dataset.Dataset;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;

/**
 * Images of bytes to what a vision model trains on: crop, horizontal flip, normalization and cast in one pass, so that
 * images go over the bus as bytes and through device memory once.
 *
 * <pre>
 *   images    [B, H, W, C] or [B, C, H, W]    u8, C at most 4
 *   crops     [B, 4]                          i32: top, left, flip (0 or not), not used; see {@link RandomCrop}
 *   target    [B, h, w, C] or [B, C, h, w]    f32, f16 or bf16
 * </pre>
 *
 * <p>A channel c of a pixel p becomes {@code (p / 255 - mean[c]) / deviation[c]}, in this order in f32, each step
 * rounded to nearest even: the steps of torchvision's ToTensor and Normalize. Then it is rounded once to the target's
 * dtype. A crop that is not inside the image is moved to the nearest place that is.
 *
 * <p>Made by {@link #of}, and changed by the methods that give a new one:
 *
 * {@snippet :
 * var transform = ImageTransform.of(Layout.NHWC, 3, 256, 256).crop(224, 224)
 *         .normalize(new float[] {0.485f, 0.456f, 0.406f}, new float[] {0.229f, 0.224f, 0.225f})
 *         .to(DType.BF16, Layout.NCHW);
 * transform.enqueue(stream, batch.address("image"), batch.count(), crops.address(), pixels.address());
 * }
 */
public final class ImageTransform {
    /** The most channels an image may have. */
    public static final int MAX_CHANNELS = 4;

    /** The order of an image batch's dimensions. */
    public enum Layout {
        /** Channels beside each other, as decoders give them and PyTorch calls channels last. */
        NHWC,
        /** A plane a channel. */
        NCHW
    }

    static final Kernel KERNEL = new Kernel("penstock_images", ImageArguments.LAYOUT, ImageTwin::run);

    private final MemorySegment arguments;

    private ImageTransform(MemorySegment arguments) {
        this.arguments = arguments;
    }

    /** One of the same settings, which may be changed. */
    ImageTransform copy() {
        return new ImageTransform(MemorySegment.ofArray(arguments.toArray(ValueLayout.JAVA_LONG)));
    }

    /**
     * Whole images, divided by 255, in f32 and the layout that they have.
     *
     * @param layout the order of the images' dimensions
     * @param channels C, 1 to {@value #MAX_CHANNELS}
     * @param height H, at least 1
     * @param width W, at least 1
     * @return the transform
     * @throws IllegalArgumentException if a size is outside its range
     */
    public static ImageTransform of(Layout layout, int channels, long height, long width) {
        if (channels < 1 || channels > MAX_CHANNELS) {
            throw new IllegalArgumentException(channels + " channels, expected 1 to " + MAX_CHANNELS);
        }
        var transform = new ImageTransform(KERNEL.newArguments());
        MemorySegment a = transform.arguments;
        CHANNELS.set(a, channels);
        HEIGHT.set(a, Arguments.atLeast(1, "height", height));
        WIDTH.set(a, Arguments.atLeast(1, "width", width));
        SOURCE_CHANNELS_LAST.set(a, layout == Layout.NHWC ? 1 : 0);
        CROP_HEIGHT.set(a, height);
        CROP_WIDTH.set(a, width);
        TARGET_TYPE.set(a, DType.F32);
        TARGET_CHANNELS_LAST.set(a, SOURCE_CHANNELS_LAST.get(a));
        for (int c = 0; c < MAX_CHANNELS; c++) {
            ImageArguments.setNormalization(a, c, 0, 1);
        }
        return transform;
    }

    /**
     * Crops of one size: where a batch has none of its own, from the middle, (H - h) / 2 down and (W - w) / 2 right,
     * both rounded down.
     *
     * @param height h, 1 to H
     * @param width w, 1 to W
     * @return a new transform
     * @throws IllegalArgumentException if the crop is larger than the image
     */
    public ImageTransform crop(long height, long width) {
        ImageTransform changed = copy();
        MemorySegment a = changed.arguments;
        if (height < 1 || height > HEIGHT.get(a) || width < 1 || width > WIDTH.get(a)) {
            throw new IllegalArgumentException("a crop of " + height + " x " + width + " of images of "
                    + HEIGHT.get(a) + " x " + WIDTH.get(a));
        }
        CROP_HEIGHT.set(a, height);
        CROP_WIDTH.set(a, width);
        CROP_Y.set(a, (HEIGHT.get(a) - height) / 2);
        CROP_X.set(a, (WIDTH.get(a) - width) / 2);
        return changed;
    }

    /**
     * Normalization.
     *
     * @param mean what to subtract from each channel once it is divided by 255
     * @param deviation what to divide each channel by after that
     * @return a new transform
     * @throws IllegalArgumentException if there is not one of each a channel, one is not finite, or a deviation is not
     *     above 0
     */
    public ImageTransform normalize(float[] mean, float[] deviation) {
        ImageTransform changed = copy();
        MemorySegment a = changed.arguments;
        if (mean.length != CHANNELS.get(a) || deviation.length != CHANNELS.get(a)) {
            throw new IllegalArgumentException(mean.length + " means and " + deviation.length
                    + " deviations for images of " + CHANNELS.get(a) + " channels");
        }
        for (int c = 0; c < mean.length; c++) {
            if (!Float.isFinite(mean[c]) || !(deviation[c] > 0) || Float.isInfinite(deviation[c])) {
                throw new IllegalArgumentException(
                        "channel " + c + ": mean " + mean[c] + ", standard deviation " + deviation[c]);
            }
            ImageArguments.setNormalization(a, c, mean[c], deviation[c]);
        }
        return changed;
    }

    /**
     * What to write.
     *
     * @param dtype {@link DType#F32}, {@link DType#F16} or {@link DType#BF16}
     * @param layout the order of the target's dimensions
     * @return a new transform
     * @throws IllegalArgumentException if the dtype is none of these
     */
    public ImageTransform to(DType dtype, Layout layout) {
        ImageTransform changed = copy();
        MemorySegment a = changed.arguments;
        TARGET_TYPE.set(a,
                Arguments.oneOf("target", dtype, DType.F32, DType.F16, DType.BF16));
        TARGET_CHANNELS_LAST.set(a, layout == Layout.NHWC ? 1 : 0);
        return changed;
    }

    /**
     * Bytes of an image once it is transformed.
     *
     * @return h · w · C elements
     */
    public long targetImageBytes() {
        return CROP_HEIGHT.get(arguments) * CROP_WIDTH.get(arguments) * CHANNELS.get(arguments)
                * targetType().byteSize();
    }

    /**
     * Enqueues the transform.
     *
     * @param stream where
     * @param images address of the images
     * @param batch B
     * @param crops address of each image's crop and flip, or 0 for crops from the middle and no flips
     * @param target address of the result
     * @throws IllegalArgumentException if an address is not a multiple of its element size, or B · h exceeds 2^31 - 1
     */
    public synchronized void enqueue(DeviceStream stream, long images, long batch, long crops, long target) {
        long rows = Arguments.count31("rows", batch, CROP_HEIGHT.get(arguments));
        if (rows == 0) {
            return;
        }
        SOURCE.set(arguments, Arguments.address("images", images, 1));
        BATCH.set(arguments, batch);
        CROPS.set(arguments, Arguments.optional("crops", crops, Integer.BYTES));
        TARGET.set(arguments, Arguments.address("target", target, targetType().byteSize()));
        stream.launch(KERNEL, Kernel.blocks(rows), arguments);
    }

    /**
     * The transform as a stage of a loader: the field's images become those of this transform, cropped from the middle.
     *
     * @param field the name of a field of u8 [B, H, W, C] or [B, C, H, W]
     * @return the stage; its one output replaces the field
     */
    public DeviceStage stage(String field) {
        return new ImageStage(copy(), field, null);
    }

    /**
     * The transform as a stage of a loader, with each image's crop and flip in a field of the batch.
     *
     * @param field the name of a field of u8 [B, H, W, C] or [B, C, H, W]
     * @param crops the name of a field of i32 [B, 4], as {@link #enqueue} takes them
     * @return the stage; its one output replaces the images
     */
    public DeviceStage stage(String field, String crops) {
        return new ImageStage(copy(), field, Objects.requireNonNull(crops, "crops"));
    }

    /**
     * The same in a loader's workers, for training on the CPU: a dataset whose images are transformed as each is read,
     * by as many threads as the loader has, straight into the batch. Its bytes are those of {@link #enqueue}.
     *
     * @param images samples with a field of u8 [H, W, C] or [C, H, W]; must stay open
     * @param field the field's name
     * @return the samples with [h, w, C] or [C, h, w] in its place, cropped from the middle
     * @throws IllegalArgumentException if there is no such field, or it is not of such images
     */
    public Dataset mapped(Dataset images, String field) {
        return ImageMap.over(copy(), images, field, null);
    }

    /**
     * The same, with crops and flips that are drawn for each position of an epoch: those that {@link RandomCrop#draw}
     * gives for the loader's seed.
     *
     * @param images samples with a field of u8 [H, W, C] or [C, H, W]; must stay open
     * @param field the field's name
     * @param crop what to draw, for the sizes of these images and of this transform's crops
     * @return the samples with [h, w, C] or [C, h, w] in its place
     * @throws IllegalArgumentException if there is no such field, it is not of such images, or the crop's sizes are
     *     others
     */
    public Dataset mapped(Dataset images, String field, RandomCrop crop) {
        return ImageMap.over(copy(), images, field, Objects.requireNonNull(crop, "crop"));
    }

    long[] sourceShape() {
        return ImageArguments.shape(arguments, SOURCE_CHANNELS_LAST, HEIGHT, WIDTH);
    }

    long[] targetShape() {
        return ImageArguments.shape(arguments, TARGET_CHANNELS_LAST, CROP_HEIGHT, CROP_WIDTH);
    }

    MemorySegment arguments() {
        return arguments;
    }

    DType targetType() {
        return TARGET_TYPE.dtype(arguments);
    }

    /** For example {@code u8[256, 256, 3] to bf16[3, 224, 224], (p / 255 - [0.5, 0.5, 0.5]) / [0.2, 0.2, 0.2]}. */
    @Override
    public String toString() {
        float[] means = new float[(int) CHANNELS.get(arguments)];
        float[] deviations = new float[means.length];
        for (int c = 0; c < means.length; c++) {
            means[c] = ImageArguments.mean(arguments, c);
            deviations[c] = ImageArguments.deviation(arguments, c);
        }
        return DType.U8 + Arrays.toString(sourceShape()) + " to " + targetType() + Arrays.toString(targetShape())
                + ", (p / 255 - " + Arrays.toString(means) + ") / " + Arrays.toString(deviations);
    }
}
