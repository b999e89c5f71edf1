// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.CodecException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Locale;

/**
 * Reads the marker segments of a JPEG before its first scan (ITU-T T.81, Annex B), as far as decoding needs them:
 *
 * <pre>
 *   FF D8                     start of image
 *   FF xx  u16 length  ...    segments: APP0 "JFIF", APP1 "Exif" or XMP, APP14 "Adobe", tables, comments
 *   FF C0  u16 length  u8 precision  u16 height  u16 width  u8 n  n x (id, sampling, table)   frame, also C1, C2, ...
 *   FF DA                     start of scan: entropy-coded data follows
 * </pre>
 */
final class JpegHeader {

    /** The coding of a pixel's components, which libjpeg derives from the markers. */
    enum Coding { GRAY, RGB, YCBCR, CMYK, YCCK }

    private static final int SOF0 = 0xC0;
    private static final int DHT = 0xC4;
    private static final int JPG = 0xC8;
    private static final int DAC = 0xCC;
    private static final int SOF15 = 0xCF;
    private static final int SOI = 0xD8;
    private static final int EOI = 0xD9;
    private static final int SOS = 0xDA;
    private static final int APP0 = 0xE0;
    private static final int APP1 = 0xE1;
    private static final int APP14 = 0xEE;
    private static final int TEM = 0x01;
    private static final int RST0 = 0xD0;
    private static final int MAX_SCANS = 500;
    /** The coefficients that libjpeg-turbo's block smoothing looks at ({@code SAVED_COEFS} of {@code jdcoefct.h}). */
    private static final int GUESSED = 10;
    private static final int MISSING = -1;
    private static final int JFIF_BYTES = 14;
    private static final int ADOBE_TRANSFORM_OFFSET = 11;
    private static final int EXIF_HEADER_BYTES = 6;
    private static final String XMP = "http://ns.adobe.com/xap/1.0/\0";
    private static final int FRAME_BYTES = 6;
    private static final int COMPONENT_BYTES = 3;
    /** A block of 8 by 8 values takes at least one bit of entropy-coded data. */
    private static final long MAX_VALUES_PER_BYTE = 8 * 64;
    /** Arithmetic coding takes even less for uniform images. */
    private static final long MAX_ARITHMETIC_GAIN = 64;

    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    @SuppressWarnings("NullAway.Init")
    private MemorySegment stored;
    private long storedBytes;

    @SuppressWarnings("NullAway.Init")
    Coding coding;
    boolean progressive;
    boolean arithmetic;
    long scanOffset;
    private long xmpOffset;
    private long xmpBytes;
    private boolean jfif;
    private int adobe;
    private final int[] ids = new int[4];
    private int components;
    /** For each component and each of its first coefficients, the lower bits that no scan has had yet. */
    private final int[] missingBits = new int[4 * GUESSED];
    /** Values of all components in the square of one coarsest sample, and pixels in it. */
    private int squareValues;
    private int squarePixels;
    private boolean isUsuallySampled;

    /** Reads the segments up to the first scan. */
    void read(MemorySegment segment, long bytes, ImageHeader into) {
        stored = segment;
        storedBytes = bytes;
        jfif = false;
        adobe = -1;
        xmpBytes = 0;
        into.format = ImageFormat.JPEG;
        into.bits = 8;
        boolean frame = false;
        long at = 2;
        while (true) {
            at = markerAt(at);
            int marker = u8(at + 1);
            if (marker == SOS) {
                if (!frame) {
                    throw new CodecException(at, "a scan without a frame", "the frame's header before it");
                }
                scanOffset = at;
                coding = coding(into.layout.channels());
                checkSizeIsPossible(into);
                if (into.orientation == 0 && xmpBytes > 0) {
                    into.orientation = Orientation.ofXmp(stored, xmpOffset, xmpBytes);
                }
                return;
            }
            if (marker == EOI || marker == SOI || marker >= RST0 && marker < SOI || marker == TEM) {
                throw new CodecException(at, "marker FF" + hex(marker), "a segment's marker, or the start of a scan");
            }
            long body = at + 4;
            long length = body <= storedBytes ? u16(at + 2) : Long.MAX_VALUE;
            if (length < 2) {
                throw new CodecException(at + 2, "a segment of " + length + " bytes", "at least its length's 2");
            }
            if (length > storedBytes - at - 2) {
                throw new CodecException(storedBytes, "the image ends inside segment FF" + hex(marker) + " of byte "
                        + at, "all of it, and a scan");
            }
            segment(marker, at, body, length - 2, frame, into);
            frame |= isFrame(marker);
            at += 2 + length;
        }
    }

    /** Returns the first byte of the required marker, after optional fill bytes. */
    private long markerAt(long at) {
        long last = skipFill(at);
        if (last + 1 >= storedBytes) {
            throw new CodecException(storedBytes, "the image ends before its first scan", "a marker");
        }
        if (u8(last) != 0xFF || u8(last + 1) == 0) {
            throw new CodecException(last, "bytes " + hex(u8(last)) + hex(u8(last + 1)), "a marker");
        }
        return last;
    }

    private long skipFill(long at) {
        long last = at;
        while (last + 1 < storedBytes && u8(last) == 0xFF && u8(last + 1) == 0xFF) {
            last++;
        }
        return last;
    }

    private static boolean isFrame(int marker) {
        return marker >= SOF0 && marker <= SOF15 && marker != DHT && marker != JPG && marker != DAC;
    }

    private void segment(int marker, long at, long body, long bytes, boolean frame, ImageHeader into) {
        if (marker == APP0 && bytes >= JFIF_BYTES && starts(body, bytes, "JFIF\0")) {
            jfif = true;
        } else if (marker == APP1 && into.orientation == 0 && starts(body, bytes, "Exif\0")
                && bytes > EXIF_HEADER_BYTES) {
            into.orientation = Orientation.ofTiff(stored, body + EXIF_HEADER_BYTES, bytes - EXIF_HEADER_BYTES);
        } else if (marker == APP1 && starts(body, bytes, XMP)) {
            xmpOffset = body + XMP.length();
            xmpBytes = bytes - XMP.length();
        } else if (marker == APP14 && starts(body, bytes, "Adobe") && bytes > ADOBE_TRANSFORM_OFFSET) {
            adobe = u8(body + ADOBE_TRANSFORM_OFFSET);
        } else if (isFrame(marker)) {
            if (frame) {
                throw new CodecException(at, "a second frame", "one (hierarchical JPEG is not supported)");
            }
            frame(marker, at, body, bytes, into);
        }
    }

    private void frame(int marker, long at, long body, long bytes, ImageHeader into) {
        int process = marker - SOF0;
        progressive = (process & 3) == 2;
        arithmetic = process >= 8;
        if ((process & 7) > 2) {
            throw new CodecException(at, "frame FF" + hex(marker) + ((process & 3) == 3
                    ? ", lossless JPEG" : ", hierarchical JPEG"), "a baseline, extended or progressive one");
        }
        if (bytes < FRAME_BYTES) {
            throw new CodecException(at, "a frame's header of " + bytes + " bytes", "at least " + FRAME_BYTES);
        }
        int precision = u8(body);
        if (precision != 8) {
            throw new CodecException(body, precision + " bits a sample", "8");
        }
        into.height = u16(body + 1);
        into.width = u16(body + 3);
        if (into.height == 0 || into.width == 0) {
            throw new CodecException(body + 1, "an image of " + into.width + "x" + into.height + " pixels",
                    "1 to 65535 each way (a height after the scan is not supported)");
        }
        components = u8(body + 5);
        into.layout = switch (components) {
            case 1 -> PixelLayout.GRAY;
            case 3 -> PixelLayout.RGB;
            case 4 -> PixelLayout.CMYK;
            default -> throw new CodecException(body + 5, components + " components", "1, 3 or 4");
        };
        if (bytes < FRAME_BYTES + COMPONENT_BYTES * components) {
            throw new CodecException(at, "a frame's header of " + bytes + " bytes for " + components + " components",
                    "" + (FRAME_BYTES + COMPONENT_BYTES * components));
        }
        int mostAcross = 0;
        int mostDown = 0;
        squareValues = 0;
        isUsuallySampled = true;
        for (int c = 0; c < components; c++) {
            long component = body + FRAME_BYTES + (long) c * COMPONENT_BYTES;
            ids[c] = u8(component);
            int across = u8(component + 1) >> 4;
            int down = u8(component + 1) & 15;
            if (across < 1 || across > 4 || down < 1 || down > 4) {
                throw new CodecException(component + 1, "a sampling factor of " + across + "x" + down, "1 to 4");
            }
            mostAcross = Math.max(mostAcross, across);
            mostDown = Math.max(mostDown, down);
            squareValues += across * down;
            isUsuallySampled &= c == 0 && components > 1 ? across * down <= 4 && across != 3 && down < 3
                    : across == 1 && down == 1;
        }
        squarePixels = mostAcross * mostDown;
    }

    /** Returns the coding of three or four components, by the rules of libjpeg's {@code default_decompress_parms}. */
    private Coding coding(int components) {
        if (components == 1) {
            return Coding.GRAY;
        }
        if (components == 4) {
            return adobe > 0 ? Coding.YCCK : Coding.CMYK;
        }
        if (jfif) {
            return Coding.YCBCR;
        }
        if (adobe >= 0) {
            return adobe == 0 ? Coding.RGB : Coding.YCBCR;
        }
        return ids[0] == 'R' && ids[1] == 'G' && ids[2] == 'B' ? Coding.RGB : Coding.YCBCR;
    }

    /** Checks, before memory is allocated, whether the image's bytes can hold that many pixels. */
    private void checkSizeIsPossible(ImageHeader header) {
        long pixels = (long) header.width * header.height;
        long values = (storedBytes - scanOffset) * MAX_VALUES_PER_BYTE * (arithmetic ? MAX_ARITHMETIC_GAIN : 1);
        long most = values / squareValues * squarePixels;
        if (pixels > most) {
            throw new CodecException(storedBytes, "the image ends after " + (storedBytes - scanOffset)
                    + " bytes from its first scan on", "more for " + header.width + "x" + header.height + " pixels");
        }
    }

    /** Tells whether the image is gray or YCbCr, Huffman-coded, with chroma of half, a quarter or all samples. */
    boolean isUsual() {
        return !arithmetic && (coding == Coding.GRAY || coding == Coding.YCBCR) && isUsuallySampled;
    }

    /** Tells whether a file ends with the end marker. One that is cut does not: decoded as a whole, it is refused. */
    static boolean hasEnd(MemorySegment file, long fileBytes) {
        return file.get(JAVA_BYTE, fileBytes - 2) == (byte) 0xFF && file.get(JAVA_BYTE, fileBytes - 1) == (byte) EOI;
    }

    /**
     * Limits the scans of a progressive image, because each costs as much as a whole image; and checks that none is
     * missing that has some of the first coefficients: libjpeg would guess these, each version in another way.
     */
    void checkScans() {
        if (!progressive) {
            return;
        }
        Arrays.fill(missingBits, MISSING);
        int scans = 0;
        long end = storedBytes - 1;
        for (long at = scanOffset; at < end; at++) {
            if (stored.get(JAVA_BYTE, at) != -1) {
                continue;
            }
            int marker = u8(at + 1);
            if (marker == SOS) {
                if (++scans > MAX_SCANS) {
                    throw new CodecException(at, "more than " + MAX_SCANS + " scans", "at most that");
                }
                scan(at + 4);
            } else if (marker == EOI) {
                end = at;
            }
        }
        for (int i = 0; i < components * GUESSED; i++) {
            // The first coefficient of a component, without which nothing is guessed, is not among them.
            if (i % GUESSED != 0 && missingBits[i] != 0) {
                throw new CodecException(end, "the image ends after " + scans + " scans", "those with coefficient "
                        + i % GUESSED + " of component " + (i / GUESSED + 1) + (missingBits[i] == MISSING ? ""
                        : ", of which " + missingBits[i] + " bits are missing"));
            }
        }
    }

    /** Tells whether an end marker follows the first scan, at any distance. */
    boolean hasEndAfterScan() {
        for (long at = storedBytes - 2; at > scanOffset; at--) {
            if (stored.get(JAVA_BYTE, at) == -1 && u8(at + 1) == EOI) {
                return true;
            }
        }
        return false;
    }

    /** Notes which bits of the first coefficients a scan leaves out: the body of its header is at an offset. */
    private void scan(long body) {
        int count = body < storedBytes ? u8(body) : 0;
        long spectrum = body + 1 + 2L * count;
        if (spectrum + 2 >= storedBytes) {
            return;
        }
        for (int k = 0; k < count; k++) {
            int component = 0;
            while (component < components && ids[component] != u8(body + 1 + 2L * k)) {
                component++;
            }
            for (int c = u8(spectrum); component < components && c <= u8(spectrum + 1) && c < GUESSED; c++) {
                missingBits[component * GUESSED + c] = u8(spectrum + 2) & 15;
            }
        }
    }

    /** Tells whether decoding needs a segment: tables, frames, and those that determine the coding. */
    static boolean isNeeded(int marker) {
        return marker < APP0 || marker == APP14;
    }

    /**
     * Copies the image without the segments before its first scan that decoding does not need: profiles, thumbnails,
     * comments. Returns the number of bytes written.
     */
    int copyNeeded(byte[] target) {
        int to = copy(0, 2, target, 0);
        long at = skipFill(2);
        while (at < scanOffset) {
            long end = at + 2 + u16(at + 2);
            if (isNeeded(u8(at + 1))) {
                to = copy(at, end - at, target, to);
            }
            at = skipFill(end);
        }
        return copy(scanOffset, storedBytes - scanOffset, target, to);
    }

    private int copy(long from, long bytes, byte[] target, int to) {
        MemorySegment.copy(stored, JAVA_BYTE, from, target, to, (int) bytes);
        return to + (int) bytes;
    }

    private boolean starts(long at, long bytes, String latin1) {
        if (bytes < latin1.length()) {
            return false;
        }
        for (int i = 0; i < latin1.length(); i++) {
            if (u8(at + i) != latin1.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    private int u8(long at) {
        return stored.get(JAVA_BYTE, at) & 0xFF;
    }

    private int u16(long at) {
        return stored.get(U16, at) & 0xFFFF;
    }

    private static String hex(int value) {
        return String.format(Locale.ROOT, "%02X", value);
    }
}
