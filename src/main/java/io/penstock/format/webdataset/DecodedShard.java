package io.penstock.format.webdataset;

import io.penstock.codec.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.io.spill.UnnamedFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The decoded copy of a compressed shard, made when something in it is located for the first time: a file that has no
 * name and is gone with the process, in the folder that {@value UnnamedFile#FOLDER_PROPERTY} names. The shard is
 * decoded from its start to its end in pieces, so its size is bounded by the disk alone.
 */
final class DecodedShard implements AutoCloseable {

    private static final int COPY_BYTES = 1 << 20;

    private final Location shard;
    private final Compression compression;
    private final DecodeLimit limit;
    private final long byteSize;
    private volatile MappedFile file;
    private boolean closed;

    /**
     * A shard that is not decoded yet.
     *
     * @param limit what it may decode to
     * @param byteSize what it decodes to
     */
    DecodedShard(Location shard, Compression compression, DecodeLimit limit, long byteSize) {
        this.shard = shard;
        this.compression = compression;
        this.limit = limit;
        this.byteSize = byteSize;
    }

    MappedFile file() {
        MappedFile there = file;
        return there != null ? there : decodeOnce();
    }

    private synchronized MappedFile decodeOnce() {
        if (closed) {
            throw new IllegalStateException(shard + ": the store is closed");
        }
        if (file == null) {
            try {
                file = decode();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return file;
    }

    private MappedFile decode() throws IOException {
        String folder = System.getProperty(UnnamedFile.FOLDER_PROPERTY);
        Path copy = folder == null ? Files.createTempFile("penstock-decoded-", ".tmp")
                : Files.createTempFile(Path.of(folder), "penstock-decoded-", ".tmp");
        try {
            long bytes = 0;
            try (InputStream in = compression.decode(shard, limit); OutputStream out = Files.newOutputStream(copy)) {
                byte[] chunk = new byte[COPY_BYTES];
                for (int read = in.read(chunk); read > 0 && bytes <= byteSize; read = in.read(chunk)) {
                    write(out, chunk, read);
                    bytes += read;
                }
            }
            if (bytes != byteSize) {
                throw new MalformedStoreException(shard, "decodes to " + (bytes > byteSize ? "more than " + byteSize
                        : bytes) + " bytes", byteSize + ", as its index says (was it written while it was open?)");
            }
            return MappedFile.openWritten(copy);
        } finally {
            Files.deleteIfExists(copy);
        }
    }

    private void write(OutputStream out, byte[] chunk, int length) throws IOException {
        try {
            out.write(chunk, 0, length);
        } catch (IOException e) {
            throw new IOException(shard + ": its decoded copy cannot be written: " + e.getMessage(), e);
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (file != null) {
            file.close();
        }
    }
}
