// SPDX-License-Identifier: Apache-2.0
package io.penstock.codec.decoder;

import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import io.penstock.codec.CodecException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/**
 * Decodes zstd frames as they are read, ignoring skippable ones. The data must end at a frame's end: zstd-jni's own
 * stream neither locates a failure nor, in some places, detects that a later frame is truncated.
 */
final class ZstdStream extends DecodedStream {

    private final InputStream packed;
    private final byte[] chunk = new byte[BUFFER_BYTES];
    private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES).limit(0);
    private final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER_BYTES).limit(0);
    private final ZstdDecompressCtx context = new ZstdDecompressCtx();
    private long inStart;
    private long unpacked;
    private long frameStart;
    private boolean isWhole;
    private boolean isMore;

    ZstdStream(InputStream packed) {
        super(packed);
        this.packed = packed;
    }

    @Override
    int decode(byte[] target, int offset, int length) throws IOException {
        while (!out.hasRemaining()) {
            if (!isMore && !in.hasRemaining() && !fill()) {
                if (!isWhole) {
                    throw new CodecException("zstd: at byte " + inStart + ": the data is cut: it ends within the frame"
                            + " of byte " + frameStart + said());
                }
                return -1;
            }
            decodeSome();
        }
        int read = Math.min(length, out.remaining());
        out.get(target, offset, read);
        return read;
    }

    private void decodeSome() throws CodecException {
        if (isWhole) {
            frameStart = inStart + in.position();
        }
        int from = in.position();
        out.clear();
        try {
            isWhole = context.decompressDirectByteBufferStream(out, in);
        } catch (ZstdException e) {
            out.limit(0);
            throw new CodecException("zstd: at byte " + (inStart + from) + " to " + (inStart + in.limit() - 1)
                    + ", in the frame of byte " + frameStart + ": " + e.getMessage() + said());
        }
        // A full buffer may not hold all that the bytes so far decode to.
        isMore = !isWhole && !out.hasRemaining();
        unpacked += out.position();
        out.flip();
    }

    private boolean fill() throws IOException {
        inStart += in.limit();
        in.limit(0);
        int read = packed.read(chunk);
        if (read > 0) {
            in.clear().put(chunk, 0, read).flip();
        }
        return read > 0;
    }

    private String said() {
        return " (after " + unpacked + " unpacked bytes)";
    }

    @Override
    public void close() throws IOException {
        context.close();
        super.close();
    }
}
