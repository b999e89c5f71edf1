// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.dataset.source.SampleMap.PartClock;
import io.penstock.device.internal.RawMemory;
import io.penstock.error.CodecException;
import io.penstock.image.Padding;
import io.penstock.image.reading.FrameDecoder;
import io.penstock.image.reading.FramedFile;
import io.penstock.image.reading.ImageFrame;
import io.penstock.image.reading.PixelRows;
import io.penstock.image.reading.Resizer;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The image that a pipeline's steps change, one after the other: interleaved {@code u8} channels in an array. For one
 * thread; reuses its arrays for all images.
 *
 * <p>It is lazy. While only crops, one resize and mirroring are asked for, they change a {@link FramedImage} and no
 * pixel is read. {@link #settle} makes the framed pixels: each method that reads or changes pixels calls it first. A
 * frame that nothing settles goes straight from the file to the target.
 */
public final class Canvas {

    private static final int IMAGE = -1;

    /** The current image, of at least {@link #byteCount} bytes; stale until {@link #settle}. */
    private byte[] pixels = {};
    /** Where an operation that cannot work in place writes its result. */
    private byte[] spare = {};
    private MemorySegment pixelMemory = MemorySegment.ofArray(pixels);
    private MemorySegment spareMemory = MemorySegment.ofArray(spare);
    private int height;
    private int width;
    private int channels;
    private final Resizer resizer = new Resizer();
    /** The image while its pixels are not made. */
    private final FramedImage framed = new FramedImage(resizer);
    private final ImageFrame whole = new ImageFrame();
    private final Workspace work = new Workspace();
    private byte[] kept = {};
    /** The value outside a mask; negative for an image. */
    private int maskFill = IMAGE;
    /** The time of making framed pixels counts for the part that framed them. */
    private PartClock clock = PartClock.NONE;
    private int part;
    private int framingPart;

    public int height() {
        return framed.isPresent() ? framed.frame().height() : height;
    }

    public int width() {
        return framed.isPresent() ? framed.frame().width() : width;
    }

    public int channels() {
        return channels;
    }

    public int byteCount() {
        return height() * width() * channels;
    }

    /** The pixels, row by row, which may be changed in place. */
    public byte[] pixels() {
        settle();
        return pixels;
    }

    /** Tells whether this is a mask of classes: its pixels are moved as an image's, but never mixed. */
    public boolean isMask() {
        return maskFill != IMAGE;
    }

    /** The class outside the mask, 0 to 255. */
    int maskFill() {
        return maskFill;
    }

    /** {@return arrays and tools that an operation on this image uses while it runs} */
    public Workspace work() {
        return work;
    }

    /** Keeps a copy of the image for {@link #recall}. */
    public void keep() {
        settle();
        int bytes = byteCount();
        if (kept.length < bytes) {
            kept = new byte[bytes];
        }
        System.arraycopy(pixels, 0, kept, 0, bytes);
    }

    /** Copies the kept image back; its size must be the same. */
    public void recall() {
        System.arraycopy(kept, 0, pixels, 0, byteCount());
    }

    /** Takes a mask of classes; outside the mask is the given class. */
    public void loadMask(MemorySegment mask, long offset, int maskHeight, int maskWidth, int maskChannels, int fill) {
        load(mask, offset, maskHeight, maskWidth, maskChannels);
        maskFill = fill;
    }

    /** Takes a decoded image, which must stay unchanged while the canvas is used. */
    public void load(MemorySegment image, long offset, int imageHeight, int imageWidth, int imageChannels) {
        begin(imageChannels);
        framed.load(image, offset, imageHeight, imageWidth, imageChannels);
    }

    /** Copies an image in from an address, which is not checked. */
    public void load(long image, int imageHeight, int imageWidth, int imageChannels) {
        begin(imageChannels);
        framed.clear();
        spare(imageHeight * imageWidth * imageChannels);
        replace(imageHeight, imageWidth);
        RawMemory.get(image, pixels, 0, byteCount());
    }

    /**
     * Takes an image file, which must stay unchanged while the canvas is used.
     *
     * @throws CodecException if its header is malformed
     */
    public void open(FrameDecoder decoder, MemorySegment file, long fileBytes, int imageChannels) {
        begin(imageChannels);
        framed.open(decoder, file, fileBytes);
    }

    private void begin(int imageChannels) {
        maskFill = IMAGE;
        channels = imageChannels;
        framingPart = 0;
    }

    /** Sets the clock that the time of the parts of the work is reported to. */
    public void timeBy(PartClock partClock) {
        clock = partClock;
    }

    /** The work from now on belongs to this part. */
    public void beginPart(int now) {
        part = now;
    }

    /** Returns the part that {@link #store} belongs to: decoding or the last crop, if these were postponed. */
    public int storedPart() {
        return framed.isPresent() ? framingPart : part;
    }

    /** A crop, resize or mirroring was postponed. For a file, it is part of decoding, the first part. */
    private void postponed() {
        framingPart = framed.isFile() ? 0 : part;
    }

    /**
     * Reads the framed pixels, if that was not done yet.
     *
     * @throws CodecException if the image's file is bad
     */
    private void settle() {
        if (!framed.isPresent()) {
            return;
        }
        clock.done(part);
        int newHeight = framed.frame().height();
        int newWidth = framed.frame().width();
        makeRoom((long) newHeight * newWidth * channels);
        framed.store(spareMemory, 0);
        framed.clear();
        replace(newHeight, newWidth);
        clock.done(framingPart);
    }

    /** Returns the spare array, with room for a result. A file may have an image that is too large, or too flat. */
    byte[] makeRoom(long bytes) {
        try {
            return spare(Math.toIntExact(bytes));
        } catch (ArithmeticException | OutOfMemoryError e) {
            throw new CodecException("pixels of " + bytes + " bytes", "a size that fits in memory");
        }
    }

    /**
     * Copies the image out.
     *
     * @throws CodecException if the image's file is bad
     */
    public void store(MemorySegment target, long offset) {
        if (framed.isPresent()) {
            framed.store(target, offset);
        } else {
            MemorySegment.copy(pixels, 0, target, JAVA_BYTE, offset, byteCount());
        }
    }

    /**
     * Stores an image's file with its frame, for a device that decodes it, or else the pixels.
     *
     * @param bytes of the row, as {@link FramedFile} lays it out
     * @param scratchBytes what the device has for an image
     * @throws CodecException if the image's file is bad
     */
    public void storeFile(MemorySegment target, long offset, long bytes, long scratchBytes) {
        if (!framed.storeFile(target, offset, bytes, scratchBytes)) {
            FramedFile.surround(byteCount(), target, offset, bytes);
            store(target, offset + FramedFile.HEADER_BYTES);
        }
    }

    /**
     * Gives the image out by rows.
     *
     * @throws CodecException if the image's file is bad
     */
    public void store(PixelRows target) {
        if (framed.isPresent()) {
            framed.store(target);
        } else {
            whole.reset(height, width);
            resizer.resize(whole, pixelMemory, 0, channels, target);
        }
    }

    /** Copies the image out to an address, which is not checked. */
    public void store(long target) {
        settle();
        RawMemory.set(pixels, 0, byteCount(), target);
    }

    /** Returns an array of at least this many bytes for a result; {@link #replace} makes it the image. */
    public byte[] spare(int bytes) {
        int length = Math.addExact(bytes, Warp.SLACK_BYTES);
        if (spare.length < length) {
            spare = new byte[length];
            spareMemory = MemorySegment.ofArray(spare);
        }
        return spare;
    }

    /** Makes the result in the spare array the image. */
    public void replace(int newHeight, int newWidth) {
        byte[] array = pixels;
        pixels = spare;
        spare = array;
        MemorySegment memory = pixelMemory;
        pixelMemory = spareMemory;
        spareMemory = memory;
        height = newHeight;
        width = newWidth;
    }

    /** Resizes an image by a filter; null takes the nearest pixel, as a mask always does. */
    public void resize(int newHeight, int newWidth, Resizer.@Nullable Filter filter) {
        Resizer.Filter weights = isMask() ? null : filter;
        if (newHeight == height() && newWidth == width()
                || weights != null && framed.isPresent() && framed.frame().resize(newHeight, newWidth, weights)) {
            postponed();
            return;
        }
        settle();
        byte[] target = makeRoom((long) newHeight * newWidth * channels);
        if (weights == null) {
            nearest(target, newHeight, newWidth);
        } else {
            whole.reset(height, width);
            whole.resize(newHeight, newWidth, weights);
            resizer.resize(whole, pixelMemory, 0, channels, spareMemory, 0);
        }
        replace(newHeight, newWidth);
    }

    /** Reads the pixel {@code floor(i · scale)} with the scale in f32, as torchvision does. */
    private void nearest(byte[] target, int newHeight, int newWidth) {
        float down = (float) height / newHeight;
        float right = (float) width / newWidth;
        int to = 0;
        for (int y = 0; y < newHeight; y++) {
            int from = Math.min((int) (y * down), height - 1) * width;
            for (int x = 0; x < newWidth; x++) {
                int at = (from + Math.min((int) (x * right), width - 1)) * channels;
                for (int c = 0; c < channels; c++) {
                    target[to++] = pixels[at + c];
                }
            }
        }
    }

    /**
     * Crops the padded image, without making it.
     *
     * @throws IllegalArgumentException if the crop is not inside it
     */
    public void crop(int top, int left, int cropHeight, int cropWidth, Padding padding) {
        crop(top, left, cropHeight, cropWidth, padding.pixels(), padding.mode(), isMask() ? maskFill : padding.fill());
    }

    /** Crops the image as if it had a border of this width around it. */
    public void crop(int top, int left, int cropHeight, int cropWidth, int border, Padding.Mode mode, int fill) {
        if (top < 0 || left < 0 || cropHeight < 1 || cropWidth < 1 || top > height() + 2 * border - cropHeight
                || left > width() + 2 * border - cropWidth) {
            throw new IllegalArgumentException("a crop of " + cropHeight + " x " + cropWidth + " at " + top + ", "
                    + left + " of an image of " + height() + " x " + width() + " with a border of " + border);
        }
        if (cropHeight == height() && cropWidth == width() && top == border && left == border) {
            return;
        }
        if (border == 0 && framed.isPresent()) {
            framed.frame().crop(top, left, cropHeight, cropWidth);
            postponed();
            return;
        }
        PaddedCrop.run(this, top, left, cropHeight, cropWidth, border, mode, fill);
    }

    public void flipHorizontally() {
        if (framed.isPresent() && channels <= Integer.BYTES) {            // a resizer packs a pixel into an int
            framed.frame().mirror();
            postponed();
            return;
        }
        settle();
        for (int y = 0; y < height; y++) {
            int high = (y * width + width - 1) * channels;
            for (int low = y * width * channels; low < high; low += channels, high -= channels) {
                for (int c = 0; c < channels; c++) {
                    byte left = pixels[low + c];
                    pixels[low + c] = pixels[high + c];
                    pixels[high + c] = left;
                }
            }
        }
    }

    public void flipVertically() {
        settle();
        int rowBytes = width * channels;
        byte[] target = spare(byteCount());
        for (int y = 0; y < height; y++) {
            System.arraycopy(pixels, y * rowBytes, target, (height - 1 - y) * rowBytes, rowBytes);
        }
        replace(height, width);
    }

    /**
     * Fills a rectangle with one value.
     *
     * @throws IllegalArgumentException if the rectangle is not inside the image
     */
    public void fill(int top, int left, int rows, int columns, int value) {
        settle();
        if (top < 0 || left < 0 || rows < 0 || columns < 0 || top > height - rows || left > width - columns) {
            throw new IllegalArgumentException("a rectangle of " + rows + " x " + columns + " at " + top + ", " + left
                    + " of an image of " + height + " x " + width);
        }
        for (int y = top; y < top + rows; y++) {
            int from = (y * width + left) * channels;
            Arrays.fill(pixels, from, from + columns * channels, (byte) value);
        }
    }

    /** Replaces each value of all channels by its entry in the table. */
    public void map(byte[] values) {
        settle();
        int bytes = byteCount();
        for (int i = 0; i < bytes; i++) {
            pixels[i] = values[pixels[i] & 0xFF];
        }
    }

    /** Replaces each value of one channel by its entry in the table. */
    public void map(int channel, byte[] values) {
        settle();
        int bytes = byteCount();
        for (int i = channel; i < bytes; i += channels) {
            pixels[i] = values[pixels[i] & 0xFF];
        }
    }

    /** Counts the values of a channel; the counts are of the workspace. */
    int[] histogram(int channel) {
        settle();
        return work.histogram(pixels, channel, channels, byteCount());
    }
}
