// SPDX-License-Identifier: Apache-2.0
package io.penstock.codec.decoder;

import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import io.penstock.error.CodecException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** The only class that uses zstd-jni, apart from the {@link ZstdStream} that it creates. */
final class ZstdLibrary {

    static InputStream open(InputStream packed, long maxWindowBytes) throws IOException {
        return new ZstdStream(packed, maxWindowBytes);
    }

    static void decompress(MemorySegment source, MemorySegment target) {
        if (source.byteSize() > Integer.MAX_VALUE || target.byteSize() > Integer.MAX_VALUE) {
            throw new CodecException("zstd: a block of " + source.byteSize() + " bytes that decodes to "
                    + target.byteSize() + ", expected less than 2 GiB");
        }
        ByteBuffer from = source.asByteBuffer();
        ByteBuffer to = target.asByteBuffer();
        int decoded;
        try (ZstdDecompressCtx context = new ZstdDecompressCtx()) {
            decoded = context.decompressDirectByteBuffer(to, 0, to.capacity(), from, 0, from.capacity());
        } catch (ZstdException e) {
            throw new CodecException("zstd: " + e.getMessage());
        }
        if (decoded != to.capacity()) {
            throw new CodecException("zstd: the block decodes to " + decoded + " bytes, expected " + to.capacity());
        }
    }
}
