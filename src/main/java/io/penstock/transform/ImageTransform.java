// SPDX-License-Identifier: Apache-2.0
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
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;

/**
 * Prepares u8 images for a vision model: crop, horizontal flip, normalization and cast in one pass. So images are
 * copied to the device as bytes and pass through its memory once.
 *
 * <pre>
 *   images    [B, H, W, C] or [B, C, H, W]    u8, C at most 4
 *   crops     [B, 4]                          i32: top, left, flip (0 or not), unused; see {@link RandomCrop}
 *   target    [B, h, w, C] or [B, C, h, w]    f32, f16 or bf16
 * </pre>
 *
 * <p>Channel c of pixel p becomes {@code (p / 255 - mean[c]) / deviation[c]}, in this order in f32, each step rounded
 * to nearest even: torchvision's ToTensor and Normalize. The result is rounded once to the target dtype. A crop outside
 * the image moves to the nearest position inside.
 *
 * <p>{@link #of} creates a transform; the other methods return changed copies:
 *
 * {@snippet :
 * var transform = ImageTransform.of(Layout.NHWC, 3, 256, 256).crop(224, 224)
 *         .normalize(new float[] {0.485f, 0.456f, 0.406f}, new float[] {0.229f, 0.224f, 0.225f})
 *         .to(DType.BF16, Layout.NCHW);
 * transform.enqueue(stream, batch.address("image"), batch.count(), crops.address(), pixels.address());
 * }
 */
public final class ImageTransform {
    /** The maximum channel count. */
    public static final int MAX_CHANNELS = 4;

    /** The order of an image batch's dimensions. */
    public enum Layout {
        /** Interleaved channels, as decoders return them; PyTorch's channels last. */
        NHWC,
        /** One plane per channel. */
        NCHW
    }

    static final Kernel KERNEL = new Kernel("penstock_images", ImageArguments.LAYOUT, ImageTwin::run);

    private final MemorySegment arguments;

    private ImageTransform(MemorySegment arguments) {
        this.arguments = arguments;
    }

    /** A copy with the same settings, which may be changed. */
    ImageTransform copy() {
        return new ImageTransform(MemorySegment.ofArray(arguments.toArray(ValueLayout.JAVA_LONG)));
    }

    /**
     * A transform of whole images: divided by 255, to f32, in their own layout.
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
     * Sets the crop size. A batch without crop positions is cropped at the center: (H - h) / 2 down and (W - w) / 2
     * right, both rounded down.
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
     * Sets the normalization.
     *
     * @param mean each channel's mean, subtracted after the division by 255
     * @param deviation each channel's standard deviation, divided by after that
     * @return a new transform
     * @throws IllegalArgumentException if there is not one of each per channel, one is not finite, or a deviation is
     *     not above 0
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
     * Sets the output.
     *
     * @param dtype {@link DType#F32}, {@link DType#F16} or {@link DType#BF16}
     * @param layout the order of the target's dimensions
     * @return a new transform
     * @throws IllegalArgumentException if the dtype is not one of these
     */
    public ImageTransform to(DType dtype, Layout layout) {
        ImageTransform changed = copy();
        MemorySegment a = changed.arguments;
        TARGET_TYPE.set(a, Arguments.oneOf("target", dtype, DType.F32, DType.F16, DType.BF16));
        TARGET_CHANNELS_LAST.set(a, layout == Layout.NHWC ? 1 : 0);
        return changed;
    }

    /**
     * The size in bytes of one transformed image.
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
     * @param stream the stream
     * @param images address of the images
     * @param batch B
     * @param crops address of the crops and flips, or 0 for center crops and no flips
     * @param target address of the result, written
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
     * A loader stage that replaces a field's images by this transform's, cropped at the center.
     *
     * @param field the name of a field of u8 [B, H, W, C] or [B, C, H, W]
     * @return the stage; its single output replaces the field
     */
    public DeviceStage stage(String field) {
        return new ImageStage(copy(), field, null);
    }

    /**
     * A loader stage that takes each image's crop and flip from a field of the batch.
     *
     * @param field the name of a field of u8 [B, H, W, C] or [B, C, H, W]
     * @param crops the name of a field of i32 [B, 4], as {@link #enqueue} takes it
     * @return the stage; its single output replaces the images
     */
    public DeviceStage stage(String field, String crops) {
        return new ImageStage(copy(), field, Objects.requireNonNull(crops, "crops"));
    }

    /**
     * Runs the transform in the loader's workers, for training on the CPU: each image is transformed as it is read,
     * straight into the batch. The bytes are those of {@link #enqueue}.
     *
     * @param images samples with a field of u8 [H, W, C] or [C, H, W]; must stay open
     * @param field the field's name
     * @return the samples with [h, w, C] or [C, h, w] in its place, cropped at the center
     * @throws IllegalArgumentException if the field is missing or does not contain such images
     */
    public Dataset mapped(Dataset images, String field) {
        return ImageMap.over(copy(), images, field, null);
    }

    /**
     * The same, with crops and flips drawn per position by {@link RandomCrop#draw}, from the loader's seed.
     *
     * @param images samples with a field of u8 [H, W, C] or [C, H, W]; must stay open
     * @param field the field's name
     * @param crop the crop to draw, for this transform's image and crop sizes
     * @return the samples with [h, w, C] or [C, h, w] in its place
     * @throws IllegalArgumentException if the field is missing or does not contain such images, or the crop has other
     *     sizes
     */
    public Dataset mapped(Dataset images, String field, RandomCrop crop) {
        return ImageMap.over(copy(), images, field, Objects.requireNonNull(crop, "crop"));
    }

    /**
     * The field of transformed images.
     *
     * @param field its name
     * @return [h, w, C] or [C, h, w]
     */
    public TensorSpec result(String field) {
        return new TensorSpec(field, targetType(), targetShape());
    }

    /** {@return a writer of single images that come as rows, for transforms of whole images; for one thread} */
    public ImageRows rows() {
        return new ImageRows(copy().arguments);
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
