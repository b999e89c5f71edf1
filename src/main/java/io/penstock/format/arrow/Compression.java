package io.penstock.format.arrow;

import io.penstock.codec.Lz4;
import io.penstock.codec.Zstd;
import io.penstock.io.MalformedStoreException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** How the buffers of a batch are compressed, each by itself. */
enum Compression {
    /** Not at all. */
    NONE(1) {
        @Override
        void decode(MemorySegment source, MemorySegment target) {
            MemorySegment.copy(source, 0, target, 0, target.byteSize());
        }
    },
    /** LZ4's frame format: a byte of a match's length stands for up to 255 bytes. */
    LZ4(255) {
        @Override
        void decode(MemorySegment source, MemorySegment target) throws IOException {
            Lz4.decompress(source, target);
        }
    },
    /** Zstandard: a block of one byte repeated is 4 bytes and stands for up to 128 KiB. */
    ZSTD(1 << 15) {
        @Override
        void decode(MemorySegment source, MemorySegment target) throws IOException {
            Zstd.decompress(source, target);
        }
    };

    private final long maxRatio;

    Compression(long maxRatio) {
        this.maxRatio = maxRatio;
    }

    /** How many bytes one compressed byte may stand for. */
    long maxRatio() {
        return maxRatio;
    }

    /** Decodes a buffer into one of exactly its size; both are native memory. */
    abstract void decode(MemorySegment source, MemorySegment target) throws IOException;

    /** Reads what a batch says; null stands for no compression. */
    static Compression read(FlatTable table) throws MalformedStoreException {
        if (table == null) {
            return NONE;
        }
        if (table.u8(1, 0) != 0) {
            throw table.malformed("compression by method " + table.u8(1, 0), "0, each buffer by itself");
        }
        return switch (table.u8(0, 0)) {
            case 0 -> LZ4;
            case 1 -> ZSTD;
            default -> throw table.malformed("compression by codec " + table.u8(0, 0), "0 (lz4) or 1 (zstd)");
        };
    }
}
