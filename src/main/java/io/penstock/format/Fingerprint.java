// SPDX-License-Identifier: Apache-2.0
package io.penstock.format;

import io.penstock.internal.Sha256;
import io.penstock.io.Advice;
import io.penstock.io.FileSource;
import io.penstock.io.MappedFile;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.zip.CRC32C;

/**
 * A checksum of a bounded sample of a store's files: their sizes, heads, tails and 64 evenly spread blocks of 4 KiB
 * each. It distinguishes stores of any size in the time of a few page reads. It does not resist deliberate collisions.
 *
 * <p>SHA-256 of the blocks' CRC-32C, not of the blocks: in a new JVM, whose code is not compiled yet, SHA-256 of so
 * much takes a tenth of a second, a sixth of the time to the first batch. CRC-32C is native code from the start.
 */
public final class Fingerprint {

    private static final int BLOCK_BYTES = 4096;
    private static final int BLOCKS = 64;
    /** Of a large file, one block in so many is fetched: the first, four between and the last. */
    private static final int FETCHED_OF = (BLOCKS + 1) / 5;

    private final MessageDigest sha256 = Sha256.digest();
    private final byte[] block = new byte[BLOCK_BYTES];
    private final CRC32C crc = new CRC32C();

    /**
     * Adds a file. First requests exactly the sampled pages, all at once: otherwise the OS would read 128 KiB, or the
     * device's read-ahead, around each. Of a remote file it takes the size and the version, and fetches nothing;
     * without a version it fetches some blocks.
     */
    public Fingerprint add(MappedFile file) {
        if (file.remoteVersion().isPresent()) {
            sha256.update((file.byteSize() + "\n" + file.remoteVersion().get() + "\n")
                    .getBytes(StandardCharsets.UTF_8));
            return this;
        }
        if (file.isRemote()) {
            return addFetched(file);
        }
        long size = file.byteSize();
        int blocks = blocks(size);
        for (Advice advice : new Advice[] {Advice.WILL_NEED, Advice.POPULATE_READ}) {
            for (int i = 0; i < blocks; i++) {
                file.advise(advice, blockStart(i, size), blockBytes(i, size));
            }
        }
        return file.reading(() -> add(file.mapping()));
    }

    /** Adds a remote file whose server names no version: each block costs a request. */
    private Fingerprint addFetched(MappedFile file) {
        long size = file.byteSize();
        sha256.update((size + "\nno version\n").getBytes(StandardCharsets.UTF_8));
        SeekableByteChannel channel = FileSource.channel(file);     // closing it would close the file
        try {
            for (int i = 0; i < blocks(size); i += isWhole(size) ? 1 : FETCHED_OF) {
                ByteBuffer into = ByteBuffer.wrap(block, 0, blockBytes(i, size));
                channel.position(blockStart(i, size));
                while (into.hasRemaining() && channel.read(into) >= 0) {
                    // until the block is whole
                }
                sha256.update(into.flip());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    public Fingerprint add(MemorySegment bytes) {
        long size = bytes.byteSize();
        int blocks = blocks(size);
        byte[] sums = new byte[Long.BYTES + Integer.BYTES * blocks];
        MemorySegment.ofArray(sums).set(LittleEndian.I64, 0, size);
        for (int i = 0; i < blocks; i++) {
            int length = blockBytes(i, size);
            // A copy: a page that is gone would kill the process in native code.
            MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, blockStart(i, size), block, 0, length);
            crc.reset();
            crc.update(block, 0, length);
            MemorySegment.ofArray(sums).set(LittleEndian.I32, Long.BYTES + (long) Integer.BYTES * i,
                    (int) crc.getValue());
        }
        sha256.update(sums);
        return this;
    }

    /** Returns the number of blocks: head, spread blocks and tail, or all blocks of a small file. */
    private static int blocks(long size) {
        return isWhole(size) ? (int) Math.ceilDiv(size, (long) BLOCK_BYTES) : BLOCKS + 2;
    }

    private static boolean isWhole(long size) {
        return size <= (BLOCKS + 2) * BLOCK_BYTES;
    }

    private static long blockStart(int i, long size) {
        if (isWhole(size)) {
            return (long) i * BLOCK_BYTES;
        }
        return i == BLOCKS + 1 ? size - BLOCK_BYTES : (size - BLOCK_BYTES) / (BLOCKS + 1) * i & -BLOCK_BYTES;
    }

    private static int blockBytes(int i, long size) {
        return (int) Math.min(BLOCK_BYTES, size - blockStart(i, size));
    }

    /** {@return the fingerprint of everything added, 32 hexadecimal digits; call it once} */
    public String hex() {
        return Sha256.shortHex(sha256);
    }
}
