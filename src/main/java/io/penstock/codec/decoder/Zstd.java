// SPDX-License-Identifier: Apache-2.0
package io.penstock.codec.decoder;

import io.penstock.codec.CodecException;
import io.penstock.codec.MissingLibraryException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;

/** Decodes Zstandard (RFC 8878) with the optional library zstd-jni. */
public final class Zstd {

    private static final String LIBRARY = "com.github.luben:zstd-jni";

    private Zstd() {
    }

    /**
     * Decodes one or more whole frames.
     *
     * @param source the frames, with nothing after them; native memory, but not a file mapping, which might shrink
     * @param target the native memory to write, of exactly the decoded size
     * @throws MissingLibraryException if zstd-jni is missing
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
     * Decodes consecutive frames as they are read, ignoring skippable ones.
     *
     * @param packed at least one frame; closed with the returned stream
     * @return the decoded bytes; throws a {@link CodecException} that names the byte where a frame is malformed or
     *     truncated
     * @throws MissingLibraryException if zstd-jni is missing
     */
    public static InputStream open(InputStream packed) throws MissingLibraryException {
        try {
            return ZstdLibrary.open(packed);
        } catch (NoClassDefFoundError | UnsatisfiedLinkError e) {
            throw new MissingLibraryException("reading zstd", LIBRARY, e);
        }
    }
}
