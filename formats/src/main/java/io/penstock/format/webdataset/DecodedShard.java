// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.codec.decoder.Compression;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.OpenedVersion;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.publish.UnnamedFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * The decoded copy of a compressed shard, in an {@link UnnamedFile}. It is made when a sample of the shard is first
 * located, from start to end in pieces, so only the disk bounds its size. Thread-safe.
 */
final class DecodedShard implements AutoCloseable {

    private static final int COPY_BYTES = 1 << 20;

    private final Location shard;
    private final OpenedVersion version;
    private final Compression compression;
    private final DecodeLimit limit;
    private final long byteSize;

    private volatile @Nullable UnnamedFile copy;
    private boolean closed;

    /**
     * Creates a shard that is not decoded yet.
     *
     * @param version the shard that its index is of
     * @param byteSize its decoded size, by its index
     */
    DecodedShard(OpenedVersion version, Compression compression, DecodeLimit limit, long byteSize) {
        this.shard = version.file();
        this.version = version;
        this.compression = compression;
        this.limit = limit;
        this.byteSize = byteSize;
    }

    MappedFile file() {
        UnnamedFile there = copy;
        return there != null ? there.mapped() : decodeOnce();
    }

    private synchronized MappedFile decodeOnce() {
        if (closed) {
            throw new IllegalStateException(shard + ": the store is closed");
        }
        UnnamedFile decoded = copy;
        if (decoded == null) {
            try {
                decoded = decode();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            copy = decoded;
        }
        return decoded.mapped();
    }

    private UnnamedFile decode() throws IOException {
        version.requireSame();
        UnnamedFile target = UnnamedFile.create(shard, byteSize);
        try {
            decode(target);
            version.requireSame();
            return target;
        } catch (Throwable t) {
            target.close();
            throw t;
        }
    }

    private void decode(UnnamedFile target) throws IOException {
        long bytes = 0;
        try (InputStream in = PackedTar.decode(shard, compression, limit)) {
            byte[] chunk = new byte[COPY_BYTES];
            for (int read = in.read(chunk); read > 0 && bytes <= byteSize; read = in.read(chunk)) {
                target.write(bytes, chunk, 0, read);
                bytes += read;
            }
        }
        if (bytes != byteSize) {
            throw new MalformedStoreException(shard, "decodes to " + (bytes > byteSize ? "more than " + byteSize
                    : bytes) + " bytes", byteSize + ", as its index says (was it written while it was open?)");
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        UnnamedFile decoded = copy;
        if (decoded != null) {
            decoded.close();
        }
    }
}
