// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.diagnose.markup.Markup;
import io.penstock.memory.Tensor;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.DeflaterOutputStream;

/** Pictures with captions as a page of HTML, which contains each picture as a PNG. */
final class PictureSheet {

    private static final String STYLE = """
            :root { color-scheme: light dark; }
            body { font: 0.8rem sans-serif; display: flex; flex-wrap: wrap; gap: 1rem; }
            figure { margin: 0; width: min-content; min-width: 13rem; }
            img { image-rendering: pixelated; }
            """;
    private static final byte[] PNG = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    /** The color type of a PNG by the number of channels: gray, gray and alpha, RGB, RGB and alpha. */
    private static final int[] COLOR_TYPES = {0, 0, 4, 2, 6};

    private final Markup page = new Markup();

    PictureSheet(String title) {
        page.raw("<!DOCTYPE html>\n").open("html", "lang", "en").open("head").empty("meta", "charset", "utf-8")
                .element("title", title).open("style").raw(STYLE).close().close().open("body");
    }

    /** Adds a picture, {@code u8 [H, W, C]} with 1 to 4 channels; an element of the caption is a line. */
    void add(Tensor picture, List<String> caption) throws IOException {
        addTo(page, picture, caption);
    }

    /** Adds such a picture to any page. */
    static void addTo(Markup page, Tensor picture, List<String> caption) throws IOException {
        page.open("figure").empty("img", "alt", caption.getFirst(), "src",
                "data:image/png;base64," + Base64.getEncoder().encodeToString(png(picture)));
        page.open("figcaption");
        caption.forEach(line -> page.element("div", line));
        page.close().close();
    }

    /** The page, behind which nothing can be added. */
    String toHtml() {
        return page.close().close().toString();
    }

    /** A picture as PNG, ISO/IEC 15948, without filters. */
    private static byte[] png(Tensor picture) throws IOException {
        int height = (int) picture.dim(0);
        int rowBytes = (int) (picture.dim(1) * picture.dim(2));
        byte[] pixels = picture.segment().toArray(ValueLayout.JAVA_BYTE);
        var header = new ByteArrayOutputStream();
        try (var fields = new DataOutputStream(header)) {
            fields.writeInt((int) picture.dim(1));
            fields.writeInt(height);
            fields.write(new byte[] {Byte.SIZE, (byte) COLOR_TYPES[(int) picture.dim(2)], 0, 0, 0});
        }
        var rows = new ByteArrayOutputStream();
        try (var deflated = new DeflaterOutputStream(rows)) {
            for (int y = 0; y < height; y++) {
                deflated.write(0);
                deflated.write(pixels, y * rowBytes, rowBytes);
            }
        }
        var png = new ByteArrayOutputStream();
        try (var out = new DataOutputStream(png)) {
            out.write(PNG);
            chunk("IHDR", header.toByteArray(), out);
            chunk("IDAT", rows.toByteArray(), out);
            chunk("IEND", new byte[0], out);
        }
        return png.toByteArray();
    }

    private static void chunk(String type, byte[] body, DataOutputStream out) throws IOException {
        byte[] name = type.getBytes(StandardCharsets.US_ASCII);
        var crc = new CRC32();
        crc.update(name);
        crc.update(body);
        out.writeInt(body.length);
        out.write(name);
        out.write(body);
        out.writeInt((int) crc.getValue());
    }
}
