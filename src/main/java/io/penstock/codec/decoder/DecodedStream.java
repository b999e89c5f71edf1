// SPDX-License-Identifier: Apache-2.0
package io.penstock.codec.decoder;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/** Decodes a stream as it is read. */
abstract class DecodedStream extends InputStream {

    static final int BUFFER_BYTES = 128 << 10;

    private final InputStream packed;
    private final byte[] single = new byte[1];
    private boolean closed;

    DecodedStream(InputStream packed) {
        this.packed = packed;
    }

    /** Decodes 1 to {@code length} bytes, which is positive; returns -1 at the end. */
    abstract int decode(byte[] target, int offset, int length) throws IOException;

    @Override
    public final int read() throws IOException {
        return read(single, 0, 1) < 0 ? -1 : single[0] & 0xFF;
    }

    @Override
    public final int read(byte[] target, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, target.length);
        if (closed) {
            throw new IOException("the stream is closed");
        }
        return length == 0 ? 0 : decode(target, offset, length);
    }

    @Override
    public void close() throws IOException {
        closed = true;
        packed.close();
    }
}
