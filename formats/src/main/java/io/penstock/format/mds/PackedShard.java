// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.mds;

import io.penstock.codec.decoder.Gzip;
import io.penstock.codec.decoder.Zstd;
import io.penstock.error.LibraryException;
import io.penstock.error.MalformedStoreException;
import io.penstock.error.PenstockException;
import io.penstock.format.OpenedVersion;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.NoSuchFileException;
import java.util.Objects;

/**
 * A compressed shard. It is read as a stream, because its mapping could shrink under a decoder.
 *
 * @param version the file that it was when its dataset was opened
 * @param algorithm {@code zstd} or {@code gz}
 */
record PackedShard(MdsShard shard, OpenedVersion version, String algorithm, DecodeLimit limit) {

    private static final int BUFFER_BYTES = 1 << 17;

    @FunctionalInterface
    private interface Reading {
        long of(InputStream in) throws IOException;
    }

    static PackedShard of(Location index, MdsShard shard, MdsShard.Part zip, DecodeLimit limit) throws IOException {
        String algorithm = Objects.requireNonNull(shard.compression()).replaceFirst(":.*", "");
        if (!algorithm.equals("zstd") && !algorithm.equals("gz")) {
            throw new MalformedStoreException(index, "shards compressed by '" + algorithm + "'",
                    "zstd or gz (or the shards as they were before, beside the compressed ones)");
        }
        return new PackedShard(shard, OpenedVersion.of(zip.path()), algorithm, limit);
    }

    Location path() {
        return version.file();
    }

    /** Fails if the codec's library is missing, or the file does not start as the algorithm's files do. */
    void check() throws IOException {
        read(InputStream::read);
    }

    void decode(MemorySegment target) throws IOException {
        version.requireSame();
        long bytes = read(in -> {
            byte[] chunk = new byte[BUFFER_BYTES];
            long done = 0;
            for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
                if (read > target.byteSize() - done) {
                    return Long.MAX_VALUE;
                }
                MemorySegment.copy(chunk, 0, target, ValueLayout.JAVA_BYTE, done, read);
                done += read;
            }
            return done;
        });
        version.requireSame();
        if (bytes != target.byteSize()) {
            throw new MalformedStoreException(path(), (bytes == Long.MAX_VALUE ? "more" : bytes + " bytes")
                    + " after decompression", target.byteSize() + " bytes, as the index has it");
        }
    }

    private long read(Reading reading) throws IOException {
        try (InputStream packed = path().newInputStream();
                InputStream in = algorithm.equals("gz") ? Gzip.open(packed) : Zstd.open(packed, limit)) {
            return reading.of(in);
        } catch (LibraryException | NoSuchFileException e) {
            throw e;
        } catch (IOException | PenstockException e) {
            throw new MalformedStoreException(path(), "malformed " + algorithm + " data (" + (e.getMessage() == null
                    ? e.getClass().getSimpleName() : e.getMessage()) + ")", "whole " + algorithm + " data");
        }
    }
}
