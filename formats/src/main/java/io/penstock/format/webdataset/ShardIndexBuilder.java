// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.codec.decoder.Compression;
import io.penstock.error.MalformedStoreException;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.publish.NativeBytes;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Builds a shard's index in one pass over its headers, or over all of it if it is compressed. */
final class ShardIndexBuilder implements AutoCloseable {

    private static final long MAX_MEMBERS = 0xFFFF_FFFFL;

    private final NativeBytes samples = new NativeBytes();
    private final NativeBytes members = new NativeBytes();
    private final Suffixes suffixes = new Suffixes();
    private long sampleCount;
    private long memberCount;
    private long regularMembers;
    private long tarBytes;
    private boolean bad;

    private ShardIndexBuilder() {
    }

    /** Reads a shard; {@code state} is its state before this pass. */
    static ShardIndex build(Location shard, Compression compression, DecodeLimit limit, ShardState state, Arena arena)
            throws IOException {
        try (ShardIndexBuilder builder = new ShardIndexBuilder()) {
            builder.read(shard, compression, limit);
            return builder.toIndex(state, arena);
        }
    }

    private void read(Location shard, Compression compression, DecodeLimit limit) throws IOException {
        try (TarSource source = PackedTar.open(shard, compression, limit)) {
            TarReader tar = new TarReader(shard, source);
            SampleScanner scanner = new SampleScanner(shard, tar, suffixes);
            while (scanner.next()) {
                if (scanner.beginsSample()) {
                    beginSample(shard, tar);
                }
                // A sample may begin before the limit and go on behind it.
                if (tar.dataOffset() >= ShardIndex.MAX_TAR_BYTES) {
                    throw tooLarge(shard, tar);
                }
                bad |= scanner.saysBad();
                members.putInt((int) (tar.dataOffset() / TarReader.BLOCK_BYTES));
                members.putLong(tar.dataBytes() << ShardIndex.SUFFIX_BITS | scanner.suffix());
                memberCount++;
            }
            dropIfBad();
            regularMembers = scanner.regularMembers();
            // Decode what follows the tar's end too: this finds truncation and damage, and gives the decoded size.
            source.skip(Long.MAX_VALUE);
            tarBytes = source.position();
        }
    }

    private void beginSample(Location shard, TarReader tar) {
        dropIfBad();
        if (memberCount >= MAX_MEMBERS - Suffixes.MAX_COUNT) {
            throw tooLarge(shard, tar);
        }
        samples.putInt((int) memberCount);
        samples.putInt((int) (tar.entryOffset() / TarReader.BLOCK_BYTES));
        sampleCount++;
    }

    private static MalformedStoreException tooLarge(Location shard, TarReader tar) {
        return new MalformedStoreException(shard, tar.entryOffset(), "a shard of more than 2 TiB or 2^32 members",
                "several shards");
    }

    /** The library skips samples that are marked as bad. */
    private void dropIfBad() {
        if (bad) {
            sampleCount--;
            samples.truncate(sampleCount * ShardIndex.SAMPLE_BYTES);
            memberCount = samples.getInt(sampleCount * ShardIndex.SAMPLE_BYTES) & MAX_MEMBERS;
            members.truncate(memberCount * ShardIndex.MEMBER_BYTES);
            bad = false;
        }
    }

    private ShardIndex toIndex(ShardState state, Arena arena) {
        List<byte[]> texts = suffixes.texts().stream().map(text -> text.getBytes(StandardCharsets.UTF_8)).toList();
        long suffixBytes = ShardIndex.padded(texts.stream().mapToLong(text -> Integer.BYTES + text.length).sum());
        MemorySegment index = arena.allocate(ShardIndex.byteSize(suffixBytes, sampleCount, memberCount), Long.BYTES);
        MemorySegment.copy(ShardIndex.MAGIC.getBytes(StandardCharsets.US_ASCII), 0, index, ValueLayout.JAVA_BYTE, 0,
                ShardIndex.MAGIC.length());
        index.set(LittleEndian.I32, ShardIndex.VERSION_AT, ShardIndex.VERSION);
        index.set(LittleEndian.I32, ShardIndex.SUFFIX_COUNT_AT, texts.size());
        index.set(LittleEndian.I64, ShardIndex.FILE_BYTES_AT, state.byteSize());
        index.set(LittleEndian.I64, ShardIndex.MTIME_AT, state.mtimeNanos());
        MemorySegment.copy(state.content(), 0, index, ValueLayout.JAVA_BYTE, ShardIndex.CONTENT_AT,
                ShardIndex.CONTENT_BYTES);
        index.set(LittleEndian.I64, ShardIndex.TAR_BYTES_AT, tarBytes);
        index.set(LittleEndian.I64, ShardIndex.REGULAR_AT, regularMembers);
        index.set(LittleEndian.I64, ShardIndex.SAMPLES_AT, sampleCount);
        index.set(LittleEndian.I64, ShardIndex.MEMBERS_AT, memberCount);
        index.set(LittleEndian.I64, ShardIndex.SUFFIX_BYTES_AT, suffixBytes);
        long at = ShardIndex.HEADER_BYTES;
        for (byte[] text : texts) {
            index.set(LittleEndian.I32, at, text.length);
            MemorySegment.copy(text, 0, index, ValueLayout.JAVA_BYTE, at + Integer.BYTES, text.length);
            at += Integer.BYTES + text.length;
        }
        at = ShardIndex.HEADER_BYTES + suffixBytes;
        samples.copyTo(index, at);
        at += sampleCount * ShardIndex.SAMPLE_BYTES;
        index.set(LittleEndian.I32, at, (int) memberCount);
        members.copyTo(index, at + ShardIndex.SAMPLE_BYTES);
        return new ShardIndex(index);
    }

    @Override
    public void close() {
        samples.close();
        members.close();
    }
}
