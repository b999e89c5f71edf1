// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * Keeps the records of a pipe, a socket or a queue on disk while they are read, so that a saved run continues exactly:
 * it reads again what the disk has, and goes on with what the source gives next.
 *
 * {@snippet :
 * StreamSource feed = new SpoolSource(LineSource.socket(new InetSocketAddress("feeds", 9999)), Path.of("spool"),
 *         100L << 30);
 * StreamDataset records = StreamDataset.builder(feed).field("json").shuffle(42, 8192).open();
 * }
 *
 * <p>A record is on disk, through a power cut too, before it is given to a trainer. If the process is killed, the
 * records that it had read from the source and not written are lost: they were in no batch, and are those of a window
 * at most. If it is closed, none is lost. A run without a state begins with the first record on disk: delete the folder
 * to begin anew.
 *
 * <p>{@code docs/spec/streams.md} specifies the cursor. Each partition has a folder of its own, which one process at a
 * time uses.
 *
 * @param source gives records that come only once; it is opened without a cursor, also by a run that continues
 * @param folder where to keep them; created if it is missing
 * @param maxBytes the most that the disk holds of a partition. The oldest records are deleted; a state that needs them
 *     is refused. At least 1 MiB
 */
public record SpoolSource(StreamSource source, Path folder, long maxBytes) implements StreamSource {

    private static final long LEAST_BYTES = 1 << 20;

    /**
     * Checks.
     *
     * @throws IllegalArgumentException if the most bytes are fewer than 1 MiB
     */
    public SpoolSource {
        Objects.requireNonNull(source, "source");
        Objects.requireNonNull(folder, "folder");
        if (maxBytes < LEAST_BYTES) {
            throw new IllegalArgumentException(folder + ": at most " + maxBytes + " bytes, expected " + LEAST_BYTES
                    + " or more");
        }
    }

    @Override
    public String fingerprint() {
        return "spool:" + source.fingerprint();
    }

    @Override
    public List<String> parts() {
        return source.parts();
    }

    @Override
    public List<String> partitions() {
        return source.partitions();
    }

    /**
     * {@inheritDoc}
     *
     * <p>The cursor is a place in the spool: how many bytes precede it, since the spool began.
     */
    @Override
    public PartitionReader open(int partition, String cursor) throws IOException {
        Spool spool = new Spool(folder.resolve(Integer.toString(partition)), maxBytes);
        try {
            long at = cursor.isEmpty() ? spool.begin() : Long.parseLong(cursor);
            if (at < spool.begin() || at > spool.end()) {
                throw new IOException(folder + ": found the bytes " + spool.begin() + " to " + spool.end()
                        + " of the spool, expected byte " + at + ", where the saved state continues");
            }
            return new Reader(spool, at, source.open(partition, ""));
        } catch (NumberFormatException e) {
            spool.close();
            throw new IOException(folder + ": found cursor '" + cursor + "', expected a place in the spool", e);
        } catch (Throwable t) {
            spool.close();
            throw t;
        }
    }

    /** Gives what is on disk, and then what comes. */
    private static final class Reader implements PartitionReader {

        private final Spool spool;
        private final PartitionReader source;
        private long at;

        Reader(Spool spool, long at, PartitionReader source) {
            this.spool = spool;
            this.at = at;
            this.source = source;
        }

        @Override
        public Found poll(RecordBuffer into) throws IOException {
            if (at < spool.end()) {
                at = spool.read(at, into);
                return Found.RECORD;
            }
            Found found = source.poll(into);
            if (found == Found.RECORD) {
                spool.add(into);
                at = spool.end();
            }
            return found;
        }

        @Override
        public String cursor() {
            return Long.toString(at);
        }

        @Override
        public void keep() throws IOException {
            spool.keep();
        }

        @Override
        public Lag lag() {
            return source.lag();
        }

        @Override
        public void close() throws IOException {
            try (spool) {
                source.close();
            }
        }
    }
}
