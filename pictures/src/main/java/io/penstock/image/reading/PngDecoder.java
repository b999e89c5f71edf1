// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.CodecException;
import io.penstock.image.PixelFormat;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/** Decodes the pixels of a PNG whose chunks were read: inflates, unfilters and converts each row. For one thread. */
final class PngDecoder implements AutoCloseable {

    /** Adam7: the first column and row of each pass, and the steps between its columns and rows. */
    private static final int[] FIRST_COLUMN = {0, 4, 0, 2, 0, 1, 0};
    private static final int[] FIRST_ROW = {0, 0, 4, 0, 2, 0, 1};
    private static final int[] COLUMN_STEP = {8, 8, 4, 4, 2, 2, 1};
    private static final int[] ROW_STEP = {8, 8, 8, 4, 4, 2, 2};

    private static final int BLOCK_BYTES = 64 << 10;

    private final Inflater inflater = new Inflater();
    private final CRC32 crc = new CRC32();
    private final byte[] block = new byte[BLOCK_BYTES];
    private final PngRow row = new PngRow();
    /** The filter byte, then a row's bytes. */
    private byte[] current = {};
    private byte[] above = {};
    private byte[] converted = {};

    @SuppressWarnings("NullAway.Init")
    private PngHeader png;
    @SuppressWarnings("NullAway.Init")
    private MemorySegment stored;
    /** The current chunk, its end, and the next byte of its data; equal to the end once all are read. */
    private long chunk;
    private long chunkEnd;
    private long at;

    /** Decodes to pixels of the format, or to the stored channels if it is null. */
    void decode(PngHeader header, ImageHeader image, MemorySegment segment, @Nullable PixelFormat format,
            MemorySegment target, long targetOffset) {
        png = header;
        stored = segment;
        chunk = png.pixelsOffset;
        enter();
        inflater.reset();
        row.set(png, image, format);
        int pixelBytes = row.pixelBytes();
        if (!png.interlaced) {
            pass(image.width, image.height, target, targetOffset, pixelBytes, (long) image.width * pixelBytes);
        } else {
            for (int pass = 0; pass < FIRST_ROW.length; pass++) {
                int columns = Math.ceilDiv(image.width - FIRST_COLUMN[pass], COLUMN_STEP[pass]);
                int rows = Math.ceilDiv(image.height - FIRST_ROW[pass], ROW_STEP[pass]);
                long first = ((long) FIRST_ROW[pass] * image.width + FIRST_COLUMN[pass]) * pixelBytes;
                if (columns > 0 && rows > 0) {
                    pass(columns, rows, target, targetOffset + first, (long) COLUMN_STEP[pass] * pixelBytes,
                            (long) ROW_STEP[pass] * image.width * pixelBytes);
                }
            }
        }
        finish();
    }

    /** Decodes the rows of a pass, at the given byte steps between pixels and between rows. */
    private void pass(int columns, int rows, MemorySegment target, long first, long columnStep, long rowStep) {
        int rowBytes = row.storedBytes(columns);
        int pixelBytes = row.pixelBytes();
        if (current.length < 1 + rowBytes) {
            current = new byte[1 + rowBytes];
            above = new byte[1 + rowBytes];
        }
        if (converted.length < columns * pixelBytes) {
            converted = new byte[columns * pixelBytes];
        }
        Arrays.fill(above, 0, 1 + rowBytes, (byte) 0);
        for (int y = 0; y < rows; y++) {
            inflate(current, 1 + rowBytes);
            unfilter(rowBytes, row.filterDistance());
            byte[] pixels = row.convert(current, columns, converted);
            int from = pixels == current ? 1 : 0;
            long to = first + y * rowStep;
            if (columnStep == pixelBytes) {
                MemorySegment.copy(pixels, from, target, JAVA_BYTE, to, columns * pixelBytes);
            } else {
                for (int x = 0; x < columns; x++) {
                    for (int b = 0; b < pixelBytes; b++) {
                        target.set(JAVA_BYTE, to + b, pixels[from++]);
                    }
                    to += columnStep;
                }
            }
            byte[] swapped = above;
            above = current;
            current = swapped;
        }
    }

    /** Undoes a row's filter: each byte was stored as its difference from a prediction by its neighbors. */
    private void unfilter(int rowBytes, int distance) {
        byte[] now = current;
        byte[] up = above;
        int leading = Math.min(distance, rowBytes);
        switch (now[0]) {
            case 0 -> { }
            case 1 -> {
                for (int i = 1 + distance; i <= rowBytes; i++) {
                    now[i] += now[i - distance];
                }
            }
            case 2 -> {
                for (int i = 1; i <= rowBytes; i++) {
                    now[i] += up[i];
                }
            }
            case 3 -> {
                for (int i = 1; i <= leading; i++) {
                    now[i] += (byte) ((up[i] & 0xFF) >> 1);
                }
                for (int i = 1 + distance; i <= rowBytes; i++) {
                    now[i] += (byte) ((now[i - distance] & 0xFF) + (up[i] & 0xFF) >> 1);
                }
            }
            case 4 -> {
                for (int i = 1; i <= leading; i++) {
                    now[i] += up[i];
                }
                for (int i = 1 + distance; i <= rowBytes; i++) {
                    now[i] += (byte) paeth(now[i - distance] & 0xFF, up[i] & 0xFF, up[i - distance] & 0xFF);
                }
            }
            default -> throw new CodecException("a row with filter " + (now[0] & 0xFF), "0 to 4");
        }
    }

    /** Returns whichever of left, above and upper left is nearest to left + above - upper left; ties in this order. */
    private static int paeth(int left, int up, int upperLeft) {
        int fromLeft = Math.abs(up - upperLeft);
        int fromUp = Math.abs(left - upperLeft);
        int fromUpperLeft = Math.abs(left + up - 2 * upperLeft);
        if (fromLeft <= fromUp && fromLeft <= fromUpperLeft) {
            return left;
        }
        return fromUp <= fromUpperLeft ? up : upperLeft;
    }

    private void inflate(byte[] into, int bytes) {
        int done = 0;
        try {
            while (done < bytes) {
                int more = inflater.inflate(into, done, bytes - done);
                done += more;
                if (more == 0 && inflater.needsDictionary()) {
                    throw new CodecException(png.pixelsOffset, "a zlib stream with a dictionary", "one without");
                }
                if (more == 0 && (inflater.finished() || inflater.needsInput() && !feed())) {
                    throw new CodecException(at, "pixels that end too early", "as many as the header says");
                }
            }
        } catch (DataFormatException e) {
            throw damaged(e);
        }
    }

    /** Gives the inflater the next bytes of the chunks; returns false if there are none. */
    private boolean feed() {
        while (at == chunkEnd - 4) {
            png.checkSum(chunk, chunkEnd, crc);
            if (chunkEnd == png.pixelsEnd) {
                return false;
            }
            chunk = chunkEnd;
            enter();
        }
        int bytes = (int) Math.min(BLOCK_BYTES, chunkEnd - 4 - at);
        MemorySegment.copy(stored, JAVA_BYTE, at, block, 0, bytes);
        crc.update(block, 0, bytes);
        at += bytes;
        inflater.setInput(block, 0, bytes);
        return true;
    }

    /** Enters a chunk: its type counts for its checksum. */
    private void enter() {
        chunkEnd = chunk + PngHeader.FRAMING_BYTES + png.length(chunk);
        at = chunk + PngHeader.DATA_OFFSET;
        MemorySegment.copy(stored, JAVA_BYTE, chunk + PngHeader.LETTERS_OFFSET, block, 0, 4);
        crc.reset();
        crc.update(block, 0, 4);
    }

    /** Checks the stream's and the chunks' checksums after the last row. Ignores inflated bytes after the rows. */
    private void finish() {
        try {
            while (!inflater.finished() && inflater.inflate(current, 0, 1) == 0) {
                if (!inflater.finished() && inflater.needsInput() && !feed()) {
                    throw new CodecException(at, "a zlib stream without its end", "its checksum");
                }
            }
        } catch (DataFormatException e) {
            throw damaged(e);
        }
        checkRest();
    }

    private CodecException damaged(DataFormatException e) {
        long foundAt = at;
        // Usually the chunk is damaged, and its checksum shows it.
        checkRest();
        return new CodecException(foundAt, "a damaged zlib stream (" + e.getMessage() + ")", "a whole one");
    }

    /** Checks the checksums of the remaining chunks. */
    private void checkRest() {
        while (feed()) { }
    }

    @Override
    public void close() {
        inflater.end();
    }
}
