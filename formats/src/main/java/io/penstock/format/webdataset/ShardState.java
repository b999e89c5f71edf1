// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.internal.Sha256;
import io.penstock.io.FileInfo;
import io.penstock.io.Location;
import io.penstock.io.publish.SpoolFile;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * Identifies a shard's content.
 *
 * @param mtimeNanos the time of the last write, in nanoseconds since 1970; {@link #UNKNOWN} if the file is not local
 * @param content the first 16 bytes of the SHA-256 of the size (an {@code i64}) and of blocks of the content: all of it
 *     up to 64 KiB, otherwise the first 4 KiB, the last, and 14 evenly between them. Of a shard that is not local
 *     and has a version, the SHA-256 of its size and version
 */
record ShardState(long byteSize, long mtimeNanos, byte[] content) {

    static final long UNKNOWN = Long.MIN_VALUE;

    private static final int BLOCK_BYTES = 4096;
    private static final int BLOCKS = 16;

    static ShardState of(Location shard) throws IOException {
        if (shard.local().isEmpty()) {
            FileInfo info = shard.infoOfNamed();
            if (!info.version().equals(FileInfo.UNKNOWN_VERSION)) {
                return ofVersion(shard, info);
            }
        }
        long mtime = mtimeNanos(shard);
        try (SeekableByteChannel channel = shard.openChannel()) {
            long size = channel.size();
            MessageDigest sha256 = Sha256.digest();
            byte[] sizeBytes = new byte[Long.BYTES];
            MemorySegment.ofArray(sizeBytes).set(LittleEndian.I64, 0, size);
            sha256.update(sizeBytes);
            ByteBuffer block = ByteBuffer.allocate(BLOCK_BYTES);
            for (int i = 0; i < BLOCKS; i++) {
                long at = size <= BLOCKS * BLOCK_BYTES ? (long) i * BLOCK_BYTES
                        : i == BLOCKS - 1 ? size - BLOCK_BYTES
                        : (size - BLOCK_BYTES) / (BLOCKS - 1) * i & -BLOCK_BYTES;
                block.clear();
                while (block.hasRemaining() && at + block.position() < size
                        && channel.position(at + block.position()).read(block) > 0) {
                    // until the block is whole
                }
                sha256.update(block.flip());
            }
            return new ShardState(size, mtime, Arrays.copyOf(sha256.digest(), ShardIndex.CONTENT_BYTES));
        } catch (FileSystemException e) {
            throw e;
        } catch (IOException e) {
            throw SpoolFile.unreadable(shard, 0, e);
        }
    }

    /** A remote shard's version stands for its content: sampling it would fetch most of it. */
    private static ShardState ofVersion(Location shard, FileInfo info) throws IOException {
        if (info.kind() != FileInfo.EntryKind.FILE) {
            throw new NoSuchFileException(shard.toString(), null, "no such file");
        }
        MessageDigest sha256 = Sha256.digest();
        sha256.update((info.byteSize() + "\n" + info.version()).getBytes(StandardCharsets.UTF_8));
        return new ShardState(info.byteSize(), UNKNOWN, Arrays.copyOf(sha256.digest(), ShardIndex.CONTENT_BYTES));
    }

    /** Returns the time of the last write; follows a file to its final place if it moves meanwhile. */
    private static long mtimeNanos(Location shard) throws IOException {
        Path local = shard.local().orElse(null);
        while (local != null) {
            try {
                return Files.getLastModifiedTime(local).to(TimeUnit.NANOSECONDS);
            } catch (NoSuchFileException e) {
                Path now = shard.local().orElse(null);
                if (local.equals(now)) {
                    throw e;
                }
                local = now;
            }
        }
        return UNKNOWN;
    }
}
