package io.penstock.format.webdataset;

import io.penstock.codec.DecodeLimit;
import io.penstock.io.Advice;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.util.Objects;

/** One tar: its index, and its bytes where they are mapped. */
final class Shard implements AutoCloseable {

    /** Below that, the pass over a plain shard's headers takes less than reading it from elsewhere. */
    private static final long WORTH_A_SIDECAR_BYTES = 4 << 20;
    private static final long WORTH_A_SIDECAR_BYTES_COMPRESSED = 64 << 10;

    private final Location path;
    private final Compression compression;
    private final DecodeLimit limit;
    private final ShardIndex index;
    private final MappedFile plain;
    private final DecodedShard decoded;

    private Shard(Location path, Compression compression, DecodeLimit limit, ShardIndex index, MappedFile plain) {
        this.path = path;
        this.compression = compression;
        this.limit = limit;
        this.index = index;
        this.plain = plain;
        this.decoded = plain != null ? null : new DecodedShard(path, compression, limit, index.tarBytes());
    }

    static Shard open(Location path, IndexUse use, DecodeLimit limit, Arena arena) throws IOException {
        Compression compression = Compression.of(path);
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
        if (compression != Compression.NONE) {
            return new Shard(path, compression, limit, index, null);
        }
        MappedFile file = path.open();
        if (file.byteSize() != index.tarBytes()) {
            file.close();
            throw new MalformedStoreException(path, "a size of " + file.byteSize() + " bytes", index.tarBytes()
                    + " (was it written while it was opened?)");
        }
        return new Shard(path, compression, limit, index, file);
    }

    Location path() {
        return path;
    }

    Compression compression() {
        return compression;
    }

    ShardIndex index() {
        return index;
    }

    /**
     * The tar's bytes; a compressed shard is decoded by the first call.
     *
     * @throws UncheckedIOException if it cannot be
     */
    MappedFile tar() {
        return plain != null ? plain : decoded.file();
    }

    /** The tar's bytes from their start: of a plain shard those that are mapped, whatever is at its path now. */
    TarSource source() throws IOException {
        if (plain == null) {
            return compression.open(path, limit);
        }
        plain.advise(Advice.SEQUENTIAL, 0, plain.byteSize());
        return new TarSource.OfMapping(plain, 0);
    }

    /**
     * The key of a sample, as its first member's name has it.
     *
     * @throws UncheckedIOException if the shard shrank, or cannot be decoded
     */
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
        } else {
            decoded.close();
        }
    }
}
