// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.memory.Tensor;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.DeflaterOutputStream;

/** Pictures in rows, each with a caption below it, as one PNG. */
final class PictureSheet {

    private static final int MARGIN = 8;
    private static final int LEAST_WIDTH = 200;
    private static final int CHANNELS = 3;
    private static final byte[] PNG = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    private static final int COLOR_RGB = 2;
    private static final int FILTER_UP = 2;

    /** A picture {@code u8 [H, W, C]}: gray, gray and alpha, RGB, or RGB and alpha, which is not shown. */
    private record Picture(byte[] pixels, int height, int width, int channels, List<String> caption) {

        byte pixel(int y, int x, int channel) {
            return pixels[(y * width + x) * channels + (channels < CHANNELS ? 0 : channel)];
        }
    }

    private final int columns;
    private final List<Picture> pictures = new ArrayList<>();

    PictureSheet(int columns) {
        this.columns = columns;
    }

    /** Adds a picture, whose pixels are copied; an element of the caption starts a line. */
    void add(Tensor picture, List<String> caption) {
        pictures.add(new Picture(picture.segment().toArray(ValueLayout.JAVA_BYTE),
                (int) picture.dim(0), (int) picture.dim(1), (int) picture.dim(2), caption));
    }

    private int width() {
        return pictures.stream().mapToInt(Picture::width).reduce(LEAST_WIDTH, Math::max);
    }

    /** The caption in lines that are not wider than a picture. */
    private static List<String> lines(Picture picture, int width) {
        int letters = width / PixelFont.WIDTH;
        List<String> lines = new ArrayList<>();
        for (String part : picture.caption) {
            StringBuilder line = new StringBuilder();
            for (String word : part.split(" ")) {
                if (!line.isEmpty() && line.length() + 1 + word.length() > letters) {
                    lines.add(line.toString());
                    line.setLength(0);
                    line.append(' ');
                }
                line.append(line.isEmpty() ? "" : " ").append(word);
            }
            lines.add(line.toString());
        }
        return lines;
    }

    void write(OutputStream out) throws IOException {
        int cellWidth = width();
        List<byte[]> rows = new ArrayList<>();
        int sheetWidth = Math.min(columns, pictures.size()) * (cellWidth + MARGIN) + MARGIN;
        addBlank(rows, sheetWidth, MARGIN);
        for (int from = 0; from < pictures.size(); from += columns) {
            draw(pictures.subList(from, Math.min(pictures.size(), from + columns)), cellWidth, sheetWidth, rows);
        }
        png(rows, sheetWidth, out);
    }

    private static void addBlank(List<byte[]> rows, int width, int count) {
        for (int i = 0; i < count; i++) {
            byte[] row = new byte[width * CHANNELS];
            Arrays.fill(row, (byte) 0xFF);
            rows.add(row);
        }
    }

    private static void draw(List<Picture> line, int cellWidth, int sheetWidth, List<byte[]> rows) {
        int height = line.stream().mapToInt(Picture::height).max().orElse(0);
        int captionLines = line.stream().mapToInt(picture -> lines(picture, cellWidth).size()).max().orElse(0);
        int top = rows.size();
        addBlank(rows, sheetWidth, height + MARGIN / 2 + captionLines * PixelFont.HEIGHT + MARGIN);
        int left = MARGIN;
        for (Picture picture : line) {
            for (int y = 0; y < picture.height; y++) {
                byte[] row = rows.get(top + y);
                for (int x = 0; x < picture.width; x++) {
                    for (int c = 0; c < CHANNELS; c++) {
                        row[(left + x) * CHANNELS + c] = picture.pixel(y, x, c);
                    }
                }
            }
            int lineTop = top + height + MARGIN / 2;
            for (String text : lines(picture, cellWidth)) {
                PixelFont.write(text, left, lineTop, (x, y) -> {
                    if (x < sheetWidth) {
                        Arrays.fill(rows.get(y), x * CHANNELS, (x + 1) * CHANNELS, (byte) 0x20);
                    }
                });
                lineTop += PixelFont.HEIGHT;
            }
            left += cellWidth + MARGIN;
        }
    }

    /** Writes rows of RGB as a PNG: ISO/IEC 15948, each row as its difference to the one above. */
    private static void png(List<byte[]> rows, int width, OutputStream out) throws IOException {
        out.write(PNG);
        ByteArrayOutputStream header = new ByteArrayOutputStream();
        try (DataOutputStream fields = new DataOutputStream(header)) {
            fields.writeInt(width);
            fields.writeInt(rows.size());
            fields.write(new byte[] {Byte.SIZE, COLOR_RGB, 0, 0, 0});
        }
        chunk("IHDR", header, out);
        ByteArrayOutputStream pixels = new ByteArrayOutputStream();
        try (DeflaterOutputStream deflated = new DeflaterOutputStream(pixels)) {
            byte[] above = new byte[width * CHANNELS];
            byte[] difference = new byte[above.length];
            for (byte[] row : rows) {
                for (int i = 0; i < row.length; i++) {
                    difference[i] = (byte) (row[i] - above[i]);
                }
                deflated.write(FILTER_UP);
                deflated.write(difference);
                above = row;
            }
        }
        chunk("IDAT", pixels, out);
        chunk("IEND", new ByteArrayOutputStream(), out);
    }

    private static void chunk(String type, ByteArrayOutputStream body, OutputStream out) throws IOException {
        ByteArrayOutputStream checked = new ByteArrayOutputStream();
        checked.writeBytes(type.getBytes(StandardCharsets.US_ASCII));
        body.writeTo(checked);
        CRC32 crc = new CRC32();
        crc.update(checked.toByteArray());
        DataOutputStream chunk = new DataOutputStream(out);
        chunk.writeInt(body.size());
        checked.writeTo(chunk);
        chunk.writeInt((int) crc.getValue());
    }
}
