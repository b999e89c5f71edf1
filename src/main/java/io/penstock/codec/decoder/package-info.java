// SPDX-License-Identifier: Apache-2.0
/**
 * Decompresses blocks in native memory: zstd, gzip, LZ4, Snappy and LZF; and streams of zstd and gzip.
 *
 * <p>Every decoder accepts untrusted input: it stays within source and target, and throws
 * {@link io.penstock.error.CodecException} for anything except a whole block of the expected size.
 */
@NullMarked
package io.penstock.codec.decoder;

import org.jspecify.annotations.NullMarked;
