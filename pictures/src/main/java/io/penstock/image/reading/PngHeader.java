// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.CodecException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Locale;
import java.util.zip.CRC32;

/**
 * Reads the chunks of a PNG (W3C, Portable Network Graphics, third edition), except the pixels:
 *
 * <pre>
 *    0  8 bytes     signature
 *    8  chunks      u32 length, 4 letters, the data, u32 CRC of letters and data
 *
 *       IHDR        u32 width, u32 height, u8 depth, u8 color type, u8 0, u8 0, u8 interlace; the first
 *       PLTE        3 bytes a color
 *       tRNS        the transparent color, or an alpha for each color of the palette
 *       eXIf        the orientation, among others
 *       tEXt, zTXt, iTXt   the same, see {@link PngText}
 *       IDAT        one zlib stream, in any number of consecutive chunks
 *       IEND        empty; the last
 * </pre>
 *
 * <p>Everything except the checksums of {@code IDAT} is checked before the pixels are read.
 */
final class PngHeader {

    static final int COLOR_GRAY = 0;
    static final int COLOR_RGB = 2;
    static final int COLOR_PALETTE = 3;
    static final int COLOR_GRAY_ALPHA = 4;
    static final int COLOR_RGBA = 6;

    static final int IDAT = name("IDAT");
    /** Bytes of a chunk besides its data: length, type, checksum. */
    static final int FRAMING_BYTES = 12;
    static final int LETTERS_OFFSET = 4;
    static final int DATA_OFFSET = 8;

    private static final int IHDR = name("IHDR");
    private static final int PLTE = name("PLTE");
    private static final int TRNS = name("tRNS");
    private static final int EXIF = name("eXIf");
    private static final int IEND = name("IEND");

    private static final int SIGNATURE_BYTES = 8;
    private static final int HEADER_BYTES = 13;
    private static final int MAX_COLORS = 256;
    /** Bit 5 of the first letter: a reader may skip the chunk if it does not know it. */
    private static final int ANCILLARY = 0x2000_0000;
    /** Deflate's best ratio: 258 bytes for 2 bits. */
    private static final long MAX_INFLATION = 1032;

    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final CRC32 crc = new CRC32();
    private final byte[] block = new byte[1024];
    @SuppressWarnings("NullAway.Init")
    private MemorySegment stored;
    private long storedBytes;

    private boolean hasExif;
    private int xmpOrientation;

    int colorType;
    int depth;
    boolean interlaced;
    long pixelsOffset;
    long pixelsEnd;
    int colors;
    /** Red, green, blue, alpha of each color; opaque black for missing colors. */
    final byte[] palette = new byte[4 * MAX_COLORS];
    /** The transparent color as stored: one gray value, or three values. */
    final int[] transparent = new int[3];
    boolean hasTransparent;

    static int name(String letters) {
        return letters.charAt(0) << 24 | letters.charAt(1) << 16 | letters.charAt(2) << 8 | letters.charAt(3);
    }

    void read(MemorySegment segment, long bytes, ImageHeader into) {
        stored = segment;
        storedBytes = bytes;
        colors = 0;
        hasTransparent = false;
        hasExif = false;
        xmpOrientation = 0;
        pixelsOffset = -1;
        pixelsEnd = -1;
        into.format = ImageFormat.PNG;
        long at = SIGNATURE_BYTES;
        long end = next(at);
        if (letters(at) != IHDR) {
            throw new CodecException(at, "a chunk " + shown(at), "IHDR first");
        }
        checkSum(at, end);
        header(at, into);
        at = end;
        end = next(at);
        while (letters(at) != IEND) {
            chunk(at, end, into);
            at = end;
            end = next(at);
        }
        checkSum(at, end);
        if (length(at) != 0) {
            throw new CodecException(at, "an IEND of " + length(at) + " bytes", "none");
        }
        if (pixelsOffset < 0) {
            throw new CodecException(at, "an end before any pixels", "IDAT before IEND");
        }
        if (colorType == COLOR_PALETTE && colors == 0) {
            throw new CodecException(pixelsOffset, "indices without a palette", "PLTE before IDAT");
        }
        checkSizeIsPossible(into);
        if (into.orientation == 0) {
            into.orientation = xmpOrientation;
        }
    }

    private void header(long at, ImageHeader into) {
        if (length(at) != HEADER_BYTES) {
            throw new CodecException(at, "an IHDR of " + length(at) + " bytes", "" + HEADER_BYTES);
        }
        long data = at + DATA_OFFSET;
        into.width = stored.get(U32, data);
        into.height = stored.get(U32, data + 4);
        if (into.width <= 0 || into.height <= 0) {
            throw new CodecException(data, "an image of " + (into.width & 0xFFFF_FFFFL) + "x"
                    + (into.height & 0xFFFF_FFFFL) + " pixels", "1 to 2147483647 each way");
        }
        depth = u8(data + 8);
        colorType = u8(data + 9);
        into.bits = depth;
        into.layout = layout(data + 8);
        if (u8(data + 10) != 0 || u8(data + 11) != 0 || u8(data + 12) > 1) {
            throw new CodecException(data + 10, "compression " + u8(data + 10) + ", filter " + u8(data + 11)
                    + ", interlace " + u8(data + 12), "0, 0, and 0 or 1");
        }
        interlaced = u8(data + 12) == 1;
    }

    private PixelLayout layout(long at) {
        boolean whole = depth == 8 || depth == 16;
        boolean part = depth == 1 || depth == 2 || depth == 4;
        PixelLayout layout = switch (colorType) {
            case COLOR_GRAY -> whole || part ? PixelLayout.GRAY : null;
            case COLOR_RGB -> whole ? PixelLayout.RGB : null;
            case COLOR_PALETTE -> part || depth == 8 ? PixelLayout.PALETTE : null;
            case COLOR_GRAY_ALPHA -> whole ? PixelLayout.GRAY_ALPHA : null;
            case COLOR_RGBA -> whole ? PixelLayout.RGBA : null;
            default -> null;
        };
        if (layout == null) {
            throw new CodecException(at, "color type " + colorType + " of " + depth + " bits",
                    "0 of 1 to 16, 3 of 1 to 8, or 2, 4, 6 of 8 or 16 bits");
        }
        return layout;
    }

    private void chunk(long at, long end, ImageHeader into) {
        int letters = letters(at);
        if (letters == IDAT) {
            if (pixelsOffset < 0) {
                pixelsOffset = at;
            } else if (pixelsEnd != at) {
                throw new CodecException(at, "an IDAT apart from those before", "consecutive ones");
            }
            pixelsEnd = end;
            return;
        }
        checkSum(at, end);
        if (letters == PLTE) {
            palette(at);
        } else if (letters == TRNS) {
            transparency(at, into);
        } else if (letters == EXIF) {
            hasExif = true;
            into.orientation = Orientation.ofTiff(stored, at + DATA_OFFSET, length(at));
        } else if (PngText.isText(letters)) {
            text(letters, at + DATA_OFFSET, length(at), into);
        } else if ((letters & ANCILLARY) == 0) {
            throw new CodecException(at, "a chunk " + shown(at) + " that must be understood",
                    "IHDR, PLTE, IDAT and IEND, once and in this order");
        }
    }

    /** An eXIf chunk is preferred to Exif data as text, both are to XMP. */
    private void text(int letters, long data, long bytes, ImageHeader into) {
        if (!hasExif && PngText.hasKeyword(stored, data, bytes, PngText.EXIF)) {
            into.orientation = PngText.orientation(letters, stored, data, bytes, PngText.EXIF);
        } else if (PngText.hasKeyword(stored, data, bytes, PngText.XMP)) {
            xmpOrientation = PngText.orientation(letters, stored, data, bytes, PngText.XMP);
        }
    }

    private void palette(long at) {
        long bytes = length(at);
        if (colors != 0 || pixelsOffset >= 0) {
            throw new CodecException(at, "a PLTE " + (colors != 0 ? "again" : "after IDAT"), "one, before IDAT");
        }
        if (bytes == 0 || bytes % 3 != 0 || bytes > 3 * MAX_COLORS) {
            throw new CodecException(at, "a palette of " + bytes + " bytes", "3 for each of 1 to 256 colors");
        }
        colors = (int) bytes / 3;
        Arrays.fill(palette, (byte) 0);
        for (int i = 0; i < MAX_COLORS; i++) {
            if (i < colors) {
                MemorySegment.copy(stored, JAVA_BYTE, at + DATA_OFFSET + 3L * i, palette, 4 * i, 3);
            }
            palette[4 * i + 3] = -1;
        }
    }

    private void transparency(long at, ImageHeader into) {
        long bytes = length(at);
        long most = switch (colorType) {
            case COLOR_GRAY -> 2;
            case COLOR_RGB -> 6;
            case COLOR_PALETTE -> MAX_COLORS;
            default -> Long.MAX_VALUE;
        };
        if (most == Long.MAX_VALUE) {
            // With an alpha channel this has no meaning.
            return;
        }
        if (colorType == COLOR_PALETTE && colors == 0) {
            throw new CodecException(at, "a tRNS before the palette", "PLTE before it");
        }
        if (pixelsOffset >= 0 || bytes > most || bytes == 0 || colorType != COLOR_PALETTE && bytes < most) {
            throw new CodecException(at, "a tRNS of " + bytes + " bytes" + (pixelsOffset >= 0 ? " after IDAT" : ""),
                    (colorType == COLOR_PALETTE ? "1 to " : "") + most + ", before IDAT");
        }
        into.transparent = true;
        if (colorType == COLOR_PALETTE) {
            for (int i = 0; i < bytes; i++) {
                palette[4 * i + 3] = stored.get(JAVA_BYTE, at + DATA_OFFSET + i);
            }
            return;
        }
        hasTransparent = true;
        for (int c = 0; c < bytes / 2; c++) {
            // Bits beyond the depth are ignored.
            long key = at + DATA_OFFSET + 2L * c;
            transparent[c] = (u8(key) << 8 | u8(key + 1)) & (1 << depth) - 1;
        }
    }

    /** Checks, before memory is allocated, whether the image's bytes can hold that many pixels. */
    private void checkSizeIsPossible(ImageHeader header) {
        long bits = (long) depth * header.layout.channels();
        long rowBytes = (header.width * bits + 7) / 8;
        long most = (pixelsEnd - pixelsOffset) * MAX_INFLATION;
        if (rowBytes > most / header.height) {
            throw new CodecException(pixelsOffset, "IDAT chunks of " + (pixelsEnd - pixelsOffset)
                    + " bytes", "more for " + header.width + "x" + header.height + " pixels");
        }
    }

    private long next(long at) {
        if (storedBytes - at < FRAMING_BYTES) {
            throw new CodecException(storedBytes, "the image ends before its IEND", "a chunk at byte " + at);
        }
        long bytes = length(at);
        if (bytes > storedBytes - at - FRAMING_BYTES) {
            throw new CodecException(storedBytes, "the image ends inside chunk " + shown(at) + " of byte " + at,
                    bytes + " bytes of it");
        }
        return at + FRAMING_BYTES + bytes;
    }

    private void checkSum(long at, long end) {
        crc.reset();
        for (long from = at + LETTERS_OFFSET; from < end - 4; from += block.length) {
            int length = (int) Math.min(block.length, end - 4 - from);
            MemorySegment.copy(stored, JAVA_BYTE, from, block, 0, length);
            crc.update(block, 0, length);
        }
        checkSum(at, end, crc);
    }

    /** Checks a chunk's checksum against that of its type and data. */
    void checkSum(long at, long end, CRC32 found) {
        int said = stored.get(U32, end - 4);
        if (said != (int) found.getValue()) {
            throw new CodecException(end - 4, String.format(Locale.ROOT, "CRC %08x of chunk %s", said, shown(at)),
                    String.format(Locale.ROOT, "%08x, that of its bytes", (int) found.getValue()));
        }
    }

    long length(long at) {
        return stored.get(U32, at) & 0xFFFF_FFFFL;
    }

    private int letters(long at) {
        return stored.get(U32, at + LETTERS_OFFSET);
    }

    private String shown(long at) {
        StringBuilder letters = new StringBuilder();
        for (int i = 0; i < 4; i++) {
            int letter = u8(at + LETTERS_OFFSET + i);
            letters.append(letter >= ' ' && letter < 127 ? (char) letter : '?');
        }
        return letters.toString();
    }

    private int u8(long at) {
        return stored.get(JAVA_BYTE, at) & 0xFF;
    }
}
