// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import static io.penstock.transform.ImageArguments.BATCH;
import static io.penstock.transform.ImageArguments.CHANNELS;
import static io.penstock.transform.ImageArguments.HEIGHT;
import static io.penstock.transform.ImageArguments.SOURCE;
import static io.penstock.transform.ImageArguments.SOURCE_CHANNELS_LAST;
import static io.penstock.transform.ImageArguments.TARGET;
import static io.penstock.transform.ImageArguments.TARGET_CHANNELS_LAST;
import static io.penstock.transform.ImageArguments.TARGET_TYPE;
import static io.penstock.transform.ImageArguments.WIDTH;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.SampleMap.PartClock;
import io.penstock.device.Device;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.internal.RawMemory;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;

/**
 * Normalizes u8 images and casts them to floats in one pass. So images are copied to the device as bytes and pass
 * through its memory once. The pictures module crops and flips images: see its {@code Augment}.
 *
 * <pre>
 *   images    [B, H, W, C] or [B, C, H, W]    u8, C at most 4
 *   target    [B, H, W, C] or [B, C, H, W]    f32, f16 or bf16
 * </pre>
 *
 * <p>Channel c of pixel p becomes {@code (p / 255 - mean[c]) / deviation[c]}, in this order in f32, each step rounded
 * to nearest even: torchvision's ToTensor and Normalize. The result is rounded once to the target dtype.
 *
 * <p>{@link #of} creates a transform; the other methods return changed copies:
 *
 * {@snippet :
 * var transform = ImageTransform.of(Layout.NHWC, 3, 224, 224)
 *         .normalize(new float[] {0.485f, 0.456f, 0.406f}, new float[] {0.229f, 0.224f, 0.225f})
 *         .to(DType.BF16, Layout.NCHW);
 * transform.enqueue(stream, batch.address("image"), batch.count(), pixels.address());
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

    /** Part of the fingerprints in saved states, which a new name would change. Nothing is drawn by it. */
    private static final String STEP = "penstock.crop";

    private static final List<String> PARTS = List.of("normalize");

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
        TARGET_TYPE.set(a, DType.F32);
        TARGET_CHANNELS_LAST.set(a, SOURCE_CHANNELS_LAST.get(a));
        for (int c = 0; c < MAX_CHANNELS; c++) {
            ImageArguments.setNormalization(a, c, 0, 1);
        }
        return transform;
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
     * @return H · W · C elements
     */
    public long targetImageBytes() {
        return HEIGHT.get(arguments) * WIDTH.get(arguments) * CHANNELS.get(arguments) * targetType().byteSize();
    }

    /**
     * Enqueues the transform.
     *
     * @param stream the stream
     * @param images address of the images
     * @param batch B
     * @param target address of the result, written
     * @throws IllegalArgumentException if an address is not a multiple of its element size, or B · H exceeds 2^31 - 1
     */
    public synchronized void enqueue(DeviceStream stream, long images, long batch, long target) {
        long rows = Arguments.count31("rows", batch, HEIGHT.get(arguments));
        if (rows == 0) {
            return;
        }
        SOURCE.set(arguments, Arguments.address("images", images, 1));
        BATCH.set(arguments, batch);
        TARGET.set(arguments, Arguments.address("target", target, targetType().byteSize()));
        stream.launch(KERNEL, Kernel.blocks(rows), arguments);
    }

    /**
     * A loader stage that replaces a field's images by this transform's.
     *
     * @param field the name of a field of u8 [B, H, W, C] or [B, C, H, W]
     * @return the stage; its single output replaces the field
     */
    public DeviceStage stage(String field) {
        return new Stage(copy(), field);
    }

    /**
     * Runs the transform in the loader's workers, for training on the CPU: each image is transformed as it is read,
     * straight into the batch. The bytes are those of {@link #enqueue}.
     *
     * @param images samples with a field of u8 [H, W, C] or [C, H, W]; must stay open
     * @param field the field's name
     * @return the samples with floats of [H, W, C] or [C, H, W] in its place
     * @throws IllegalArgumentException if the field is missing or does not contain such images
     */
    public Dataset mapped(Dataset images, String field) {
        TensorSpec found = images.fields().get(images.indexOf(field));
        requireEqual(found, new TensorSpec(field, DType.U8, sourceShape()));
        return images.map(field, result(field), toString(), STEP, new InWorkers(copy().arguments));
    }

    /**
     * The field of transformed images.
     *
     * @param field its name
     * @return [H, W, C] or [C, H, W]
     */
    public TensorSpec result(String field) {
        return new TensorSpec(field, targetType(), targetShape());
    }

    /** {@return a writer of single images that come as rows; for one thread} */
    public ImageRows rows() {
        return new ImageRows(copy().arguments);
    }

    long[] sourceShape() {
        return ImageArguments.shape(arguments, SOURCE_CHANNELS_LAST);
    }

    long[] targetShape() {
        return ImageArguments.shape(arguments, TARGET_CHANNELS_LAST);
    }

    private DType targetType() {
        return TARGET_TYPE.dtype(arguments);
    }

    /** For example {@code u8[224, 224, 3] to bf16[3, 224, 224], (p / 255 - [0.5, 0.5, 0.5]) / [0.2, 0.2, 0.2]}. */
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

    private static void requireEqual(TensorSpec found, TensorSpec expected) {
        if (!found.equals(expected)) {
            throw new IllegalArgumentException("found " + found + ", expected " + expected);
        }
    }

    private record InWorkers(MemorySegment arguments) implements SampleMap {
        @Override
        public List<String> parts() {
            return PARTS;
        }

        @Override
        public void map(Tensor in, RandomGenerator random, Tensor out, PartClock clock) {
            map(in, random, out);
            clock.done(0);
        }

        @Override
        public void map(Tensor in, RandomGenerator random, Tensor out) {
            ImageTwin.run(arguments, in.segment().address(), out.segment().address());
        }

        @Override
        public boolean readsInPlace() {
            return true;
        }
    }

    private record Stage(ImageTransform transform, String field) implements DeviceStage {
        @Override
        public OpenStage open(Device device, SlabLayout fields) {
            int images = fields.indexOf(field);
            TensorSpec found = fields.fields().get(images);
            long batch = found.rank() > 0 ? found.dim(0) : 0;
            requireEqual(found, new TensorSpec(field, DType.U8, batched(batch, transform.sourceShape())));
            return new OpenImages(images, transform.copy(), SlabLayout.of(
                    new TensorSpec(field, transform.targetType(), batched(batch, transform.targetShape()))));
        }

        private static long[] batched(long batch, long[] shape) {
            return LongStream.concat(LongStream.of(batch), LongStream.of(shape)).toArray();
        }
    }

    private record OpenImages(int images, ImageTransform transform, SlabLayout outputs) implements OpenStage {
        @Override
        public void enqueue(DeviceStream stream, DeviceFields in, DeviceFields out) {
            Arguments.sameInAllBatches(in, images, 1);
            long batch = in.dim(images, 0);
            out.setDim(0, 0, batch);
            transform.enqueue(stream, in.address(images), batch, out.address(0));
        }
    }

    /** Writes the rows of an image as the transform does: normalized, in its dtype and layout. For one thread. */
    public static final class ImageRows {

        private final MemorySegment arguments;
        private final int channels;
        private final int width;
        private final long height;
        private final long planeBytes;
        private final long rowBytes;
        private final boolean channelsLast;
        private final DType dtype;
        private final float[] floats;
        private final HalfFloats halves;
        private long target;

        ImageRows(MemorySegment arguments) {
            this.arguments = arguments;
            channels = (int) CHANNELS.get(arguments);
            width = Math.toIntExact(WIDTH.get(arguments));
            dtype = TARGET_TYPE.dtype(arguments);
            channelsLast = channels > 1 && TARGET_CHANNELS_LAST.get(arguments) != 0;
            rowBytes = (long) width * dtype.byteSize() * (channelsLast ? channels : 1);
            height = HEIGHT.get(arguments);
            planeBytes = rowBytes * height;
            floats = new float[Math.multiplyExact(width, channelsLast ? channels : 1) + 1 & ~1];
            halves = new HalfFloats(floats.length);
        }

        /**
         * Starts an image.
         *
         * @param out the native memory to write, which must stay alive until the last row is written
         * @param offset the first byte to write
         * @param bytes the bytes of the image
         * @throws IllegalArgumentException if the memory is not native, or the image has another size
         * @throws IndexOutOfBoundsException if the memory is too small
         */
        public void start(MemorySegment out, long offset, long bytes) {
            long expected = channelsLast ? planeBytes : planeBytes * channels;
            if (!out.isNative() || bytes != expected) {
                throw new IllegalArgumentException("found " + bytes + " bytes of " + out + ", expected " + expected
                        + " bytes of native memory");
            }
            Objects.checkFromIndexSize(offset, bytes, out.byteSize());
            target = out.address() + offset;
        }

        /**
         * Writes a row.
         *
         * @param row its number, from 0, below the image's height
         * @param of the values, 0 to 255, of each channel: an array for each, at least as long as the row
         * @throws IndexOutOfBoundsException if there is no such row, or an array is too short
         */
        public void put(int row, int[][] of) {
            Objects.checkIndex(row, height);
            for (int c = 0; c < channels; c++) {
                float mean = ImageArguments.mean(arguments, c);
                float deviation = ImageArguments.deviation(arguments, c);
                if (channelsLast) {
                    normalize(of[c], width, mean, deviation, floats, c, channels);
                } else {
                    normalize(of[c], width, mean, deviation, floats);
                    store(width, target + c * planeBytes + row * rowBytes);
                }
            }
            if (channelsLast) {
                store(width * channels, target + row * rowBytes);
            }
        }

        private void store(int count, long to) {
            switch (dtype) {
                case BF16 -> halves.putBf16(floats, count, to);
                case F16 -> halves.putF16(floats, count, to);
                default -> RawMemory.set(floats, 0, count, to);
            }
        }

        private static void normalize(int[] values, int count, float mean, float deviation, float[] out) {
            for (int i = 0; i < count; i++) {
                out[i] = (values[i] / 255f - mean) / deviation;
            }
        }

        private static void normalize(int[] values, int count, float mean, float deviation, float[] out, int first,
                int step) {
            for (int i = 0; i < count; i++) {
                out[first + i * step] = (values[i] / 255f - mean) / deviation;
            }
        }
    }
}
