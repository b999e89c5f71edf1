package io.penstock.tokenize;

/** A running number of bytes, for one thread. */
final class ByteCount {

    private long bytes;

    void add(long more) {
        bytes += more;
    }

    long get() {
        return bytes;
    }
}
