package io.penstock.codec;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;

/** Zstandard (RFC 8878), by the optional library zstd-jni. */
public final class Zstd {

    private static final String LIBRARY = "com.github.luben:zstd-jni";
    private static final int STREAM_BUFFER_BYTES = 128 << 10;

    private Zstd() {
    }

    /**
     * Decodes one or more whole frames.
     *
     * @param source the frames, and nothing behind them; native memory that is no mapping of a file, which might shrink
     * @param target what they decode to: exactly as many bytes; native memory
     * @throws MissingLibraryException if zstd-jni is not there
     * @throws CodecException if the frames are malformed, or decode to another number of bytes
     */
    public static void decompress(MemorySegment source, MemorySegment target) throws IOException {
        try {
            ZstdLibrary.decompress(source, target);
        } catch (NoClassDefFoundError | UnsatisfiedLinkError e) {
            throw new MissingLibraryException("reading zstd", LIBRARY, e);
        }
    }

    /**
     * Decodes frames one after another as they are read.
     *
     * @param packed the frames
     * @return what they decode to; throws an {@link IOException} where they are malformed or cut
     * @throws MissingLibraryException if zstd-jni is not there
     * @throws IOException if the stream cannot be read
     */
    public static InputStream open(InputStream packed) throws IOException {
        try {
            return ZstdLibrary.open(new BufferedInputStream(packed, STREAM_BUFFER_BYTES));
        } catch (NoClassDefFoundError | UnsatisfiedLinkError e) {
            throw new MissingLibraryException("reading zstd", LIBRARY, e);
        }
    }
}
