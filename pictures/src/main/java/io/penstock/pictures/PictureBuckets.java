// SPDX-License-Identifier: Apache-2.0
package io.penstock.pictures;

import io.penstock.collate.StackAndPad;
import io.penstock.dataset.Lengths;
import io.penstock.dataset.RecordFields;
import io.penstock.decode.Decoder;
import io.penstock.error.CodecException;
import io.penstock.image.ImageDecoding;
import io.penstock.image.ImageFit;
import io.penstock.image.reading.FrameDecoder;
import io.penstock.image.reading.ImageFrame;
import io.penstock.image.reading.JpegLibrary;
import io.penstock.image.reading.Resizer;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.TailPolicy;
import io.penstock.store.Column;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;

/**
 * Pictures of several sizes, each brought to the nearest of a list, so that little of them is cut off: batches of one
 * size each, by aspect ratio and resolution.
 *
 * {@snippet :
 * PictureBuckets buckets = PictureBuckets.of(shards, "jpg", PictureBuckets.sizes(1024 * 1024, 64, 4));
 * Dataset pairs = RecordFields.of(shards).and("jpg", buckets.decoder()).and("txt");
 * DataLoader loader = DataLoader.builder(pairs).batchSize(8).sampler(buckets.sampler(8, TailPolicy.PAD, seed))
 *         .collator(StackAndPad.fields().shaped("jpg", buckets)).open();      // jpg: u8[8, H, W, 3]
 * }
 *
 * <p>A picture is resized in proportion until it covers its bucket's size, and the center is cropped.
 * {@code docs/spec/batching.md} has the definition. The dataset must have the samples of the store in its order, all of
 * them. Immutable.
 */
public final class PictureBuckets implements StackAndPad.SampleShapes {

    /**
     * A size of pictures.
     *
     * @param height rows
     * @param width pixels in a row
     */
    public record Size(int height, int width) {

        /**
         * Checks the sides.
         *
         * @throws IllegalArgumentException if one is below 1 or above 65,535
         */
        public Size {
            if (height < 1 || width < 1 || height > MOST_SIDE || width > MOST_SIDE) {
                throw new IllegalArgumentException("pictures of " + width + "x" + height + ", expected sides of 1 to "
                        + MOST_SIDE);
            }
        }

        private long pixels() {
            return (long) height * width;
        }
    }

    private static final int MOST_SIDE = 65_535;
    private static final int MOST_SIZES = 4096;

    private final List<Size> sizes;
    private final ImageDecoding decoding;
    private final int[] buckets;
    private final List<long[]> shapes;

    private PictureBuckets(List<Size> sizes, ImageDecoding decoding, int[] buckets) {
        this.sizes = sizes;
        this.decoding = decoding;
        this.buckets = buckets;
        int channels = decoding.format().channels();
        shapes = sizes.stream().map(size -> new long[] {size.height, size.width, channels}).toList();
    }

    /**
     * {@return sizes of about so many pixels, of all aspect ratios in steps, as SDXL's are} For each width in steps the
     * greatest height in steps with at most so many pixels.
     *
     * @param pixels width times height, at most
     * @param step of which both sides are multiples
     * @param mostAspect the longer side over the shorter, at most, 1 or more
     * @throws IllegalArgumentException if there is no such size, or more than 4,096
     */
    public static List<Size> sizes(long pixels, int step, double mostAspect) {
        if (step < 1 || !(mostAspect >= 1)) {
            throw new IllegalArgumentException("steps of " + step + " and an aspect ratio of at most " + mostAspect
                    + ", expected 1 or more");
        }
        List<Size> sizes = new ArrayList<>();
        for (long width = step; width <= MOST_SIDE && width * step <= pixels; width += step) {
            long height = Math.min(MOST_SIDE / step, pixels / width / step) * step;
            if (Math.max(width, height) <= mostAspect * Math.min(width, height)) {
                sizes.add(new Size((int) height, (int) width));
            }
        }
        return checked(sizes);
    }

    private static List<Size> checked(List<Size> sizes) {
        if (sizes.isEmpty() || sizes.size() > MOST_SIZES) {
            throw new IllegalArgumentException(sizes.size() + " sizes of pictures, expected 1 to " + MOST_SIZES);
        }
        return List.copyOf(sizes);
    }

    /**
     * Finds the bucket of each picture by its file's header, decoding to RGB.
     *
     * @param store the pictures; must stay open while the samples are read
     * @param column the column of JPEG or PNG files
     * @param sizes the sizes of buckets
     * @return the buckets
     * @throws IllegalArgumentException if there is no such column
     */
    public static PictureBuckets of(RecordStore store, String column, List<Size> sizes) {
        return of(store, column, sizes, ImageDecoding.rgb().scaled());
    }

    /**
     * Finds the bucket of each picture by its file's header. A file whose header cannot be read is in the first bucket;
     * it is a bad sample.
     *
     * @param store the pictures; must stay open while the samples are read
     * @param column the column of JPEG or PNG files
     * @param sizes the sizes of buckets
     * @param decoding how files become pixels; if upright, their sizes are those when turned
     * @return the buckets
     * @throws IllegalArgumentException if there is no such column
     */
    public static PictureBuckets of(RecordStore store, String column, List<Size> sizes, ImageDecoding decoding) {
        List<Size> all = checked(sizes);
        RecordFields numbers = RecordFields.of(store).and(column, new Sized(all, decoding, true));
        Lengths found = Lengths.of(numbers, 0);
        return new PictureBuckets(all, decoding,
                LongStream.range(0, store.size()).mapToInt(i -> (int) found.applyAsLong(i)).toArray());
    }

    /**
     * Finds the bucket of each picture by its size, which is known: no file is read.
     *
     * @param pictures the size of each, as it is decoded
     * @param sizes the sizes of buckets
     * @param decoding how files become pixels
     * @return the buckets
     */
    public static PictureBuckets ofSizes(List<Size> pictures, List<Size> sizes, ImageDecoding decoding) {
        List<Size> all = checked(sizes);
        return new PictureBuckets(all, decoding,
                pictures.stream().mapToInt(picture -> nearest(all, picture.height, picture.width)).toArray());
    }

    /** The bucket of a picture: of those that are not larger, and of nearly the greatest of them, the best aspect. */
    private static int nearest(List<Size> sizes, int height, int width) {
        long pixels = (long) height * width;
        long least = Long.MAX_VALUE;
        long most = 0;
        for (Size size : sizes) {
            least = Math.min(least, size.pixels());
            most = size.pixels() <= pixels ? Math.max(most, size.pixels()) : most;
        }
        int best = -1;
        double bestError = 0;
        for (int i = 0; i < sizes.size(); i++) {
            Size size = sizes.get(i);
            long area = size.pixels();
            boolean isCandidate = most > 0 ? area <= pixels && 2 * area >= most : area <= 2 * least;
            double a = (double) size.width * height;
            double b = (double) size.height * width;
            double error = Math.max(a, b) / Math.min(a, b);
            if (isCandidate && (best < 0 || error < bestError
                    || error == bestError && area > sizes.get(best).pixels())) {
                best = i;
                bestError = error;
            }
        }
        return best;
    }

    /**
     * {@return a decoder to {@code u8[*]}: the pixels of a picture in its bucket's size, row after row} For
     * {@link RecordFields#and(String, Decoder)} of the same column.
     */
    public Decoder decoder() {
        return new Sized(sizes, decoding, false);
    }

    /**
     * {@return an order in which groups of samples have one size}
     *
     * @param group samples of a group: a batch's, times the ranks
     * @param rest what becomes of those that do not fill a group
     * @param seed any number
     * @throws IllegalArgumentException as {@link Sampler#bucketed}
     */
    public Sampler sampler(long group, TailPolicy rest, long seed) {
        return Sampler.bucketed(buckets, group, rest, seed);
    }

    /** {@return the sizes of buckets} */
    public List<Size> sizes() {
        return sizes;
    }

    @Override
    public List<long[]> shapes() {
        return shapes;
    }

    @Override
    public long size() {
        return buckets.length;
    }

    @Override
    public int shapeOf(long sample) {
        return buckets[(int) Objects.checkIndex(sample, (long) buckets.length)];
    }

    /** {@return how many pictures each size has} */
    public long[] counts() {
        long[] counts = new long[sizes.size()];
        for (int bucket : buckets) {
            counts[bucket]++;
        }
        return counts;
    }

    /**
     * Decodes pictures to the size of their bucket.
     *
     * @param sizes the sizes
     * @param decoding how files become pixels
     * @param isNumber whether the number of the bucket is asked for, as the number of bytes
     */
    private record Sized(List<Size> sizes, ImageDecoding decoding, boolean isNumber) implements Decoder {

        @Override
        public TensorSpec field(Column column) {
            ImageDecoder.of(decoding, ImageFit.stretch(1, 1)).field(column);
            return new TensorSpec(column.name(), DType.U8, TensorSpec.VARIABLE);
        }

        @Override
        public Session open() {
            return new Pixels(this, new FrameDecoder(decoding));
        }

        @Override
        public String part() {
            return JpegLibrary.preferred().part();
        }

        @Override
        public String toString() {
            return decoding + " pictures in the nearest of " + sizes;
        }
    }

    private record Pixels(Sized of, FrameDecoder decoder) implements Decoder.Session {

        @Override
        public long byteSize(MemorySegment stored, long storedBytes) throws IOException {
            if (!of.isNumber) {
                ImageFrame frame = decoder.read(stored, storedBytes);
                return of.sizes.get(nearest(of.sizes, frame.height(), frame.width())).pixels()
                        * of.decoding.format().channels();
            }
            try {
                ImageFrame frame = decoder.read(stored, storedBytes);
                return nearest(of.sizes, frame.height(), frame.width());
            } catch (CodecException _) {
                return 0;
            }
        }

        @Override
        public void decode(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset,
                long targetBytes) throws IOException {
            ImageFrame frame = decoder.read(stored, storedBytes);
            long height = frame.height();
            long width = frame.width();
            Size size = of.sizes.get(nearest(of.sizes, frame.height(), frame.width()));
            if (targetBytes != size.pixels() * of.decoding.format().channels()) {
                throw new CodecException("pixels of " + size, targetBytes + " bytes");
            }
            boolean isByWidth = size.width * height >= size.height * width;
            long rows = isByWidth ? size.width * height / width : size.height;
            long columns = isByWidth ? size.width : size.height * width / height;
            if (Math.max(rows, columns) > Integer.MAX_VALUE / 4) {
                throw new CodecException("a picture of " + width + "x" + height + " pixels",
                        "a less extreme aspect ratio");
            }
            frame.resize((int) rows, (int) columns, Resizer.Filter.BILINEAR);
            frame.crop((int) Math.rint((rows - size.height) / 2.0), (int) Math.rint((columns - size.width) / 2.0),
                    size.height, size.width);
            decoder.decode(target, targetOffset);
        }

        @Override
        public void close() {
            decoder.close();
        }
    }
}
