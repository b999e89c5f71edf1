package io.penstock.codec;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;

/** Zstandard (RFC 8878), by the optional library zstd-jni. */
public final class Zstd {

    private static final String LIBRARY = "com.github.luben:zstd-jni";

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
     * Decodes frames one after another as they are read; skippable ones are left out.
     *
     * @param packed the frames, one at least; closed with the stream that is returned
     * @return what they decode to; throws a {@link CodecException} that names the byte where they are malformed or cut
     * @throws MissingLibraryException if zstd-jni is not there
     */
    public static InputStream open(InputStream packed) throws MissingLibraryException {
        try {
            return ZstdLibrary.open(packed);
        } catch (NoClassDefFoundError | UnsatisfiedLinkError e) {
            throw new MissingLibraryException("reading zstd", LIBRARY, e);
        }
    }
}
