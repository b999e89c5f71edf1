package io.penstock.store.parquet;

import io.penstock.codec.CodecException;
import io.penstock.codec.Lz4;
import io.penstock.codec.Snappy;
import io.penstock.codec.Zstd;
import io.penstock.store.mapped.LittleEndian;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/** How a column chunk's pages are compressed, in the order of the codes. */
enum Compression {
    UNCOMPRESSED(1) {
        @Override
        void decompress(MemorySegment source, MemorySegment target) {
            target.copyFrom(source);
        }
    },
    SNAPPY(Snappy.MAX_EXPANSION) {
        @Override
        void decompress(MemorySegment source, MemorySegment target) throws IOException {
            Snappy.decompress(source, target);
        }
    },
    GZIP(1032) {
        @Override
        void decompress(MemorySegment source, MemorySegment target) throws IOException {
            gunzip(source.asByteBuffer(), target.asByteBuffer());
        }
    },
    LZO(0),
    BROTLI(0),
    /** Hadoop's framing of blocks; some writers put a bare block there. */
    LZ4_HADOOP(255) {
        @Override
        void decompress(MemorySegment source, MemorySegment target) throws IOException {
            try {
                decompressHadoop(source, target);
            } catch (CodecException _) {
                Lz4.decompressBlock(source, target);
            }
        }
    },
    /** A block of 128 KiB of one byte takes 4. */
    ZSTD(32 << 10) {
        @Override
        void decompress(MemorySegment source, MemorySegment target) throws IOException {
            Zstd.decompress(source, target);
        }
    },
    LZ4_RAW(255) {
        @Override
        void decompress(MemorySegment source, MemorySegment target) throws IOException {
            Lz4.decompressBlock(source, target);
        }
    };

    /** What small blocks may expand to, whatever their size: a bound on ratios does not hold for them. */
    private static final long SMALL_BYTES = 128 << 10;
    private static final int GZIP_HEAD_BYTES = 10;

    private final long maxExpansion;

    Compression(long maxExpansion) {
        this.maxExpansion = maxExpansion;
    }

    /** Whether pages so compressed can be read. */
    boolean isSupported() {
        return maxExpansion > 0;
    }

    /** The most that so many bytes may decode to. */
    long maxDecodedBytes(long compressedBytes) {
        return this == UNCOMPRESSED ? compressedBytes : compressedBytes * maxExpansion + SMALL_BYTES;
    }

    /**
     * Decodes a page.
     *
     * @param source its bytes; native memory
     * @param target exactly as large as it decodes to; native memory
     * @throws IOException if it is malformed; does not name the file
     */
    void decompress(MemorySegment source, MemorySegment target) throws IOException {
        throw new CodecException("pages compressed with " + this);
    }

    /** Runs of a block each, behind the sizes of what it decodes to and of itself, both big-endian. */
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

    /** Members of gzip one behind the other, each with the CRC-32 and the size of what it decodes to behind it. */
    private static void gunzip(ByteBuffer source, ByteBuffer target) throws CodecException {
        Inflater inflater = new Inflater(true);
        try {
            while (target.hasRemaining()) {
                skipGzipHead(source);
                int start = target.position();
                inflater.reset();
                inflater.setInput(source);
                while (!inflater.finished()) {
                    if (inflater.inflate(target) == 0 && !inflater.finished()) {
                        throw new CodecException(target.hasRemaining() ? "gzip: the page ends within its data"
                                : "gzip: the page decodes to more than " + target.capacity() + " bytes");
                    }
                }
                CRC32 crc = new CRC32();
                crc.update(target.slice(start, target.position() - start));
                if (source.remaining() < 2 * Integer.BYTES
                        || source.order(ByteOrder.LITTLE_ENDIAN).getInt() != (int) crc.getValue()
                        || source.getInt() != target.position() - start) {
                    throw new CodecException("gzip: the page's checksum is another");
                }
            }
        } catch (DataFormatException e) {
            throw new CodecException("gzip: " + e.getMessage());
        } finally {
            inflater.end();
        }
    }

    /** The head as RFC 1952 has it: magic, method, flags, time, what else the flags say. */
    private static void skipGzipHead(ByteBuffer source) throws CodecException {
        int at = source.position();
        if (source.remaining() < GZIP_HEAD_BYTES || source.get(at) != 0x1F || source.get(at + 1) != (byte) 0x8B
                || source.get(at + 2) != 8) {
            throw new CodecException("gzip: no member of gzip at byte " + at + " of the page");
        }
        int flags = source.get(at + 3);
        at += GZIP_HEAD_BYTES;
        if ((flags & 4) != 0) {
            at += 2 + (byteAt(source, at) | byteAt(source, at + 1) << 8);
        }
        for (int text = 8; text <= 16; text <<= 1) {
            if ((flags & text) != 0) {
                while (byteAt(source, at++) != 0) {
                    continue;
                }
            }
        }
        if ((flags & 2) != 0) {
            at += 2;
        }
        if (at > source.limit()) {
            throw new CodecException("gzip: the page ends within its head");
        }
        source.position(at);
    }

    private static int byteAt(ByteBuffer source, int at) throws CodecException {
        if (at >= source.limit()) {
            throw new CodecException("gzip: the page ends within its head");
        }
        return source.get(at) & 0xFF;
    }
}
