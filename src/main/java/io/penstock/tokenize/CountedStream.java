package io.penstock.tokenize;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** Counts the bytes read through it. */
final class CountedStream extends FilterInputStream {

    private final ByteCount count;

    CountedStream(InputStream in, ByteCount count) {
        super(in);
        this.count = count;
    }

    @Override
    public int read() throws IOException {
        int value = super.read();
        if (value >= 0) {
            count.add(1);
        }
        return value;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        int read = super.read(into, offset, length);
        if (read > 0) {
            count.add(read);
        }
        return read;
    }
}
