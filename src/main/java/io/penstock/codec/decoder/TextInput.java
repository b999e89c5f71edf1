// SPDX-License-Identifier: Apache-2.0
package io.penstock.codec.decoder;

import io.penstock.error.CodecException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** How text begins, for the tokenizer and streams. */
public final class TextInput {

    /** The first bytes in which {@link #start} looks for zeros. */
    private static final int HEAD_BYTES = 4096;
    /** Text has none; UTF-16 has one for every letter of ASCII. */
    private static final int BYTES_PER_ZERO = 8;

    /** What begins with given bytes, one a Latin-1 character, that is taken for text by its name or the user. */
    private record Magic(String bytes, String name) {
    }

    private static final List<Magic> NO_TEXT = List.of(new Magic(Compression.GZIP_MAGIC, "gzip data"),
            new Magic(Compression.ZSTD_MAGIC, "zstd data"),
            new Magic("\u00fd7zXZ\0", "xz data"), new Magic("BZh", "bzip2 data"),
            new Magic("\u0004\"M\u0018", "LZ4 data"), new Magic("\u0002!L\u0018", "LZ4 data"),
            new Magic("\u00ff\u0006\0\0sNaPpY", "Snappy data"), new Magic("LZIP\u0001", "lzip data"),
            new Magic("\u001f\u009d", "data of compress"), new Magic("]\0\0", "LZMA data"),
            new Magic("PK\u0003\u0004", "a ZIP archive"), new Magic("7z\u00bc\u00af'\u001c", "a 7z archive"),
            new Magic("Rar!\u001a\u0007", "a RAR archive"), new Magic("%PDF-", "a PDF"),
            new Magic("PAR1\u0015", "a Parquet file"), new Magic("ARROW1\0\0", "an Arrow file"));

    /** A compressed bzip2 block, or the end of an empty file, follows four bytes that text may begin with. */
    private static final List<String> BZIP2_BLOCKS = List.of("1AY&SY", "\u0017rE8P\u0090");

    private TextInput() {
    }

    /**
     * Looks at the start of unpacked text: returns the number of bytes of a byte order mark, which is no text; 0 if
     * there is none.
     *
     * @param bytes the file's first bytes are {@code from} to {@code end}
     * @throws CodecException if they are not of UTF-8, but of another encoding, compressed or of a known format
     */
    public static int start(byte[] bytes, int from, int end) {
        String head = new String(bytes, from, Math.min(HEAD_BYTES, end - from), StandardCharsets.ISO_8859_1);
        if (head.startsWith("\u00ef\u00bb\u00bf")) {
            return 3;
        }
        for (Magic magic : NO_TEXT) {
            if (head.startsWith(magic.bytes) && (!magic.bytes.equals("BZh") || isBzip2(head))) {
                throw new CodecException("at byte 0: found " + magic.name + ", expected text in UTF-8, plain or packed"
                        + " by gzip or zstd");
            }
        }
        String encoding = head.startsWith("\u00ff\u00fe\0\0") || head.startsWith("\0\0\u00fe\u00ff") ? "UTF-32"
                : head.startsWith("\u00ff\u00fe") || head.startsWith("\u00fe\u00ff") ? "UTF-16" : "";
        if (!encoding.isEmpty()) {
            throw new CodecException("at byte 0: found text in " + encoding + ", expected UTF-8; convert it with 'iconv"
                    + " -f " + encoding + " -t UTF-8'");
        }
        long zeros = head.chars().filter(value -> value == 0).count();
        if (zeros > 1 && zeros * BYTES_PER_ZERO >= head.length()) {
            throw new CodecException("at byte " + head.indexOf(0) + ": found " + zeros + " zeros in the first "
                    + head.length() + " bytes, expected text in UTF-8 (is this UTF-16, or no text?)");
        }
        return 0;
    }

    private static boolean isBzip2(String head) {
        return BZIP2_BLOCKS.stream().anyMatch(block -> head.startsWith(block, Compression.MAGIC_BYTES));
    }
}
