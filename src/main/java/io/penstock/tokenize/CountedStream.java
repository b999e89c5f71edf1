// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.LongConsumer;

/** Passes on how many bytes are read through it. */
final class CountedStream extends FilterInputStream {

    private final LongConsumer count;

    CountedStream(InputStream in, LongConsumer count) {
        super(in);
        this.count = count;
    }

    @Override
    public int read() throws IOException {
        int value = super.read();
        if (value >= 0) {
            count.accept(1);
        }
        return value;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        int read = super.read(into, offset, length);
        if (read > 0) {
            count.accept(read);
        }
        return read;
    }
}
