package io.penstock.format.mds;

import io.penstock.codec.DecodeLimit;
import io.penstock.format.Mapping;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.io.spill.DecodedBlocks;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The bytes of a dataset's shards: plain ones are mapped; compressed ones, of which there is no plain one, are decoded
 * when they are first touched.
 */
final class MdsShards implements AutoCloseable {

    private final List<MdsShard> shards;
    /** The mapping of each plain shard; null of a compressed one. */
    private final MappedFile[] files;
    /** The block of each compressed shard in {@link #decoded}. */
    private final int[] blockOf;
    /** Null if no shard is compressed. */
    private DecodedBlocks decoded;

    private MdsShards(List<MdsShard> shards) {
        this.shards = shards;
        this.files = new MappedFile[shards.size()];
        this.blockOf = new int[shards.size()];
    }

    /** Opens the shards of an index, and checks their sizes and the ends of the tables of the plain ones. */
    static MdsShards open(MdsIndex index, DecodeLimit limit) throws IOException {
        MdsShards opened = new MdsShards(index.shards());
        try {
            opened.openAll(index, limit);
            return opened;
        } catch (Throwable t) {
            opened.close();
            throw t;
        }
    }

    private void openAll(MdsIndex index, DecodeLimit limit) throws IOException {
        List<MdsShard> packed = new ArrayList<>();
        for (int i = 0; i < files.length; i++) {
            MdsShard shard = shards.get(i);
            if (shard.raw().path().exists()) {
                checkSize(shard.raw());
                files[i] = Mapping.open(shard.raw().path(), file -> {
                    file.require(0, tableBytes(shard.samples()));
                    checkTable(shard, file.location(), file.mapping());
                    return file;
                });
            } else if (shard.zip() != null && shard.zip().path().exists()) {
                checkSize(shard.zip());
                limit.check(shard.zip().path(), shard.zip().bytes(), shard.raw().bytes());
                blockOf[i] = packed.size();
                packed.add(shard);
            } else {
                throw new MalformedStoreException(shard.raw().path(), "no such file", "shard " + i + " of the "
                        + files.length + " that " + index.file() + " names");
            }
        }
        if (!packed.isEmpty()) {
            decoded = decoded(index, packed);
        }
    }

    private static void checkSize(MdsShard.Part part) throws IOException {
        long bytes = part.path().isFile() ? part.path().byteSize() : -1;
        if (bytes != part.bytes()) {
            throw new MalformedStoreException(part.path(), bytes < 0 ? "no regular file" : bytes + " bytes",
                    part.bytes() + " bytes, as the index has it");
        }
    }

    /** Checks the ends of a shard's table; what is between them is checked as it is used. */
    private static void checkTable(MdsShard shard, Location file, MemorySegment bytes)
            throws MalformedStoreException {
        long samples = bytes.byteSize() < Integer.BYTES ? -1 : u32(bytes, 0);
        if (samples != shard.samples()) {
            throw new MalformedStoreException(file, 0, samples + " samples", shard.samples()
                    + ", as the index has it");
        }
        long tableBytes = tableBytes(samples);
        if (tableBytes > bytes.byteSize() || u32(bytes, 4) < tableBytes
                || u32(bytes, tableBytes - 4) != bytes.byteSize()) {
            throw new MalformedStoreException(file, Math.min(4, bytes.byteSize()), "a table of " + samples
                    + " samples that does not fit", "samples behind it, up to the " + bytes.byteSize()
                    + " bytes of the shard");
        }
    }

    /** Bytes of a shard's count and offsets. */
    static long tableBytes(long samples) {
        return 4 * (samples + 2);
    }

    private static DecodedBlocks decoded(MdsIndex index, List<MdsShard> packed) throws IOException {
        long[] sizes = new long[packed.size()];
        String[] algorithms = new String[sizes.length];
        for (int i = 0; i < sizes.length; i++) {
            sizes[i] = packed.get(i).raw().bytes();
            algorithms[i] = MdsDecompression.algorithm(index, packed.get(i));
        }
        MdsDecompression.check(packed.getFirst(), algorithms[0]);
        return DecodedBlocks.create(index.file(), sizes, (block, target) -> {
            MdsShard shard = packed.get(block);
            MdsDecompression.decode(shard, algorithms[block], target);
            checkTable(shard, shard.zip().path(), target);
        });
    }

    int count() {
        return files.length;
    }

    boolean isAnyDecoded() {
        return decoded != null;
    }

    /** The mapping of a plain shard; null of a compressed one. */
    MappedFile file(int shard) {
        return files[shard];
    }

    /** The file that a shard is read from. */
    Location path(int shard) {
        return part(shard).path();
    }

    /** What the index says of the file that a shard is read from. */
    MdsShard.Part part(int shard) {
        return files[shard] != null ? shards.get(shard).raw() : shards.get(shard).zip();
    }

    /** Points at a whole shard, which is decoded if it was not. */
    void locate(int shard, Span into) {
        if (files[shard] != null) {
            into.set(files[shard], 0, files[shard].byteSize());
        } else {
            decoded.locate(blockOf[shard], 0, decoded.byteSize(blockOf[shard]), into);
        }
    }

    static long u32(MemorySegment bytes, long offset) {
        return bytes.get(LittleEndian.I32, offset) & 0xFFFF_FFFFL;
    }

    @Override
    public void close() {
        for (MappedFile file : files) {
            if (file != null) {
                file.close();
            }
        }
        if (decoded != null) {
            decoded.close();
        }
    }
}
