// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.ImageOutputStream;

/** Makes JPEG files of pictures by the JDK's encoder. For one thread. */
public final class JpegEncoder implements AutoCloseable {

    private static final int CHANNELS = 3;

    private final ImageWriter writer;
    private final ImageWriteParam parameters;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    /**
     * Opens an encoder.
     *
     * @param quality from 1 to 100
     * @throws LinkageError if the JDK has no module {@code java.desktop}
     */
    public JpegEncoder(int quality) {
        writer = ImageIO.getImageWritersByFormatName("jpeg").next();
        parameters = writer.getDefaultWriteParam();
        parameters.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
        parameters.setCompressionQuality(quality / 100f);
    }

    /** Encodes a picture {@code u8[3, height, width]}. */
    public byte[] encode(MemorySegment picture, int height, int width) throws IOException {
        byte[] planes = picture.toArray(JAVA_BYTE);
        int plane = width * height;
        int[] pixels = new int[plane];
        for (int i = 0; i < plane; i++) {
            for (int channel = 0; channel < CHANNELS; channel++) {
                pixels[i] = pixels[i] << Byte.SIZE | planes[channel * plane + i] & 0xFF;
            }
        }
        var image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        image.setRGB(0, 0, width, height, pixels, 0, width);
        bytes.reset();
        try (ImageOutputStream out = ImageIO.createImageOutputStream(bytes)) {
            writer.setOutput(out);
            writer.write(null, new IIOImage(image, null, null), parameters);
        }
        return bytes.toByteArray();
    }

    @Override
    public void close() {
        writer.dispose();
    }
}
