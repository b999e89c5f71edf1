package io.penstock.format.webdataset;

import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.Span;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * A sample in the buffer of a stream: where its members are in the mapped shard, or, of a compressed one, a copy of
 * their bytes. It is used for one sample after another.
 */
final class StreamSample implements AutoCloseable {

    /** What a sample of a compressed shard may have: it is kept in memory. */
    static final long MAX_COPY_BYTES = 1L << 30;
    private static final int CHUNK_BYTES = 1 << 16;

    private int position;
    private long entryOffset;
    private String key;
    private Location path;
    private SharedTar tar;
    private int members;
    private int[] suffixes = new int[4];
    private long[] offsets = new long[4];
    private long[] sizes = new long[4];
    private boolean bad;

    private Arena arena;
    private MemorySegment copy = MemorySegment.NULL;
    private long copied;
    private byte[] chunk;

    void begin(int shardPosition, long offset, String sampleKey, Location shard, SharedTar sharedTar) {
        release();
        position = shardPosition;
        entryOffset = offset;
        key = sampleKey;
        path = shard;
        tar = sharedTar;
        if (tar != null) {
            tar.retain();
        }
        members = 0;
        copied = 0;
        bad = false;
    }

    /** Takes in the member that a scanner is at. */
    void add(SampleScanner scanner, TarReader reader, TarSource source) throws IOException {
        if (members == suffixes.length) {
            suffixes = Arrays.copyOf(suffixes, members * 2);
            offsets = Arrays.copyOf(offsets, members * 2);
            sizes = Arrays.copyOf(sizes, members * 2);
        }
        suffixes[members] = scanner.suffix();
        sizes[members] = reader.dataBytes();
        offsets[members] = tar != null ? checked(reader) : copy(reader, source);
        members++;
        bad |= scanner.saysBad();
    }

    private long checked(TarReader reader) throws MalformedStoreException {
        if (reader.dataBytes() > tar.file().byteSize() - reader.dataOffset()) {
            throw new MalformedStoreException(path, tar.file().byteSize(), "the tar ends inside the member '"
                    + reader.nameText() + "'", "whole members");
        }
        return reader.dataOffset();
    }

    private long copy(TarReader reader, TarSource source) throws IOException {
        long bytes = reader.dataBytes();
        if (bytes > MAX_COPY_BYTES - copied) {
            throw new MalformedStoreException(path, reader.entryOffset(), "a sample of more than " + MAX_COPY_BYTES
                    + " bytes in a compressed shard", "less, or plain shards");
        }
        if (chunk == null) {
            chunk = new byte[CHUNK_BYTES];
        }
        long at = copied;
        for (long left = bytes; left > 0;) {
            int read = source.read(chunk, 0, (int) Math.min(left, CHUNK_BYTES));
            if (read <= 0) {
                break; // the reader says what is missing when it goes on
            }
            reserve(copied + read);
            MemorySegment.copy(chunk, 0, copy, ValueLayout.JAVA_BYTE, copied, read);
            copied += read;
            left -= read;
        }
        copied = at + bytes;
        return at;
    }

    private void reserve(long bytes) {
        if (bytes > copy.byteSize()) {
            Arena larger = Arena.ofShared();
            MemorySegment moved = larger.allocate(Math.max(CHUNK_BYTES, Long.highestOneBit(bytes - 1) * 2), 8);
            MemorySegment.copy(copy, 0, moved, 0, Math.min(copied, copy.byteSize()));
            if (arena != null) {
                arena.close();
            }
            arena = larger;
            copy = moved;
        }
    }

    /** The shard's position in the epoch's order. */
    int position() {
        return position;
    }

    /** Where the sample begins in the tar. */
    long entryOffset() {
        return entryOffset;
    }

    String key() {
        return key;
    }

    Location path() {
        return path;
    }

    int members() {
        return members;
    }

    int suffix(int member) {
        return suffixes[member];
    }

    boolean isBad() {
        return bad;
    }

    void locate(int member, Span into) {
        if (tar != null) {
            into.set(tar.file(), offsets[member], sizes[member]);
        } else {
            into.set(copy, sizes[member] == 0 ? 0 : offsets[member], sizes[member]);
        }
    }

    /** Gives up the shard. */
    void release() {
        if (tar != null) {
            tar.release();
            tar = null;
        }
    }

    @Override
    public void close() {
        release();
        if (arena != null) {
            arena.close();
            arena = null;
            copy = MemorySegment.NULL;
        }
    }
}
