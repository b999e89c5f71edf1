// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.image.reading.FrameDecoder;
import io.penstock.image.reading.ImageFrame;
import io.penstock.image.reading.PixelRows;
import io.penstock.image.reading.Resizer;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * An image whose pixels are not made yet: a decoded image or a file, and the frame that crops, a resize and mirroring
 * left of it. Storing reads only what the frame shows. For one thread; {@link Canvas} reuses it for all images.
 */
final class FramedImage {

    private final Resizer resizer;
    private final ImageFrame ownFrame = new ImageFrame();
    private ImageFrame frame = ownFrame;
    /** The decoded image, or null. */
    private @Nullable MemorySegment decoded;
    private long offset;
    private int channels;
    /** The decoder of the file, or null. */
    private @Nullable FrameDecoder file;

    FramedImage(Resizer resizer) {
        this.resizer = resizer;
    }

    /** Takes a decoded image, which must stay unchanged until this is cleared. */
    void load(MemorySegment image, long imageOffset, int height, int width, int imageChannels) {
        decoded = image;
        offset = imageOffset;
        channels = imageChannels;
        file = null;
        frame = ownFrame;
        frame.reset(height, width);
    }

    /** Takes an image file, which must stay unchanged until this is cleared; fails if its header is malformed. */
    void open(FrameDecoder decoder, MemorySegment bytes, long count) {
        decoded = null;
        file = decoder;
        frame = decoder.read(bytes, count);
    }

    void clear() {
        decoded = null;
        file = null;
    }

    boolean isPresent() {
        return decoded != null || file != null;
    }

    boolean isFile() {
        return file != null;
    }

    /** Returns what the image is cut and brought to; it may be changed. */
    ImageFrame frame() {
        return frame;
    }

    /** Makes the pixels of an image that is present. */
    void store(MemorySegment target, long targetOffset) {
        if (file != null) {
            file.decode(target, targetOffset);
        } else if (decoded != null) {
            resizer.resize(frame, decoded, offset, channels, target, targetOffset);
        }
    }

    /** Gives the pixels of an image that is present out by rows. */
    void store(PixelRows target) {
        if (file != null) {
            file.decode(target);
        } else if (decoded != null) {
            resizer.resize(frame, decoded, offset, channels, target);
        }
    }

    /** Stores the file with its frame; false if there is none, or none that a device decodes. */
    boolean storeFile(MemorySegment target, long targetOffset, long bytes, long scratchBytes) {
        return file != null && file.storeFile(target, targetOffset, bytes, scratchBytes);
    }
}
