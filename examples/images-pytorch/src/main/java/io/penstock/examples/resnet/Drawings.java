// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.resnet;

import io.penstock.format.webdataset.WebDatasetWriter;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.awt.image.DataBufferInt;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.MemoryCacheImageOutputStream;

/**
 * Draws rings, squares, triangles and crosses on clouds, as JPEG files of several sizes in tars: always the same. The
 * clouds are noise at all scales, so that a file takes as long to decode as a photograph of its size.
 */
final class Drawings {

    /** What a picture may show; its index is the label. */
    static final int KINDS = 4;

    private static final int[][] SIZES = {{500, 375}, {500, 375}, {375, 500}, {500, 333}, {400, 400}};
    private static final int FINEST_CELLS = 128;
    private static final int SHARD_SAMPLES = 500;
    private static final long SHARD_BYTES = 1L << 30;
    private static final float QUALITY = 0.85f;

    private Drawings() {
    }

    /**
     * Writes a WebDataset of so many pictures to a folder, unless it is there.
     *
     * @param scale by which heights and widths, some 400 pixels, are divided
     */
    static void write(Path folder, int pictures, int scale, long seed) throws IOException {
        Path tars = folder.resolve("drawings-%06d.tar");
        if (Files.exists(WebDatasetWriter.recordFor(tars))) {
            return;
        }
        Files.createDirectories(folder);
        SplittableRandom random = new SplittableRandom(seed);
        ImageWriter jpeg = ImageIO.getImageWritersByFormatName("jpeg").next();
        try (WebDatasetWriter writer = WebDatasetWriter.create(tars, SHARD_SAMPLES, SHARD_BYTES)) {
            for (int i = 0; i < pictures; i++) {
                int kind = random.nextInt(KINDS);
                int[] size = SIZES[random.nextInt(SIZES.length)];
                BufferedImage image = draw(kind, size[0] / scale, size[1] / scale, random);
                byte[] label = Integer.toString(kind).getBytes(StandardCharsets.US_ASCII);
                writer.write(String.format(Locale.ROOT, "%06d", i), Map.of("jpg",
                        MemorySegment.ofArray(compressed(jpeg, image)), "cls", MemorySegment.ofArray(label)));
            }
            writer.commit();
        } finally {
            jpeg.dispose();
        }
    }

    private static BufferedImage draw(int kind, int width, int height, SplittableRandom random) {
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        graphics.setRenderingHint(RenderingHints.KEY_INTERPOLATION, RenderingHints.VALUE_INTERPOLATION_BILINEAR);
        clouds(graphics, width, height, random);
        int least = Math.min(width, height);
        int side = random.nextInt(least / 2, least * 3 / 4);
        int x = random.nextInt(width / 10, width * 9 / 10 - side + 1);
        int y = random.nextInt(height / 10, Math.max(height / 10 + 1, height * 9 / 10 - side + 1));
        graphics.setColor(Color.getHSBColor(random.nextInt(360) / 360f, 0.9f, 1f));
        graphics.setStroke(new BasicStroke(Math.max(2f, least / 16f)));
        switch (kind) {
            case 0 -> graphics.drawOval(x, y, side, side);
            case 1 -> graphics.drawRect(x, y, side, side);
            case 2 -> graphics.drawPolygon(new int[] {x, x + side / 2, x + side}, new int[] {y + side, y, y + side}, 3);
            default -> {
                graphics.drawLine(x + side / 2, y, x + side / 2, y + side);
                graphics.drawLine(x, y + side / 2, x + side, y + side / 2);
            }
        }
        graphics.dispose();
        return image;
    }

    /** Noise of each scale, drawn over the coarser ones. */
    private static void clouds(Graphics2D graphics, int width, int height, SplittableRandom random) {
        for (int cells = 2; cells <= FINEST_CELLS; cells *= 2) {
            BufferedImage noise = new BufferedImage(cells, cells, BufferedImage.TYPE_INT_ARGB);
            int alpha = cells == 2 ? 255 : 110;
            int[] pixels = ((DataBufferInt) noise.getRaster().getDataBuffer()).getData();
            for (int at = 0; at < pixels.length; at++) {
                pixels[at] = alpha << 24 | random.nextInt() & 0x7F7F7F;
            }
            graphics.drawImage(noise, 0, 0, width, height, null);
        }
    }

    private static byte[] compressed(ImageWriter jpeg, BufferedImage image) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (MemoryCacheImageOutputStream out = new MemoryCacheImageOutputStream(bytes)) {
            ImageWriteParam settings = jpeg.getDefaultWriteParam();
            settings.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
            settings.setCompressionQuality(QUALITY);
            jpeg.setOutput(out);
            jpeg.write(null, new IIOImage(image, null, null), settings);
        }
        return bytes.toByteArray();
    }
}
