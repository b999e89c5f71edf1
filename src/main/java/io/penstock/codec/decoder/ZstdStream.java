// SPDX-License-Identifier: Apache-2.0
package io.penstock.codec.decoder;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdDirectBufferDecompressingStreamNoFinalizer;
import com.github.luben.zstd.ZstdIOException;
import io.penstock.error.CodecException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Decodes zstd frames as they are read, ignoring skippable ones. The data must end at a frame's end: zstd-jni's own
 * stream neither locates a failure nor, in some places, detects that a later frame is truncated. So each of its reads
 * is one call of the library here, and what it makes of its input's end is decided here.
 */
final class ZstdStream extends DecodedStream {

    private static final int MIN_WINDOW_LOG = 10;
    private static final int MAX_WINDOW_LOG = 31;
    /** The longest header of a frame: RFC 8878, section 3.1.1.1. */
    private static final int HEADER_BYTES = 18;
    private static final int MAGIC = 0xFD2FB528;
    private static final int SKIPPABLE_MAGIC = 0x184D2A50;
    private static final int[] CONTENT_SIZE_BYTES = {0, 2, 4, 8};
    private static final int[] DICTIONARY_ID_BYTES = {0, 1, 2, 4};

    private final InputStream packed;
    private final int maxWindowLog;
    private final byte[] chunk = new byte[BUFFER_BYTES];
    /** The last bytes of the chunk before, then the chunk. */
    private final ByteBuffer in = ByteBuffer.allocateDirect(HEADER_BYTES + BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN)
            .position(HEADER_BYTES).limit(HEADER_BYTES);
    private final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER_BYTES).limit(0);
    private Frames frames;
    /** The offset of the byte at index 0 of {@link #in}. */
    private long inStart = -HEADER_BYTES;
    private long unpacked;
    private long frameStart;
    private boolean isWhole;

    /** The library's decoder. It ends with a frame that ends with its input. */
    private static final class Frames extends ZstdDirectBufferDecompressingStreamNoFinalizer {

        Frames(ByteBuffer in, int maxWindowLog) throws IOException {
            super(in);
            setLongMax(maxWindowLog);
        }
    }

    ZstdStream(InputStream packed, long maxWindowBytes) throws IOException {
        super(packed);
        this.packed = packed;
        this.maxWindowLog = Math.clamp(Long.SIZE - Long.numberOfLeadingZeros(maxWindowBytes - 1), MIN_WINDOW_LOG,
                MAX_WINDOW_LOG);
        this.frames = new Frames(in, maxWindowLog);
    }

    @Override
    int decode(byte[] target, int offset, int length) throws IOException {
        while (!out.hasRemaining()) {
            // A full buffer may not hold all that the bytes so far decode to.
            boolean isMore = !isWhole && out.limit() == out.capacity();
            if (!isMore && !in.hasRemaining() && !fill()) {
                if (!isWhole) {
                    throw new CodecException("zstd: at byte " + offset() + ": the data is cut: it ends within the frame"
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

    private void decodeSome() throws IOException {
        if (isWhole || isAtMagic()) {
            frameStart = offset();
        }
        if (!frames.hasRemaining()) {
            frames.close();
            frames = new Frames(in, maxWindowLog);
        }
        long from = offset();
        out.clear();
        try {
            frames.read(out);
        } catch (ZstdIOException e) {
            out.limit(0);
            if (e.getErrorCode() == Zstd.errFrameParameterWindowTooLarge()) {
                throw new CodecException("zstd: at byte " + frameStart + ": found a frame with a window of "
                        + window((int) (frameStart - inStart)) + " bytes, expected at most " + (1L << maxWindowLog)
                        + (maxWindowLog < MAX_WINDOW_LOG ? " (--max-window raises this limit)" : ""));
            }
            throw new CodecException("zstd: at byte " + from + " to " + (inStart + in.limit() - 1)
                    + ", in the frame of byte " + frameStart + ": " + e.getMessage() + said());
        }
        // With room left, it stops before the input's end only where a frame ends.
        isWhole = !frames.hasRemaining() || in.hasRemaining() && out.hasRemaining();
        unpacked += out.position();
        out.flip();
    }

    /** Tells whether a frame may begin here: a full buffer does not say whether one has ended. */
    private boolean isAtMagic() {
        return in.remaining() >= Integer.BYTES && (in.getInt(in.position()) == MAGIC
                || (in.getInt(in.position()) & ~0xF) == SKIPPABLE_MAGIC);
    }

    /** Returns the window that the header of a frame declares, in bytes. */
    private long window(int at) {
        int descriptor = in.get(at + Integer.BYTES) & 0xFF;
        boolean isSingleSegment = (descriptor & 0x20) != 0;
        int next = at + Integer.BYTES + 1;
        if (!isSingleSegment) {
            int window = in.get(next) & 0xFF;
            long base = 1L << MIN_WINDOW_LOG + (window >>> 3);
            return base + base / 8 * (window & 7);
        }
        int sizeAt = next + DICTIONARY_ID_BYTES[descriptor & 3];
        return switch (CONTENT_SIZE_BYTES[descriptor >>> 6]) {
            case 8 -> in.getLong(sizeAt);
            case 4 -> in.getInt(sizeAt) & 0xFFFFFFFFL;
            default -> 0;                                       // a small one is not too large
        };
    }

    /** The offset of the next byte to decode. */
    private long offset() {
        return inStart + in.position();
    }

    private boolean fill() throws IOException {
        int read = packed.read(chunk);
        if (read <= 0) {
            return false;
        }
        int kept = in.limit() - HEADER_BYTES;
        inStart += kept;
        for (int i = 0; i < HEADER_BYTES; i++) {
            in.put(i, in.get(kept + i));
        }
        in.limit(HEADER_BYTES + read).position(HEADER_BYTES).put(chunk, 0, read).position(HEADER_BYTES);
        return true;
    }

    private String said() {
        return " (after " + unpacked + " unpacked bytes)";
    }

    @Override
    public void close() throws IOException {
        frames.close();
        super.close();
    }
}
