// SPDX-License-Identifier: Apache-2.0
package io.penstock.codec.decoder;

import io.penstock.error.CodecException;
import io.penstock.io.DecodeLimit;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How a file, a page or a buffer is compressed. Files are plain, or by {@link #GZIP} or {@link #ZSTD}. */
public enum Compression {
    NONE(1, (source, target) -> target.copyFrom(source)),
    GZIP(Gzip.MAX_EXPANSION, Gzip::decompress),
    ZSTD(Zstd.MAX_EXPANSION, Zstd::decompress),
    SNAPPY(Snappy.MAX_EXPANSION, Snappy::decompress),
    /** Frames of blocks. */
    LZ4_FRAME(Lz4.MAX_EXPANSION, Lz4::decompress),
    /** A bare block. */
    LZ4_RAW(Lz4.MAX_EXPANSION, Lz4::decompressBlock),
    /** Hadoop's framing of blocks; some writers store a bare block. */
    LZ4_HADOOP(Lz4.MAX_EXPANSION, Compression::decompressHadoopOrBlock),
    LZO(0, null),
    BROTLI(0, null);

    /** The bytes of a file that {@link #of} looks at. */
    public static final int MAGIC_BYTES = 4;

    static final String GZIP_MAGIC = "\u001f\u008b\b";
    static final String ZSTD_MAGIC = "(\u00b5/\u00fd";

    @FunctionalInterface
    private interface Decoder {
        void decode(MemorySegment source, MemorySegment target) throws IOException;
    }

    private final long maxExpansion;
    private final @Nullable Decoder decoder;

    Compression(long maxExpansion, @Nullable Decoder decoder) {
        this.maxExpansion = maxExpansion;
        this.decoder = decoder;
    }

    public boolean isSupported() {
        return decoder != null;
    }

    /** Returns the most bytes that a compressed byte of a large block decodes to. */
    public long maxExpansion() {
        return maxExpansion;
    }

    /** Decodes a block into a segment of exactly its size, both in native memory. An error does not name the file. */
    public void decode(MemorySegment source, MemorySegment target) throws IOException {
        if (decoder == null) {
            throw new CodecException("pages compressed with " + this);
        }
        decoder.decode(source, target);
    }

    /**
     * Returns the compression of a file by its first bytes, or else by the ending of its name.
     *
     * @param head its first {@link #MAGIC_BYTES} or more, or all
     */
    public static Compression of(String name, byte[] head) {
        String start = new String(head, StandardCharsets.ISO_8859_1);
        String lower = name.toLowerCase(Locale.ROOT);
        boolean isSkippable = start.startsWith("*M\u0018", 1)
                && (start.charAt(0) & 0xF0) == 0x50;
        if (start.startsWith(ZSTD_MAGIC) || isSkippable) {
            return ZSTD;
        }
        return start.startsWith(GZIP_MAGIC) || lower.endsWith(".gz") ? GZIP
                : lower.endsWith(".zst") ? ZSTD : NONE;
    }

    /** Returns a name without the ending of this compression. */
    public String stem(String name) {
        String ending = this == GZIP ? ".gz" : this == ZSTD ? ".zst" : "";
        return name.toLowerCase(Locale.ROOT).endsWith(ending) ? name.substring(0, name.length() - ending.length())
                : name;
    }

    /**
     * Returns the unpacked bytes of a stream, within a limit. Closing it closes {@code packed}.
     *
     * @param file its path, for messages
     * @param storedBytes the packed file's size
     */
    public InputStream open(Object file, InputStream packed, long storedBytes, DecodeLimit limit)
            throws IOException {
        return switch (this) {
            case NONE -> packed;
            case GZIP -> limit.budget(file, storedBytes).count(Gzip.open(packed));
            case ZSTD -> limit.budget(file, storedBytes).count(Zstd.open(packed, limit));
            default -> throw new IllegalStateException("files are not compressed by " + this);
        };
    }

    private static void decompressHadoopOrBlock(MemorySegment source, MemorySegment target) {
        try {
            decompressHadoop(source, target);
        } catch (CodecException _) {
            Lz4.decompressBlock(source, target);
        }
    }

    /** Decodes blocks, each preceded by its decoded and its compressed size, both big-endian. */
    private static void decompressHadoop(MemorySegment source, MemorySegment target) {
        long in = 0;
        long out = 0;
        while (in < source.byteSize()) {
            if (source.byteSize() - in < 2 * Integer.BYTES) {
                throw new CodecException("lz4: the page ends within the head of a block");
            }
            int decoded = Integer.reverseBytes(source.get(LittleEndian.I32, in));
            int stored = Integer.reverseBytes(source.get(LittleEndian.I32, in + Integer.BYTES));
            in += 2 * Integer.BYTES;
            if (stored < 0 || decoded < 0 || stored > source.byteSize() - in || decoded > target.byteSize() - out) {
                throw new CodecException("lz4: a block of " + stored + " bytes that decodes to " + decoded);
            }
            Lz4.decompressBlock(source.asSlice(in, stored), target.asSlice(out, decoded));
            in += stored;
            out += decoded;
        }
        if (out != target.byteSize()) {
            throw new CodecException("lz4: the page decodes to " + out + " bytes, expected " + target.byteSize());
        }
    }
}
