// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.LongConsumer;

/** Passes on at most a number of bytes, and reports how many were read. */
final class CountedStream extends FilterInputStream {

    private final LongConsumer count;
    private long left;

    CountedStream(InputStream in, long mostBytes, LongConsumer count) {
        super(in);
        this.left = mostBytes;
        this.count = count;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        int read = left == 0 && length > 0 ? -1 : super.read(into, offset, (int) Math.min(length, left));
        if (read > 0) {
            left -= read;
            count.accept(read);
        }
        return read;
    }
}
