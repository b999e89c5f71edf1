// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The supported image file formats, detected by their first bytes because names are often wrong. */
public enum ImageFormat {
    /** ITU-T T.81 in a JFIF, Exif or Adobe file: baseline, extended and progressive, 8 bits, Huffman-coded. */
    JPEG(0xFF, 0xD8, 0xFF),
    /** Portable Network Graphics, third edition: every color type, depth and interlace. */
    PNG(0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n');

    private final int[] magic;

    ImageFormat(int... magic) {
        this.magic = magic;
    }

    /** Returns the format of an image; null if it is unsupported. */
    public static @Nullable ImageFormat of(MemorySegment stored, long storedBytes) {
        if (JPEG.starts(stored, storedBytes)) {
            return JPEG;
        }
        return PNG.starts(stored, storedBytes) ? PNG : null;
    }

    private boolean starts(MemorySegment stored, long storedBytes) {
        if (storedBytes < magic.length) {
            return false;
        }
        for (int i = 0; i < magic.length; i++) {
            if ((stored.get(JAVA_BYTE, i) & 0xFF) != magic[i]) {
                return false;
            }
        }
        return true;
    }
}
