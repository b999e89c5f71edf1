package io.penstock.transform;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.Mapped;
import io.penstock.dataset.SampleMap;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.util.Arrays;
import java.util.random.RandomGenerator;

/**
 * Images of bytes to what a vision model trains on: crop, horizontal flip, normalisation and cast in one pass, so that
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
 *         .normalise(new float[] {0.485f, 0.456f, 0.406f}, new float[] {0.229f, 0.224f, 0.225f})
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

    static final int SOURCE = 0;
    static final int BATCH = 1;
    static final int CHANNELS = 2;
    static final int HEIGHT = 3;
    static final int WIDTH = 4;
    static final int SOURCE_CHANNELS_LAST = 5;
    static final int CROP_HEIGHT = 6;
    static final int CROP_WIDTH = 7;
    static final int CROPS = 8;
    static final int CROP_Y = 9;
    static final int CROP_X = 10;
    static final int TARGET = 11;
    static final int TARGET_TYPE = 12;
    static final int TARGET_CHANNELS_LAST = 13;
    /** Two f32 a word, the first one in the lower half. */
    private static final int MEAN = 14;
    private static final int DEVIATION = 16;
    static final int WORDS = 18;

    private static final Kernel KERNEL = new Kernel("penstock_images", WORDS, ImageTwin::run);

    private final long[] words;

    private ImageTransform(long[] words) {
        this.words = words;
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
        long[] words = new long[KERNEL.words()];
        words[CHANNELS] = channels;
        words[HEIGHT] = Arguments.atLeast(1, "height", height);
        words[WIDTH] = Arguments.atLeast(1, "width", width);
        words[SOURCE_CHANNELS_LAST] = layout == Layout.NHWC ? 1 : 0;
        words[CROP_HEIGHT] = height;
        words[CROP_WIDTH] = width;
        words[TARGET_TYPE] = RawMemory.word(DType.F32);
        words[TARGET_CHANNELS_LAST] = words[SOURCE_CHANNELS_LAST];
        for (int c = 0; c < MAX_CHANNELS; c++) {
            setFloat(words, DEVIATION, c, 1);
        }
        return new ImageTransform(words);
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
        long[] changed = words.clone();
        if (height < 1 || height > changed[HEIGHT] || width < 1 || width > changed[WIDTH]) {
            throw new IllegalArgumentException("a crop of " + height + " x " + width + " of images of "
                    + changed[HEIGHT] + " x " + changed[WIDTH]);
        }
        changed[CROP_HEIGHT] = height;
        changed[CROP_WIDTH] = width;
        changed[CROP_Y] = (changed[HEIGHT] - height) / 2;
        changed[CROP_X] = (changed[WIDTH] - width) / 2;
        return new ImageTransform(changed);
    }

    /**
     * Normalisation.
     *
     * @param mean what to subtract from each channel once it is divided by 255
     * @param deviation what to divide each channel by after that
     * @return a new transform
     * @throws IllegalArgumentException if there is not one of each a channel, one is not finite, or a deviation is not
     *     above 0
     */
    public ImageTransform normalise(float[] mean, float[] deviation) {
        long[] changed = words.clone();
        if (mean.length != changed[CHANNELS] || deviation.length != changed[CHANNELS]) {
            throw new IllegalArgumentException(mean.length + " means and " + deviation.length
                    + " deviations for images of " + changed[CHANNELS] + " channels");
        }
        for (int c = 0; c < mean.length; c++) {
            if (!Float.isFinite(mean[c]) || !(deviation[c] > 0) || Float.isInfinite(deviation[c])) {
                throw new IllegalArgumentException(
                        "channel " + c + ": mean " + mean[c] + ", standard deviation " + deviation[c]);
            }
            setFloat(changed, MEAN, c, mean[c]);
            setFloat(changed, DEVIATION, c, deviation[c]);
        }
        return new ImageTransform(changed);
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
        long[] changed = words.clone();
        changed[TARGET_TYPE] = RawMemory.word(
                Arguments.oneOf("target", dtype, DType.F32, DType.F16, DType.BF16));
        changed[TARGET_CHANNELS_LAST] = layout == Layout.NHWC ? 1 : 0;
        return new ImageTransform(changed);
    }

    /**
     * Bytes of an image once it is transformed.
     *
     * @return h · w · C elements
     */
    public long targetImageBytes() {
        return words[CROP_HEIGHT] * words[CROP_WIDTH] * words[CHANNELS] * targetType().byteSize();
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
        long rows = Arguments.count31("rows", batch, words[CROP_HEIGHT]);
        if (rows == 0) {
            return;
        }
        words[SOURCE] = Arguments.address("images", images, 1);
        words[BATCH] = batch;
        words[CROPS] = Arguments.optional("crops", crops, Integer.BYTES);
        words[TARGET] = Arguments.address("target", target, targetType().byteSize());
        stream.launch(KERNEL, Kernel.blocks(rows), words);
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
        return mapped(images, field, toString(), null);
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
        if (crop.imageHeight() != words[HEIGHT] || crop.imageWidth() != words[WIDTH]
                || crop.cropHeight() != words[CROP_HEIGHT] || crop.cropWidth() != words[CROP_WIDTH]) {
            throw new IllegalArgumentException(crop + " for " + this);
        }
        return mapped(images, field, this + ", " + crop, crop);
    }

    private Dataset mapped(Dataset images, String field, String name, RandomCrop crop) {
        TensorSpec expected = spec(field, DType.U8, SOURCE_CHANNELS_LAST, HEIGHT, WIDTH);
        for (TensorSpec found : images.fields()) {
            if (found.name().equals(field) && !found.equals(expected)) {
                throw new IllegalArgumentException("found " + found + ", expected " + expected);
            }
        }
        return Mapped.of(images, field, spec(field, targetType(), TARGET_CHANNELS_LAST, CROP_HEIGHT, CROP_WIDTH), name,
                RandomCrop.STEP, new OneImage(words.clone(), crop));
    }

    /** The transform in a worker; without a crop to draw, from the middle. */
    private record OneImage(long[] words, RandomCrop crop) implements SampleMap {
        @Override
        public void map(Tensor in, RandomGenerator random, Tensor out) {
            long source = in.segment().address();
            long target = out.segment().address();
            if (crop == null) {
                ImageTwin.run(words, source, target, words[CROP_Y], words[CROP_X], false);
            } else {
                ImageTwin.run(words, source, target, crop.top(random), crop.left(random), crop.flip(random));
            }
        }

        @Override
        public boolean readsInPlace() {
            return true;
        }
    }

    private TensorSpec spec(String field, DType dtype, int channelsLast, int height, int width) {
        return new TensorSpec(field, dtype, shape(channelsLast, height, width));
    }

    private long[] shape(int channelsLast, int height, int width) {
        return words[channelsLast] != 0 ? new long[] {words[height], words[width], words[CHANNELS]}
                : new long[] {words[CHANNELS], words[height], words[width]};
    }

    private DType targetType() {
        return RawMemory.dtype(words[TARGET_TYPE]);
    }

    private static void setFloat(long[] words, int first, int c, float value) {
        int shift = 32 * (c % 2);
        words[first + c / 2] = words[first + c / 2] & ~(0xFFFF_FFFFL << shift)
                | (Float.floatToRawIntBits(value) & 0xFFFF_FFFFL) << shift;
    }

    private static float getFloat(long[] words, int first, int c) {
        return Float.intBitsToFloat((int) (words[first + c / 2] >>> 32 * (c % 2)));
    }

    static float mean(long[] words, int channel) {
        return getFloat(words, MEAN, channel);
    }

    static float deviation(long[] words, int channel) {
        return getFloat(words, DEVIATION, channel);
    }

    /** For example {@code u8[256, 256, 3] to bf16[3, 224, 224], (p / 255 - [0.5, 0.5, 0.5]) / [0.2, 0.2, 0.2]}. */
    @Override
    public String toString() {
        float[] means = new float[(int) words[CHANNELS]];
        float[] deviations = new float[means.length];
        for (int c = 0; c < means.length; c++) {
            means[c] = mean(words, c);
            deviations[c] = deviation(words, c);
        }
        return DType.U8 + Arrays.toString(shape(SOURCE_CHANNELS_LAST, HEIGHT, WIDTH)) + " to " + targetType()
                + Arrays.toString(shape(TARGET_CHANNELS_LAST, CROP_HEIGHT, CROP_WIDTH)) + ", (p / 255 - "
                + Arrays.toString(means) + ") / " + Arrays.toString(deviations);
    }
}
