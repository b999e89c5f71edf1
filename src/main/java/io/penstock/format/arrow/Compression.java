// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.codec.decoder.Lz4;
import io.penstock.codec.decoder.Zstd;
import io.penstock.io.MalformedStoreException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The compression of a batch's buffers, each by itself. */
enum Compression {
    NONE(1, (source, target) -> MemorySegment.copy(source, 0, target, 0, target.byteSize())),
    LZ4(Lz4.MAX_EXPANSION, Lz4::decompress),
    ZSTD(Zstd.MAX_EXPANSION, Zstd::decompress);

    @FunctionalInterface
    private interface Decoder {
        void decode(MemorySegment source, MemorySegment target) throws IOException;
    }

    private final long maxRatio;
    private final Decoder decoder;

    Compression(long maxRatio, Decoder decoder) {
        this.maxRatio = maxRatio;
        this.decoder = decoder;
    }

    /** Returns the most bytes that a compressed byte decodes to. */
    long maxRatio() {
        return maxRatio;
    }

    /** Decodes a buffer into one of exactly its size; both in native memory. */
    void decode(MemorySegment source, MemorySegment target) throws IOException {
        decoder.decode(source, target);
    }

    /** Reads the compression of a batch; a null table means none. */
    static Compression read(@Nullable FlatTable table) throws MalformedStoreException {
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
