// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.mds;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.Mapping;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.io.publish.DecodedBlocks;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a dataset's shards. The plain file of a shard is mapped. If there is only a compressed one, it is
 * decoded when it is first located.
 */
final class MdsShards implements AutoCloseable {

    private final List<MdsShard.Part> parts = new ArrayList<>();
    /** The mapping of each plain shard; null for a compressed one. */
    private final @Nullable MappedFile[] files;
    /** The block of each compressed shard in {@link #decoded}. */
    private final int[] blockOf;
    /** Null if no shard is compressed. */
    private @Nullable DecodedBlocks decoded;

    private MdsShards(int count) {
        this.files = new MappedFile[count];
        this.blockOf = new int[count];
    }

    /** Opens the shards of an index; checks their sizes and the ends of the tables of the plain ones. */
    static MdsShards open(MdsIndex index, DecodeLimit limit) throws IOException {
        MdsShards opened = new MdsShards(index.shards().size());
        try {
            opened.openAll(index, limit);
            return opened;
        } catch (Throwable t) {
            opened.close();
            throw t;
        }
    }

    private void openAll(MdsIndex index, DecodeLimit limit) throws IOException {
        List<PackedShard> packed = new ArrayList<>();
        for (int i = 0; i < files.length; i++) {
            MdsShard shard = index.shards().get(i);
            MdsShard.Part zip = shard.zip();
            if (shard.raw().path().exists()) {
                parts.add(checked(shard.raw()));
                files[i] = Mapping.open(shard.raw().path(), file -> {
                    file.require(0, tableBytes(shard.samples()));
                    checkTable(shard, file.location(), file.mapping());
                    return file;
                });
            } else if (zip != null && zip.path().exists()) {
                parts.add(checked(zip));
                limit.check(zip.path(), zip.bytes(), shard.raw().bytes());
                blockOf[i] = packed.size();
                packed.add(PackedShard.of(index.file(), shard, zip, limit));
            } else {
                shard.raw().path().infoOfNamed();       // an error if access is denied
                throw new MalformedStoreException(shard.raw().path(), "no such file", "shard " + i + " of the "
                        + files.length + " that " + index.file() + " names");
            }
        }
        if (!packed.isEmpty()) {
            packed.getFirst().check();
            long[] sizes = packed.stream().mapToLong(each -> each.shard().raw().bytes()).toArray();
            decoded = DecodedBlocks.create(index.file(), sizes, (block, target) -> {
                PackedShard each = packed.get(block);
                each.decode(target);
                checkTable(each.shard(), each.path(), target);
            });
        }
    }

    private static MdsShard.Part checked(MdsShard.Part part) throws IOException {
        long bytes = part.path().isFile() ? part.path().byteSize() : -1;
        if (bytes != part.bytes()) {
            throw new MalformedStoreException(part.path(), bytes < 0 ? "no regular file" : bytes + " bytes",
                    part.bytes() + " bytes, as the index has it");
        }
        return part;
    }

    /** Checks the ends of a shard's table; each entry between is checked when it is used. */
    private static void checkTable(MdsShard shard, Location file, MemorySegment bytes) {
        long samples = bytes.byteSize() < Integer.BYTES ? -1 : u32(bytes, 0);
        if (samples != shard.samples()) {
            throw new MalformedStoreException(file, 0, samples + " samples", shard.samples() + ", as the index has it");
        }
        long tableBytes = tableBytes(samples);
        if (tableBytes > bytes.byteSize() || u32(bytes, 4) < tableBytes
                || u32(bytes, tableBytes - 4) != bytes.byteSize()) {
            throw new MalformedStoreException(file, Math.min(4, bytes.byteSize()), "a table of " + samples
                    + " samples that does not fit", "samples after it, up to the " + bytes.byteSize()
                    + " bytes of the shard");
        }
    }

    static long tableBytes(long samples) {
        return 4 * (samples + 2);
    }

    boolean isAnyDecoded() {
        return decoded != null;
    }

    /** Returns the mapping of a plain shard; null for a compressed one. */
    @Nullable MappedFile file(int shard) {
        return files[shard];
    }

    List<MdsShard.Part> parts() {
        return parts;
    }

    /** Locates a whole shard, decoding it if needed. */
    void locate(int shard, Span into) {
        MappedFile file = files[shard];
        if (file != null) {
            into.set(file, 0, file.byteSize());
        } else if (decoded != null) {
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
