// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.SplittableRandom;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.ImageOutputStream;

/** Writes JPEG files for {@link JpegRates}: 500 x 375, 4:2:0, about 43 KB each, of noise at many scales. */
public final class JpegFiles {

    private static final int WIDTH = 500;
    private static final int HEIGHT = 375;
    private static final int SCALES = 7;
    private static final float QUALITY = 0.88f;

    private JpegFiles() {
    }

    /** Takes the folder to write to, and the number of files. */
    public static void main(String[] args) throws IOException {
        Path folder = Files.createDirectories(Path.of(args[0]));
        ImageWriter writer = ImageIO.getImageWritersByFormatName("jpeg").next();
        ImageWriteParam settings = writer.getDefaultWriteParam();
        settings.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
        settings.setCompressionQuality(QUALITY);
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            Path file = folder.resolve(String.format(Locale.ROOT, "%04d.jpg", i));
            Files.deleteIfExists(file);
            try (ImageOutputStream out = ImageIO.createImageOutputStream(file.toFile())) {
                writer.setOutput(out);
                writer.write(null, new IIOImage(image(new SplittableRandom(i)), null, null), settings);
            }
        }
        writer.dispose();
    }

    /** Sums noise of cells of 1 to 64 pixels, whose weight grows with their size, so that edges are smooth. */
    private static BufferedImage image(SplittableRandom random) {
        double[][] sums = new double[3][WIDTH * HEIGHT];
        for (double[] sum : sums) {
            for (int scale = 0; scale < SCALES; scale++) {
                int cell = 1 << scale;
                int columns = WIDTH / cell + 2;
                double[] values = random.doubles((long) columns * (HEIGHT / cell + 2), -1, 1).toArray();
                for (int y = 0; y < HEIGHT; y++) {
                    for (int x = 0; x < WIDTH; x++) {
                        sum[y * WIDTH + x] += (4 + 6 * scale) * blend(values, columns, (double) x / cell,
                                (double) y / cell);
                    }
                }
            }
        }
        var image = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_INT_RGB);
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            int rgb = 0;
            for (double[] sum : sums) {
                rgb = rgb << 8 | (int) Math.clamp(128 + sum[i], 0, 255);
            }
            image.setRGB(i % WIDTH, i / WIDTH, rgb);
        }
        return image;
    }

    private static double blend(double[] values, int columns, double x, double y) {
        int at = (int) y * columns + (int) x;
        double right = x - (int) x;
        double down = y - (int) y;
        return (1 - down) * ((1 - right) * values[at] + right * values[at + 1])
                + down * ((1 - right) * values[at + columns] + right * values[at + columns + 1]);
    }
}
