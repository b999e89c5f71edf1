// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import static io.penstock.memory.LittleEndian.I32;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Resizes {@code u8} images with antialiasing, for one thread; reuses its buffers.
 *
 * <p>Rows are resized first, then columns; values in between are rounded to 8 bits. An output pixel {@code i} of
 * {@code n}, from {@code m} pixels, with {@code s = m / n} and {@code t = max(s, 1)}, weighs the input around
 * {@code c = (i + 0.5) s}: pixels {@code j} from {@code floor(c - r t + 0.5)} to below {@code floor(c + r t + 0.5)},
 * within the image, by {@code f((j - c + 0.5) / t)}, normalized to a sum of 1. {@link Filter} has {@code f} and
 * {@code r}. Weights are rounded to 22 fractional bits and sums to the nearest integer, so the result does not
 * depend on the machine. It equals Pillow's {@code Image.resize}, and torchvision's on Pillow images.
 *
 * <p>Pixels are packed into an {@code int} each. A strip of rows is transposed, so that both directions weigh whole
 * lines ({@link LineBlend}), and transposed back.
 */
public final class Resizer {

    /** How input pixels are weighed. */
    public enum Filter {
        /** A triangle, two pixels wide, or wider by the reduction factor: {@code r = 1, f = 1 - |x|}. */
        BILINEAR(1, false) {
            @Override
            double weight(double x) {
                return Math.max(1 - Math.abs(x), 0);
            }
        },
        /** The mean of the area under an output pixel: {@code r = 0.5, f = 1} for {@code -0.5 < x <= 0.5}. */
        BOX(0.5, false) {
            @Override
            double weight(double x) {
                return x > -0.5 && x <= 0.5 ? 1 : 0;
            }
        },
        /** Cubic convolution with {@code a = -0.5}, four pixels wide, or wider by the reduction factor: r = 2. */
        BICUBIC(2, true) {
            @Override
            double weight(double signed) {
                double x = Math.abs(signed);
                if (x < 1) {
                    return (1.5 * x - 2.5) * x * x + 1;
                }
                return x < 2 ? (((x - 5) * x + 8) * x - 4) * -0.5 : 0;
            }
        };

        final double reach;
        final boolean hasNegativeWeights;

        Filter(double reach, boolean hasNegativeWeights) {
            this.reach = reach;
            this.hasNegativeWeights = hasNegativeWeights;
        }

        abstract double weight(double x);
    }

    private static final int STRIP_PIXELS = 1 << 17;
    private static final int MOST_STRIP_ROWS = 512;

    private static final VarHandle INT_OF_BYTES =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private final ResizeAxis across = new ResizeAxis();
    private final ResizeAxis down = new ResizeAxis();
    private final LineBlend columns = new LineBlend();
    private final LineBlend rows = new LineBlend();
    private final PackedRows packed = new PackedRows();
    private int[][] block = {};
    private int[][] turned = {};
    private int[][] narrowed = {};
    private int[][] strip = {};
    private byte[] loaded = {};

    /** Resizes the framed part of an image, height by width by 1 to 4 channels, into memory. */
    public void resize(ImageFrame frame, MemorySegment source, long sourceOffset, int channels, MemorySegment target,
            long targetOffset) {
        if (frame.resized || frame.mirrored) {
            resize(frame, source, sourceOffset, channels, into(target, targetOffset, frame.width, channels));
            return;
        }
        long rowBytes = (long) frame.width * channels;
        long wholeRowBytes = (long) frame.imageWidth * channels;
        long from = sourceOffset + frame.top * wholeRowBytes + (long) frame.left * channels;
        boolean isOneRun = frame.width == frame.imageWidth;
        long runBytes = isOneRun ? frame.height * rowBytes : rowBytes;
        for (long y = 0; y < (isOneRun ? 1 : frame.height); y++) {
            MemorySegment.copy(source, from + y * wholeRowBytes, target, targetOffset + y * rowBytes, runBytes);
        }
    }

    /** Resizes the framed part of an image, height by width by 1 to 4 channels. */
    public void resize(ImageFrame frame, MemorySegment source, long sourceOffset, int channels, PixelRows target) {
        set(frame, frame.partWidth, 0, frame.partWidth, frame.partHeight, 0, frame.partHeight);
        long rowBytes = (long) frame.imageWidth * channels;
        run(source, sourceOffset + (frame.top + firstRow()) * rowBytes
                + (long) (frame.left + firstColumn()) * channels, rowBytes, channels, channels, frame.mirrored, target);
    }

    /** Prepares for a frame's part, of which a number of pixels count, and a box among them is resized. */
    void set(ImageFrame frame, int width, double boxLeft, double boxRight, int height, double boxTop,
            double boxBottom) {
        across.set(frame.filter, width, boxLeft, boxRight, frame.resizedWidth, frame.cropLeft, frame.width);
        down.set(frame.filter, height, boxTop, boxBottom, frame.resizedHeight, frame.cropTop, frame.height);
    }

    int firstColumn() {
        return across.low();
    }

    int columnCount() {
        return across.high() - across.low();
    }

    int firstRow() {
        return down.low();
    }

    int rowCount() {
        return down.high() - down.low();
    }

    PixelRows into(MemorySegment target, long targetOffset, int width, int channels) {
        return packed.into(target, targetOffset, width, channels);
    }

    /**
     * Resizes as prepared.
     *
     * @param at the first byte of the first row and column that are needed
     * @param pixelBytes the distance of two pixels, 1 to 4; at most as many channels are read
     * @param mirrored whether the columns of the result are in reverse order
     */
    void run(MemorySegment source, long at, long rowBytes, int pixelBytes, int channels, boolean mirrored,
            PixelRows target) {
        int width = columnCount();
        int height = rowCount();
        int outWidth = across.part;
        rows.start(down, channels, outWidth);
        int stripRows = across.isIdentity ? 1 : Math.min(Lines.blocks(height), Math.min(MOST_STRIP_ROWS,
                Lines.blocks(Math.max(1, STRIP_PIXELS / Math.max(width, outWidth)))));
        block = Lines.atLeast(block, Lines.BLOCK, width);
        strip = Lines.atLeast(strip, stripRows, outWidth);
        if (!across.isIdentity) {
            turned = Lines.atLeast(turned, width, stripRows);
            narrowed = Lines.atLeast(narrowed, outWidth, stripRows);
        }
        for (int y = 0; y < height; y += stripRows) {
            int part = Math.min(stripRows, height - y);
            long from = at + y * rowBytes;
            if (across.isIdentity) {
                load(source, from, pixelBytes, width, mirrored ? block[0] : strip[0]);
                if (mirrored) {
                    reverse(block[0], strip[0], width);
                }
            } else {
                turn(source, from, rowBytes, pixelBytes, width, part);
                narrow(channels, width, Lines.blocks(part), mirrored);
                Lines.transpose(narrowed, outWidth, part, strip, 0);
            }
            for (int i = 0; i < part; i++) {
                rows.add(strip[i]);
                while (rows.isReady()) {
                    target.row(rows.next(), rows.blend());
                }
            }
        }
    }

    /** Packs a strip's pixels, column by column. Rows that fill up the last block are stale. */
    private void turn(MemorySegment source, long at, long rowBytes, int pixelBytes, int width, int stripRows) {
        for (int y = 0; y < stripRows; y += Lines.BLOCK) {
            for (int i = 0; i < Math.min(Lines.BLOCK, stripRows - y); i++) {
                load(source, at + (y + i) * rowBytes, pixelBytes, width, block[i]);
            }
            Lines.transpose(block, Lines.BLOCK, width, turned, y);
        }
    }

    /** Resizes a strip's columns. */
    private void narrow(int channels, int width, int length, boolean mirrored) {
        columns.start(across, channels, length);
        for (int x = 0; x < width; x++) {
            columns.add(turned[x]);
            while (columns.isReady()) {
                int[] to = narrowed[mirrored ? across.part - 1 - columns.next() : columns.next()];
                int[][] of = columns.blend();
                switch (channels) {
                    case 1 -> System.arraycopy(of[0], 0, to, 0, length);
                    case 2 -> pack(of[0], of[1], to, length);
                    case 3 -> pack(of[0], of[1], of[2], to, length);
                    default -> pack(of[0], of[1], of[2], of[3], to, length);
                }
            }
        }
    }

    private static void pack(int[] a, int[] b, int[] to, int length) {
        for (int i = 0; i < length; i++) {
            to[i] = a[i] | b[i] << 8;
        }
    }

    private static void pack(int[] a, int[] b, int[] c, int[] to, int length) {
        for (int i = 0; i < length; i++) {
            to[i] = a[i] | b[i] << 8 | c[i] << 16;
        }
    }

    private static void pack(int[] a, int[] b, int[] c, int[] d, int[] to, int length) {
        for (int i = 0; i < length; i++) {
            to[i] = a[i] | b[i] << 8 | c[i] << 16 | d[i] << 24;
        }
    }

    /** Packs a row's pixels; bits above those of the channels are undefined. */
    private void load(MemorySegment source, long at, int pixelBytes, int width, int[] into) {
        if (pixelBytes == 4) {
            MemorySegment.copy(source, I32, at, into, 0, width);
            return;
        }
        int bytes = width * pixelBytes;
        if (loaded.length < bytes + 1) {
            loaded = new byte[bytes + 1];
        }
        MemorySegment.copy(source, JAVA_BYTE, at, loaded, 0, bytes);
        if (pixelBytes == 3) {
            unpack3(loaded, into, width);
        } else {
            unpack(loaded, pixelBytes, into, width);
        }
    }

    private static void unpack3(byte[] bytes, int[] into, int width) {
        for (int x = 0; x < width; x++) {
            into[x] = (int) INT_OF_BYTES.get(bytes, 3 * x);
        }
    }

    private static void unpack(byte[] bytes, int pixelBytes, int[] into, int width) {
        for (int x = 0; x < width; x++) {
            int at = pixelBytes * x;
            into[x] = bytes[at] & 0xFF | (bytes[at + pixelBytes - 1] & 0xFF) << 8;
        }
    }

    private static void reverse(int[] in, int[] out, int length) {
        for (int i = 0; i < length; i++) {
            out[i] = in[length - 1 - i];
        }
    }
}
