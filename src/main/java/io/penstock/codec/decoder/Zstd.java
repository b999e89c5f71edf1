// SPDX-License-Identifier: Apache-2.0
package io.penstock.codec.decoder;

import io.penstock.error.CodecException;
import io.penstock.error.LibraryException;
import io.penstock.io.DecodeLimit;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;

/** Decodes Zstandard (RFC 8878) with the optional library zstd-jni. */
public final class Zstd {

    /** The greatest expansion: a repeated byte takes 4 bytes for up to 128 KiB. */
    public static final int MAX_EXPANSION = 32 << 10;

    private static final String LIBRARY = "com.github.luben:zstd-jni";

    /**
     * Decodes one or more whole frames to exactly the target's size. Both are native memory, but not a file mapping,
     * which might shrink. Throws {@link LibraryException} if zstd-jni is missing.
     */
    public static void decompress(MemorySegment source, MemorySegment target) throws IOException {
        try {
            ZstdLibrary.decompress(source, target);
        } catch (NoClassDefFoundError | UnsatisfiedLinkError e) {
            throw LibraryException.missing("reading zstd", LIBRARY, e);
        }
    }

    /**
     * Decodes consecutive frames as they are read, ignoring skippable ones; closing the stream closes {@code packed}. A
     * {@link CodecException} names the byte where a frame is malformed or truncated. Throws {@link
     * LibraryException} if zstd-jni is missing.
     *
     * @param limit its {@link DecodeLimit#maxWindowBytes}; the window of a frame is in memory while it is decoded
     */
    public static InputStream open(InputStream packed, DecodeLimit limit) throws IOException {
        try {
            return ZstdLibrary.open(packed, limit.maxWindowBytes());
        } catch (NoClassDefFoundError | UnsatisfiedLinkError e) {
            throw LibraryException.missing("reading zstd", LIBRARY, e);
        }
    }
}
