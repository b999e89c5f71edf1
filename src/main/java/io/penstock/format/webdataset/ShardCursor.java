// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.codec.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/** Reads the samples of one shard in order, from its start or from a given sample. For one thread. */
final class ShardCursor implements AutoCloseable {

    private final int position;
    private final Location path;
    private final TarSource source;
    private final @Nullable SharedTar tar;
    private final TarReader reader;
    private final SampleScanner scanner;
    private boolean atSample;

    private ShardCursor(int position, Location path, TarSource source, @Nullable SharedTar tar, Suffixes suffixes,
            long offset) throws IOException {
        this.position = position;
        this.path = path;
        this.source = source;
        this.tar = tar;
        if (!source.skip(offset)) {
            throw new MalformedStoreException(path, source.position(), "the end of the tar",
                    "a sample at byte " + offset + ", as the state says");
        }
        this.reader = new TarReader(path, source);
        this.scanner = new SampleScanner(path, reader, suffixes);
        this.atSample = scanner.next();
    }

    /**
     * Opens a shard.
     *
     * @param position its position in the epoch's order
     * @param offset the start in the tar of the first sample to read; 0 for the first one
     * @param opened the shard, if it is open already: it is the cursor's from now on
     */
    static ShardCursor open(int position, Location path, long offset, Suffixes suffixes, DecodeLimit limit,
            @Nullable SharedTar opened) throws IOException {
        SharedTar tar = opened;
        try {
            Compression compression = Compression.of(path);
            if (compression != Compression.NONE && tar != null) {
                tar.release();
                tar = null;
            } else if (compression == Compression.NONE && tar == null) {
                tar = SharedTar.open(path);
            }
            SharedTar plain = tar;
            return reading(plain, () -> {
                TarSource source = compression.open(path, limit, plain);
                try {
                    return new ShardCursor(position, path, source, plain, suffixes, offset);
                } catch (Throwable t) {
                    source.close();
                    throw t;
                }
            });
        } catch (Throwable t) {
            if (tar != null) {
                tar.release();
            }
            throw t;
        }
    }

    /** Reads the next sample; false if there is none. */
    boolean read(StreamSample into) throws IOException {
        return reading(tar, () -> readNext(into));
    }

    /** Names the shard if a page of its mapping is missing because the file shrank. */
    private static <T> T reading(@Nullable SharedTar tar, MappedFile.Read<T, IOException> read) throws IOException {
        try {
            return tar == null ? read.read() : tar.file().reading(read);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private boolean readNext(StreamSample into) throws IOException {
        while (atSample) {
            into.begin(new StreamSample.Origin(path, position, reader.entryOffset(), scanner.key()), tar);
            do {
                into.add(scanner, reader, source);
                atSample = scanner.next();
            } while (atSample && !scanner.beginsSample());
            if (!into.isBad()) {
                return true;
            }
        }
        into.release();
        return false;
    }

    /** Tells whether the shard is remote, and so near its end that the next one should be fetched. */
    boolean endsSoon() {
        return tar != null && tar.endsSoon(source.position());
    }

    /** Returns the start of the next sample in the tar; -1 if there is none. */
    long offset() {
        return atSample ? reader.entryOffset() : -1;
    }

    @Override
    public void close() throws IOException {
        try {
            source.close();
        } finally {
            if (tar != null) {
                tar.release();
            }
        }
    }
}
