package io.penstock.format.webdataset;

import io.penstock.codec.DecodeLimit;
import io.penstock.io.Advice;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Reads the samples of one shard in their order, from its start or from where a sample begins. */
final class ShardCursor implements AutoCloseable {

    private final int position;
    private final Location path;
    private final TarSource source;
    private final SharedTar tar;
    private final TarReader reader;
    private final SampleScanner scanner;
    private boolean atSample;

    private ShardCursor(int position, Location path, TarSource source, SharedTar tar, Suffixes suffixes) {
        this.position = position;
        this.path = path;
        this.source = source;
        this.tar = tar;
        this.reader = new TarReader(path, source);
        this.scanner = new SampleScanner(path, reader, suffixes);
    }

    /**
     * Opens a shard.
     *
     * @param position where it comes in the epoch's order
     * @param offset where the first sample to read begins in the tar; 0 for the first one that there is
     */
    static ShardCursor open(int position, Location path, long offset, Suffixes suffixes, DecodeLimit limit)
            throws IOException {
        Compression compression = Compression.of(path);
        SharedTar tar = compression == Compression.NONE ? SharedTar.open(path) : null;
        try {
            // Headers and data of a plain shard come by the same pages, which are read ahead.
            TarSource source = tar != null ? new TarSource.OfMapping(tar.file(), 0)
                    : compression.open(path, limit);
            if (tar != null) {
                tar.file().advise(Advice.SEQUENTIAL, 0, tar.file().byteSize());
            }
            try {
                if (!source.skip(offset)) {
                    throw new MalformedStoreException(path, source.position(), "the end of the tar",
                            "a sample at byte " + offset + ", as the state says");
                }
                ShardCursor cursor = new ShardCursor(position, path, source, tar, suffixes);
                cursor.atSample = cursor.scanner.next();
                return cursor;
            } catch (Throwable t) {
                source.close();
                throw t;
            }
        } catch (InternalError fault) {
            throw shrunk(tar, fault, true);
        } catch (Throwable t) {
            if (tar != null) {
                tar.release();
            }
            throw t;
        }
    }

    /** Reads the next sample; false if there is none. */
    boolean read(StreamSample into) throws IOException {
        try {
            return readNext(into);
        } catch (InternalError fault) {
            throw shrunk(tar, fault, false);
        }
    }

    /** A page of a mapping that is gone: the file shrank. */
    private static IOException shrunk(SharedTar tar, InternalError fault, boolean release) {
        if (tar == null) {
            throw fault;
        }
        try {
            tar.file().checkUnchanged();
        } catch (UncheckedIOException e) {
            return e.getCause();
        } finally {
            if (release) {
                tar.release();
            }
        }
        throw fault;
    }

    private boolean readNext(StreamSample into) throws IOException {
        while (atSample) {
            into.begin(position, reader.entryOffset(), scanner.key(), path, tar);
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

    /** Where the next sample begins in the tar; -1 if there is none. */
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
