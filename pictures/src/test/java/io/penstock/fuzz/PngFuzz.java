// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.image.reading.JpegLibrary;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * PNG behind its checksums: an input is a PNG without them, whose one {@code IDAT} holds the rows as they are before
 * they are deflated. They are deflated, and the checksums made, before it is read: mutations get to the pixels.
 */
final class PngFuzz implements FuzzTarget {

    static final FuzzTarget TARGET = new PngFuzz();

    private static final int SIGNATURE_BYTES = 8;
    private static final int MAX_ROWS_BYTES = 1 << 16;
    private static final int IDAT = ByteBuffer.wrap("IDAT".getBytes(StandardCharsets.US_ASCII)).getInt();

    private PngFuzz() {
    }

    @Override
    public int maxBytes() {
        return 4 << 10;
    }

    @Override
    public List<byte[]> seeds() throws IOException {
        List<byte[]> seeds = new ArrayList<>();
        for (byte[] image : PixelOracle.images(".png")) {
            seeds.add(open(image));
        }
        return seeds;
    }

    @Override
    public void run(byte[] input, Path folder) throws IOException {
        PixelOracle.check(closed(input), JpegLibrary.JDK);
    }

    /** Takes the checksums out of an image, and its pixels out of their stream. */
    private static byte[] open(byte[] image) {
        ByteBuffer in = ByteBuffer.wrap(image).position(SIGNATURE_BYTES);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream pixels = new ByteArrayOutputStream();
        out.writeBytes(Arrays.copyOf(image, SIGNATURE_BYTES));
        while (in.hasRemaining()) {
            byte[] data = new byte[in.getInt()];
            int name = in.getInt();
            in.get(data).getInt();
            if (name == IDAT) {
                pixels.writeBytes(data);
                continue;
            }
            if (!in.hasRemaining()) {
                byte[] rows = inflated(pixels.toByteArray());
                out.writeBytes(ByteBuffer.allocate(8).putInt(rows.length).putInt(IDAT).array());
                out.writeBytes(rows);
            }
            out.writeBytes(ByteBuffer.allocate(8).putInt(data.length).putInt(name).array());
            out.writeBytes(data);
        }
        return out.toByteArray();
    }

    private static byte[] inflated(byte[] packed) {
        try (Inflater inflater = new Inflater()) {
            inflater.setInput(packed);
            byte[] rows = new byte[MAX_ROWS_BYTES];
            return Arrays.copyOf(rows, inflater.inflate(rows));
        } catch (DataFormatException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The image of an input: a chunk that is longer than what is left has what is left. */
    private static byte[] closed(byte[] input) {
        ByteBuffer in = ByteBuffer.wrap(input);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] signature = new byte[Math.min(SIGNATURE_BYTES, input.length)];
        in.get(signature);
        out.writeBytes(signature);
        while (in.remaining() >= 8) {
            int length = in.getInt();
            int name = in.getInt();
            byte[] data = new byte[length < 0 ? in.remaining() : Math.min(length, in.remaining())];
            in.get(data);
            byte[] stored = name == IDAT ? deflated(data) : data;
            byte[] letters = ByteBuffer.allocate(4).putInt(name).array();
            CRC32 crc = new CRC32();
            crc.update(letters);
            crc.update(stored);
            out.writeBytes(ByteBuffer.allocate(4).putInt(stored.length).array());
            out.writeBytes(letters);
            out.writeBytes(stored);
            out.writeBytes(ByteBuffer.allocate(4).putInt((int) crc.getValue()).array());
        }
        return out.toByteArray();
    }

    private static byte[] deflated(byte[] rows) {
        try (Deflater deflater = new Deflater(Deflater.BEST_SPEED)) {
            deflater.setInput(rows);
            deflater.finish();
            byte[] packed = new byte[rows.length + rows.length / 8 + 64];
            return Arrays.copyOf(packed, deflater.deflate(packed));
        }
    }
}
