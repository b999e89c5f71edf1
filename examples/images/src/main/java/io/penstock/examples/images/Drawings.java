// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.images;

import io.penstock.format.webdataset.WebDatasetWriter;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import javax.imageio.ImageIO;

/** Draws disks, squares, triangles and crosses bright on dark, of any color, at any place, and puts them into tars. */
final class Drawings {

    /** What a picture may show; its index is the label. */
    static final int KINDS = 4;

    /** Height and width of a picture. */
    static final int SIDE = 32;

    private static final int SHARD_SAMPLES = 512;
    private static final long SHARD_BYTES = 1L << 30;

    private Drawings() {
    }

    /** Writes a WebDataset of so many pictures to a folder, unless it is there. */
    static void write(Path folder, int pictures, long seed) throws IOException {
        if (Files.exists(folder)) {
            return;
        }
        Files.createDirectories(folder);
        SplittableRandom random = new SplittableRandom(seed);
        try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve("drawings-%06d.tar"), SHARD_SAMPLES,
                SHARD_BYTES)) {
            for (int i = 0; i < pictures; i++) {
                int kind = i % KINDS;
                byte[] label = Integer.toString(kind).getBytes(StandardCharsets.US_ASCII);
                writer.write(String.format(Locale.ROOT, "%06d", i), Map.of("png",
                        MemorySegment.ofArray(draw(kind, random)),
                        "cls", MemorySegment.ofArray(label)));
            }
            writer.commit();
        }
    }

    private static byte[] draw(int kind, SplittableRandom random) throws IOException {
        BufferedImage image = new BufferedImage(SIDE, SIDE, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        float ground = random.nextInt(360) / 360f;
        graphics.setColor(Color.getHSBColor(ground, 0.5f, 0.3f));
        graphics.fillRect(0, 0, SIDE, SIDE);
        graphics.setColor(Color.getHSBColor(ground + 0.5f, 0.4f, 1f));
        int size = random.nextInt(12, 20);
        int x = random.nextInt(2, SIDE - size - 2);
        int y = random.nextInt(2, SIDE - size - 2);
        switch (kind) {
            case 0 -> graphics.fillOval(x, y, size, size);
            case 1 -> graphics.fillRect(x, y, size, size);
            case 2 -> graphics.fillPolygon(new int[] {x, x + size / 2, x + size}, new int[] {y + size, y, y + size}, 3);
            default -> {
                graphics.fillRect(x + size / 3, y, size / 3, size);
                graphics.fillRect(x, y + size / 3, size, size / 3);
            }
        }
        graphics.dispose();
        for (int i = 0; i < SIDE * SIDE / 32; i++) {
            image.setRGB(random.nextInt(SIDE), random.nextInt(SIDE), random.nextInt(1 << 24));
        }
        ByteArrayOutputStream png = new ByteArrayOutputStream();
        ImageIO.write(image, "png", png);
        return png.toByteArray();
    }
}
