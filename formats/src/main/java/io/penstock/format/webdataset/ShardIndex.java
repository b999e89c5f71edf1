// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The positions of a shard's samples and their members, in native memory: 8 bytes per sample and 12 per member, without
 * objects. The sidecar file ({@link IndexFile}) has the same bytes; all numbers are little-endian.
 *
 * <pre>{@code
 *  0 "PNSTKWDX" | 8 i32 version | 12 i32 suffixes S | 16 i64 shard's bytes | 24 i64 shard's mtime, nanoseconds
 * 32 sample of the shard's content, 16 bytes | 48 i64 tar's bytes, decoded | 56 i64 regular members
 * 64 i64 samples N | 72 i64 members M | 80 i64 bytes T of the suffixes | 88 i32 CRC-32C of all other bytes | 92 i32 0
 * 96 suffixes: S times i32 bytes, UTF-8; then zeros up to a multiple of 8; T in all
 *  … samples: N times u32 first member, u32 block of the first header; then once u32 M, u32 0
 *  … members: M times u32 block of the data, i64 bytes << 16 | suffix
 * }</pre>
 *
 * <p>A block is 512 bytes of the tar. The members of sample {@code i} end before the first one of {@code i + 1}.
 */
final class ShardIndex {

    static final String MAGIC = "PNSTKWDX";
    static final int VERSION = 1;
    static final long VERSION_AT = 8;
    static final long SUFFIX_COUNT_AT = 12;
    static final long FILE_BYTES_AT = 16;
    static final long MTIME_AT = 24;
    static final long CONTENT_AT = 32;
    static final int CONTENT_BYTES = 16;
    static final long TAR_BYTES_AT = 48;
    static final long REGULAR_AT = 56;
    static final long SAMPLES_AT = 64;
    static final long MEMBERS_AT = 72;
    static final long SUFFIX_BYTES_AT = 80;
    static final long CRC_AT = 88;
    static final long HEADER_BYTES = 96;
    static final long SAMPLE_BYTES = 8;
    static final long MEMBER_BYTES = 12;
    static final int SUFFIX_BITS = 16;

    /** The range of 32-bit block numbers. */
    static final long MAX_TAR_BYTES = (1L << 32) * TarReader.BLOCK_BYTES;

    private static final long U32 = 0xFFFF_FFFFL;

    private final MemorySegment bytes;
    private final long samples;
    private final long members;
    private final long samplesAt;
    private final long membersAt;
    private final List<String> suffixes;

    /** Creates a view of an index. */
    ShardIndex(MemorySegment bytes) {
        this.bytes = bytes;
        this.samples = bytes.get(LittleEndian.I64, SAMPLES_AT);
        this.members = bytes.get(LittleEndian.I64, MEMBERS_AT);
        this.samplesAt = HEADER_BYTES + bytes.get(LittleEndian.I64, SUFFIX_BYTES_AT);
        this.membersAt = samplesAt + (samples + 1) * SAMPLE_BYTES;
        this.suffixes = suffixes(bytes);
    }

    private static List<String> suffixes(MemorySegment bytes) {
        List<String> texts = new ArrayList<>();
        MemorySegment all = bytes.asSlice(HEADER_BYTES, bytes.get(LittleEndian.I64, SUFFIX_BYTES_AT));
        long at = 0;
        for (int i = bytes.get(LittleEndian.I32, SUFFIX_COUNT_AT); i > 0; i--) {
            int length = all.get(LittleEndian.I32, at);
            byte[] text = all.asSlice(at + Integer.BYTES, length).toArray(ValueLayout.JAVA_BYTE);
            texts.add(new String(text, StandardCharsets.UTF_8));
            at += Integer.BYTES + length;
        }
        return List.copyOf(texts);
    }

    static long padded(long bytes) {
        return bytes + 7 & -8;
    }

    static long byteSize(long suffixBytes, long samples, long members) {
        return HEADER_BYTES + suffixBytes + (samples + 1) * SAMPLE_BYTES + members * MEMBER_BYTES;
    }

    MemorySegment bytes() {
        return bytes;
    }

    long samples() {
        return samples;
    }

    long members() {
        return members;
    }

    /** Returns the number of files in the tar, including those in no sample. */
    long regularMembers() {
        return bytes.get(LittleEndian.I64, REGULAR_AT);
    }

    /** Returns the tar's size, decoded if the shard is compressed. */
    long tarBytes() {
        return bytes.get(LittleEndian.I64, TAR_BYTES_AT);
    }

    long fileBytes() {
        return bytes.get(LittleEndian.I64, FILE_BYTES_AT);
    }

    MemorySegment content() {
        return bytes.asSlice(CONTENT_AT, CONTENT_BYTES);
    }

    List<String> suffixes() {
        return suffixes;
    }

    /** Returns the first member of a sample; for the sample after the last one, the number of members. */
    long firstMember(long sample) {
        return bytes.get(LittleEndian.I32, samplesAt + sample * SAMPLE_BYTES) & U32;
    }

    long entryOffset(long sample) {
        return (bytes.get(LittleEndian.I32, samplesAt + sample * SAMPLE_BYTES + Integer.BYTES) & U32)
                * TarReader.BLOCK_BYTES;
    }

    long dataOffset(long member) {
        return (bytes.get(LittleEndian.I32, membersAt + member * MEMBER_BYTES) & U32) * TarReader.BLOCK_BYTES;
    }

    long dataBytes(long member) {
        return bytes.get(LittleEndian.I64, membersAt + member * MEMBER_BYTES + Integer.BYTES) >>> SUFFIX_BITS;
    }

    int suffix(long member) {
        return bytes.get(LittleEndian.I16, membersAt + member * MEMBER_BYTES + Integer.BYTES) & 0xFFFF;
    }

    /** Tells whether all suffixes exist, all members are within the tar, and samples are in order. */
    boolean isConsistent() {
        long tarBytes = tarBytes();
        long last = 0;
        if (firstMember(0) != 0 || firstMember(samples) != members) {
            return false;
        }
        for (long sample = 0; sample < samples; sample++) {
            long next = firstMember(sample + 1);
            if (next <= last || entryOffset(sample) >= tarBytes) {
                return false;
            }
            last = next;
        }
        int count = suffixes.size();
        for (long member = 0; member < members; member++) {
            if (suffix(member) >= count || dataBytes(member) > tarBytes - dataOffset(member)) {
                return false;
            }
        }
        return true;
    }
}
