// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A sample in the buffer of a stream: the places of its members in the mapped shard, or a copy of their bytes if the
 * shard is compressed. Reused for one sample after another.
 */
final class StreamSample implements AutoCloseable {

    /** The most bytes of a sample of a compressed shard, which is in memory. */
    static final long MAX_COPY_BYTES = 1L << 30;
    private static final int CHUNK_BYTES = 1 << 16;

    /**
     * The origin of a sample.
     *
     * @param position the shard's position in the epoch's order
     * @param offset the sample's start in the tar
     */
    record Origin(Location shard, int position, long offset, String key) {
    }

    private @Nullable Origin origin;
    private @Nullable SharedTar tar;
    private int members;
    private int[] suffixes = new int[4];
    private long[] offsets = new long[4];
    private long[] sizes = new long[4];
    private boolean bad;
    private @Nullable Arena arena;
    private MemorySegment copy = MemorySegment.NULL;
    private long copied;
    private byte @Nullable [] chunk;

    /** Begins a sample without members. */
    void begin(Origin of, @Nullable SharedTar sharedTar) {
        release();
        origin = of;
        tar = sharedTar;
        if (sharedTar != null) {
            sharedTar.retain();
        }
        members = 0;
        copied = 0;
        bad = false;
    }

    /** Adds the current member of a scanner. */
    void add(SampleScanner scanner, TarReader reader, TarSource source) throws IOException {
        if (members == suffixes.length) {
            suffixes = Arrays.copyOf(suffixes, members * 2);
            offsets = Arrays.copyOf(offsets, members * 2);
            sizes = Arrays.copyOf(sizes, members * 2);
        }
        suffixes[members] = scanner.suffix();
        sizes[members] = reader.dataBytes();
        offsets[members] = tar != null ? checked(tar.file(), reader) : copy(reader, source);
        members++;
        bad |= scanner.saysBad();
    }

    private long checked(MappedFile file, TarReader reader) throws MalformedStoreException {
        if (reader.dataBytes() > file.byteSize() - reader.dataOffset()) {
            throw new MalformedStoreException(file.location(), file.byteSize(), "the tar ends inside the member '"
                    + reader.nameText() + "'", "whole members");
        }
        return reader.dataOffset();
    }

    private long copy(TarReader reader, TarSource source) throws IOException {
        long bytes = reader.dataBytes();
        if (bytes > MAX_COPY_BYTES - copied) {
            throw new MalformedStoreException(origin().shard, reader.entryOffset(), "a sample of more than "
                    + MAX_COPY_BYTES + " bytes in a compressed shard", "less, or plain shards");
        }
        if (chunk == null) {
            chunk = new byte[CHUNK_BYTES];
        }
        long at = copied;
        for (long left = bytes; left > 0;) {
            int read = source.read(chunk, 0, (int) Math.min(left, CHUNK_BYTES));
            if (read <= 0) {
                break; // the reader reports what is missing
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

    Origin origin() {
        return Objects.requireNonNull(origin);
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

    /** Releases the shard. */
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
