// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.codec.decoder.Compression;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.OpenedVersion;
import io.penstock.format.webdataset.WebDatasetStore.IndexUse;
import io.penstock.io.Advice;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

final class Shard implements AutoCloseable {

    /** Below this size, a pass over the headers of a plain shard takes less time than reading an index file. */
    private static final long WORTH_A_SIDECAR_BYTES = 4 << 20;
    private static final long WORTH_A_SIDECAR_BYTES_COMPRESSED = 64 << 10;

    final Location path;
    final Compression compression;
    private final DecodeLimit limit;
    final ShardIndex index;
    /** What a compressed shard was before its index was read. */
    private final @Nullable OpenedVersion version;
    private final @Nullable MappedFile plain;
    private final @Nullable DecodedShard decoded;

    private Shard(Location path, @Nullable OpenedVersion version, Compression compression, DecodeLimit limit,
            ShardIndex index, @Nullable MappedFile plain) {
        this.path = path;
        this.version = version;
        this.compression = compression;
        this.limit = limit;
        this.index = index;
        this.plain = plain;
        this.decoded = version == null ? null : new DecodedShard(version, compression, limit, index.tarBytes());
    }

    static Shard open(Location path, IndexUse use, DecodeLimit limit, Arena arena) throws IOException {
        Compression compression = PackedTar.compression(path);
        OpenedVersion version = compression == Compression.NONE ? null : OpenedVersion.of(path);
        ShardState state = ShardState.of(path);
        ShardIndex index = use == IndexUse.MEMORY ? null
                : IndexFile.read(path, state, compression == Compression.NONE ? state.byteSize()
                        : limit.of(state.byteSize()), arena);
        if (index == null) {
            index = ShardIndexBuilder.build(path, compression, limit, state, arena);
            long worthIt = compression == Compression.NONE ? WORTH_A_SIDECAR_BYTES : WORTH_A_SIDECAR_BYTES_COMPRESSED;
            if (use == IndexUse.SIDECAR && state.byteSize() >= worthIt) {
                IndexFile.write(path, index);
            }
        }
        if (version != null) {
            return new Shard(path, version, compression, limit, index, null);
        }
        MappedFile file = path.open();
        if (file.byteSize() != index.tarBytes()) {
            file.close();
            throw new MalformedStoreException(path, "a size of " + file.byteSize() + " bytes", index.tarBytes()
                    + " (was it written while it was opened?)");
        }
        return new Shard(path, null, compression, limit, index, file);
    }

    /** Returns the tar's bytes; the first call decodes a compressed shard. */
    MappedFile tar() {
        return decoded != null ? decoded.file() : Objects.requireNonNull(plain);
    }

    /**
     * Opens the tar's bytes: of a plain shard the mapped ones, even if its path leads to another file now. A compressed
     * shard must be the one that was opened.
     */
    TarSource source() throws IOException {
        if (plain == null) {
            Objects.requireNonNull(version).requireSame();
            return PackedTar.open(path, compression, limit);
        }
        plain.advise(Advice.SEQUENTIAL, 0, plain.byteSize());
        return new TarSource.OfMapping(plain, 0);
    }

    /** Returns the key of a sample, from its first member's name. */
    String key(long sample) {
        Objects.checkIndex(sample, index.samples());
        MappedFile tar = tar();
        try {
            return tar.reading(() -> {
                TarReader reader = new TarReader(path, new TarSource.OfMapping(tar, index.entryOffset(sample)));
                SampleScanner scanner = new SampleScanner(path, reader, new Suffixes());
                return scanner.next() ? scanner.key() : "?";
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        if (plain != null) {
            plain.close();
        }
        if (decoded != null) {
            decoded.close();
        }
    }
}
