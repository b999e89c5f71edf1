// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.io.FileSource;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.os.Uninterrupted;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.SeekableByteChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalInt;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/**
 * Opens the tars of one partition of a {@link WebDatasetSource}, one after the other. The next tars of a server are
 * opened, and fetched, before the one before them ends. For one thread.
 */
final class PartitionTars implements AutoCloseable {

    /** Bytes that are fetched ahead, over all partitions. */
    private static final long AHEAD_BYTES = 128 << 20;
    /** Tars that are opened ahead, however small they are. */
    private static final int AHEAD_TARS = 16;
    /** Between two looks at what is to be fetched ahead. */
    private static final long STEP_BYTES = 1 << 19;

    private final WebDatasetSource source;
    private final int partition;
    /** The tars behind the one that is being read. */
    private final Deque<Opening> next = new ArrayDeque<>();
    /** Of the tar that is being read: its place, its size, and how much of it was read at the last look. */
    private long place;
    private long byteSize;
    private long lookedAt;
    /** Bytes to fetch ahead; 0 if the tar is local. */
    private long mostAhead;

    PartitionTars(WebDatasetSource source, int partition) {
        this.source = source;
        this.partition = partition;
    }

    /**
     * Opens a tar, from a byte of it on.
     *
     * @return the tar, which the caller closes; null behind the last one
     * @throws IOException if it cannot be opened, or the shards were replaced since the source was created
     */
    @Nullable OpenTar open(long at, long offset) throws IOException {
        OptionalInt shard = source.shard(partition, at);
        if (shard.isEmpty()) {
            return null;
        }
        Location path = source.location(shard.getAsInt());
        place = at;
        byteSize = source.byteSize(shard.getAsInt());
        return new OpenTar(path, path.local().isPresent() ? openLocal(path) : openRemote(path, offset), offset,
                source.limit());
    }

    private SeekableByteChannel openLocal(Location path) throws IOException {
        mostAhead = 0;
        SeekableByteChannel channel = path.openChannel();
        try {
            source.checkCurrent(path);
            return channel;
        } catch (Throwable t) {
            channel.close();
            throw t;
        }
    }

    private SeekableByteChannel openRemote(Location path, long offset) throws IOException {
        Opening first = next.peek();
        if (first == null || first.place != place) {
            close();
            first = new Opening(place, path, byteSize, 0);
            next.add(first);
        }
        MappedFile file = first.await();
        next.remove();
        mostAhead = Math.min(AHEAD_BYTES, file.fetcher().mostAhead()) / source.partitionCount();
        if (offset == 0) {
            Opening.fetch(file, mostAhead);
        }
        look(offset);
        return FileSource.channel(file);
    }

    /** Opens and fetches what comes next, if the tar has been read that far. */
    void fetchAhead(OpenTar tar) throws IOException {
        if (mostAhead > 0 && tar.readBytes() - lookedAt >= STEP_BYTES) {
            look(tar.readBytes());
        }
    }

    private void look(long readBytes) {
        lookedAt = readBytes;
        long left = mostAhead - Math.max(0, byteSize - readBytes);
        for (Opening opening : next) {
            opening.fetch(left);
            left -= opening.byteSize;
        }
        while (left > 0 && next.size() < AHEAD_TARS) {
            long at = place + 1 + next.size();
            OptionalInt shard = source.shard(partition, at);
            if (shard.isEmpty() || source.location(shard.getAsInt()).local().isPresent()) {
                return;
            }
            var opening = new Opening(at, source.location(shard.getAsInt()), source.byteSize(shard.getAsInt()), left);
            next.add(opening);
            left -= opening.byteSize;
        }
    }

    /** Closes what was opened ahead. Calling it again does nothing. */
    @Override
    public void close() {
        while (!next.isEmpty()) {
            next.remove().close();
        }
    }

    /** A tar of a server, which a thread opens. */
    private final class Opening implements AutoCloseable {

        private final long place;
        private final Location path;
        private final long byteSize;
        private final FutureTask<MappedFile> file;
        private final Thread thread;

        /** Opens a tar and begins to fetch so many bytes of it. */
        Opening(long place, Location path, long byteSize, long aheadBytes) {
            this.place = place;
            this.path = path;
            this.byteSize = byteSize;
            this.file = new FutureTask<>(() -> open(aheadBytes));
            this.thread = Thread.ofVirtual().name("penstock-tar").start(file);
        }

        private MappedFile open(long aheadBytes) throws IOException {
            MappedFile opened = path.open();
            try {
                source.checkCurrent(path);
                fetch(opened, aheadBytes);
                return opened;
            } catch (Throwable t) {
                opened.close();
                throw t;
            }
        }

        private static void fetch(MappedFile file, long bytes) {
            if (bytes > 0) {
                file.fetcher().prefetch(0, Math.min(bytes, file.byteSize()));
            }
        }

        /** Begins to fetch bytes from its start on, if it is open. */
        void fetch(long bytes) {
            if (file.state() == Future.State.SUCCESS) {
                fetch(file.resultNow(), bytes);
            }
        }

        MappedFile await() throws IOException {
            try {
                return file.get();
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException(path + ": interrupted while opening");
            } catch (ExecutionException e) {
                next.remove(this);
                throw ParallelOpening.cause(e);
            }
        }

        @Override
        public void close() {
            thread.interrupt();
            Uninterrupted.join(thread);
            if (file.state() == Future.State.SUCCESS) {
                file.resultNow().close();
            }
        }
    }
}
