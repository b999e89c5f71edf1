package io.penstock.store.mapped;

import io.penstock.memory.Advice;
import io.penstock.memory.MappedFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * A checksum of a bounded sample of a store's files: their sizes, and of each its head, its tail and 64 blocks of
 * 4 KiB spread evenly. It tells stores apart in the time of a few page reads, whatever their size; it is no proof
 * against somebody who wants two stores to look the same.
 */
public final class Fingerprint {

    private static final int BLOCK_BYTES = 4096;
    private static final int BLOCKS = 64;
    private static final int HEX_DIGITS = 32;

    private final MessageDigest sha256 = Sha256.digest();
    private final byte[] block = new byte[BLOCK_BYTES];

    /** A fingerprint of nothing yet. */
    public Fingerprint() {
    }

    /**
     * Takes in a file.
     *
     * @param file the file
     * @return this
     */
    public Fingerprint add(MappedFile file) {
        try {
            adviseBlocks(file);
            return add(file.segment());
        } catch (InternalError fault) {
            file.checkSize();
            throw fault;
        }
    }

    /** All blocks of a cold file are read at once, and they alone: a fault would read what is around it too. */
    private static void adviseBlocks(MappedFile file) {
        long size = file.byteSize();
        for (int i = 0; size > (BLOCKS + 2) * BLOCK_BYTES && i <= BLOCKS + 1; i++) {
            file.advise(Advice.WILL_NEED, blockOffset(size, i), BLOCK_BYTES);
        }
    }

    /** Where a block begins in more bytes than all blocks have: the first, ones at equal distances, the last. */
    private static long blockOffset(long size, int block) {
        return block == 0 ? 0 : block == BLOCKS + 1 ? size - BLOCK_BYTES
                : (size - BLOCK_BYTES) / (BLOCKS + 1) * block & -BLOCK_BYTES;
    }

    /**
     * Takes in some memory.
     *
     * @param bytes the memory
     * @return this
     */
    public Fingerprint add(MemorySegment bytes) {
        long size = bytes.byteSize();
        byte[] sizeBytes = new byte[Long.BYTES];
        MemorySegment.ofArray(sizeBytes).set(LittleEndian.I64, 0, size);
        sha256.update(sizeBytes);
        if (size <= (BLOCKS + 2) * BLOCK_BYTES) {
            for (long at = 0; at < size; at += BLOCK_BYTES) {
                addBlock(bytes, at);
            }
            return this;
        }
        for (int i = 0; i <= BLOCKS + 1; i++) {
            addBlock(bytes, blockOffset(size, i));
        }
        return this;
    }

    private void addBlock(MemorySegment bytes, long offset) {
        int length = (int) Math.min(BLOCK_BYTES, bytes.byteSize() - offset);
        MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, offset, block, 0, length);
        sha256.update(block, 0, length);
    }

    /**
     * The fingerprint of what was taken in; call it once.
     *
     * @return 32 hexadecimal digits
     */
    public String hex() {
        return HexFormat.of().formatHex(sha256.digest()).substring(0, HEX_DIGITS);
    }
}
