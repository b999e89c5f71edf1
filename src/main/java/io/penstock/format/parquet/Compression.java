// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.codec.CodecException;
import io.penstock.codec.decoder.Gzip;
import io.penstock.codec.decoder.Lz4;
import io.penstock.codec.decoder.Snappy;
import io.penstock.codec.decoder.Zstd;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The compression of a column chunk's pages, in the order of the codes. */
enum Compression {
    UNCOMPRESSED(1, (source, target) -> target.copyFrom(source)),
    SNAPPY(Snappy.MAX_EXPANSION, Snappy::decompress),
    GZIP(Gzip.MAX_EXPANSION, Gzip::decompress),
    LZO(0, null),
    BROTLI(0, null),
    /** Hadoop's framing of blocks; some writers store a bare block. */
    LZ4_HADOOP(Lz4.MAX_EXPANSION, Compression::decompressHadoopOrBlock),
    ZSTD(Zstd.MAX_EXPANSION, Zstd::decompress),
    LZ4_RAW(Lz4.MAX_EXPANSION, Lz4::decompressBlock);

    @FunctionalInterface
    private interface Decoder {
        void decode(MemorySegment source, MemorySegment target) throws IOException;
    }

    /** Small blocks may expand to this size, whatever their ratio. */
    private static final long SMALL_BYTES = 128 << 10;

    private final long maxExpansion;
    private final @Nullable Decoder decoder;

    Compression(long maxExpansion, @Nullable Decoder decoder) {
        this.maxExpansion = maxExpansion;
        this.decoder = decoder;
    }

    boolean isSupported() {
        return maxExpansion > 0;
    }

    /** Returns the most that compressed bytes may decode to. */
    long maxDecodedBytes(long compressedBytes) {
        return this == UNCOMPRESSED ? compressedBytes : compressedBytes * maxExpansion + SMALL_BYTES;
    }

    /** Decodes a page into a segment of exactly its size, both in native memory. An error does not name the file. */
    void decompress(MemorySegment source, MemorySegment target) throws IOException {
        if (decoder == null) {
            throw new CodecException("pages compressed with " + this);
        }
        decoder.decode(source, target);
    }

    private static void decompressHadoopOrBlock(MemorySegment source, MemorySegment target) throws CodecException {
        try {
            decompressHadoop(source, target);
        } catch (CodecException _) {
            Lz4.decompressBlock(source, target);
        }
    }

    /** Decodes blocks, each preceded by its decoded and its compressed size, both big-endian. */
    private static void decompressHadoop(MemorySegment source, MemorySegment target) throws CodecException {
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
