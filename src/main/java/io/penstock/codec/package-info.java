/**
 * Decompression of blocks in native memory, as the formats of stores use it: zstd, gzip, LZ4, Snappy, LZF; and of
 * streams of zstd and gzip. {@link io.penstock.codec.DecodeLimit} bounds what a file decodes to.
 *
 * <p>Every decoder takes untrusted input: it writes within the target, reads within the source, and throws
 * {@link io.penstock.codec.CodecException} for anything that is not a whole block of the size that was told.
 */
@NullMarked
package io.penstock.codec;

import org.jspecify.annotations.NullMarked;
