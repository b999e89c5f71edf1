// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * The orientation in a PNG's text chunks, as Pillow reads it: ImageMagick and GraphicsMagick write Exif data as
 * hexadecimal digits, other programs XMP.
 *
 * <pre>
 *   tEXt   keyword, 0, the text
 *   zTXt   keyword, 0, u8 method 0, the text, compressed
 *   iTXt   keyword, 0, u8 whether compressed, u8 method 0, language, 0, translated keyword, 0, the text
 *
 *   Raw profile type exif   line break, "exif", line break, the number of bytes, line break, their hexadecimal digits
 * </pre>
 *
 * <p>Malformed text counts as none: annotations do not make an image unreadable.
 */
final class PngText {

    static final String EXIF = "Raw profile type exif";
    static final String XMP = "XML:com.adobe.xmp";

    /** Pillow's limit, too. */
    private static final int MAX_BYTES = 1 << 20;
    private static final int TEXT = PngHeader.name("tEXt");
    private static final int COMPRESSED = PngHeader.name("zTXt");
    private static final int INTERNATIONAL = PngHeader.name("iTXt");
    private static final int HEX_LINE = 3;
    private static final String EXIF_HEADER = "Exif\0\0";

    private PngText() {
    }

    static boolean isText(int letters) {
        return letters == TEXT || letters == COMPRESSED || letters == INTERNATIONAL;
    }

    /** Tells whether a chunk's data begins with a keyword. */
    static boolean hasKeyword(MemorySegment stored, long data, long bytes, String keyword) {
        if (bytes <= keyword.length() || stored.get(JAVA_BYTE, data + keyword.length()) != 0) {
            return false;
        }
        for (int i = 0; i < keyword.length(); i++) {
            if (stored.get(JAVA_BYTE, data + i) != keyword.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** Returns the orientation in the text behind a keyword; 0 if there is none. */
    static int orientation(int letters, MemorySegment stored, long data, long bytes, String keyword) {
        if (bytes > MAX_BYTES) {
            return 0;
        }
        int from = keyword.length() + 1;
        byte[] chunk = stored.asSlice(data, bytes).toArray(JAVA_BYTE);
        boolean isCompressed = letters == COMPRESSED;
        if (letters == INTERNATIONAL) {
            isCompressed = from < chunk.length && chunk[from] != 0;
            from = next(chunk, next(chunk, from + 2));
        } else if (letters == COMPRESSED) {
            from++;
        }
        byte[] text = from > chunk.length ? null : Arrays.copyOfRange(chunk, from, chunk.length);
        text = text != null && isCompressed ? inflated(text) : text;
        if (text == null) {
            return 0;
        }
        if (keyword.equals(XMP)) {
            return Orientation.ofXmp(MemorySegment.ofArray(text), 0, text.length);
        }
        byte[] exif = bytes(new String(text, StandardCharsets.ISO_8859_1));
        return Orientation.ofTiff(MemorySegment.ofArray(exif), 0, exif.length);
    }

    /** Returns the index behind the next 0. */
    private static int next(byte[] chunk, int from) {
        int at = from;
        while (at < chunk.length && chunk[at] != 0) {
            at++;
        }
        return at + 1;
    }

    private static byte @Nullable [] inflated(byte[] compressed) {
        byte[] text = new byte[MAX_BYTES];
        try (Inflater inflater = new Inflater()) {
            inflater.setInput(compressed);
            int length = inflater.inflate(text);
            return inflater.finished() ? Arrays.copyOf(text, length) : null;
        } catch (DataFormatException _) {
            return null;
        }
    }

    /** Returns the bytes that a raw profile's digits mean, without {@code Exif} before them; none if malformed. */
    private static byte[] bytes(String profile) {
        String[] lines = profile.split("\n", HEX_LINE + 1);
        String digits = lines.length <= HEX_LINE ? "" : lines[HEX_LINE].replaceAll("\\s", "");
        try {
            byte[] bytes = HexFormat.of().parseHex(digits);
            String text = new String(bytes, StandardCharsets.ISO_8859_1);
            int from = 0;
            while (text.startsWith(EXIF_HEADER, from)) {
                from += EXIF_HEADER.length();
            }
            return Arrays.copyOfRange(bytes, from, bytes.length);
        } catch (IllegalArgumentException _) {
            return new byte[0];
        }
    }
}
