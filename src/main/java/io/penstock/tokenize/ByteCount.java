package io.penstock.tokenize;

/** A running byte count. Not thread-safe. */
final class ByteCount {

    private long bytes;

    void add(long more) {
        bytes += more;
    }

    long get() {
        return bytes;
    }
}
