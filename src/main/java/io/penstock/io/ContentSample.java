// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.zip.CRC32C;

/**
 * Checksums of blocks spread over a mapped file, to detect changed bytes. Samples only blocks in the page cache: more
 * and more as the file is read. One thread at a time.
 */
final class ContentSample {

    private static final int BLOCKS = 64;
    private static final long BLOCK_BYTES = 4096;
    /** Few, so a look takes little time and heap. */
    private static final int BLOCKS_A_LOOK = 8;

    private final MappedFile file;
    private final long stride;
    private final int[] checksums = new int[BLOCKS];
    /** One bit per block: whether it was sampled. */
    private long taken;
    /** The next block to look at. */
    private int next;

    ContentSample(MappedFile file) {
        this.file = file;
        this.stride = Math.max(BLOCK_BYTES, file.byteSize() / BLOCKS & -BLOCK_BYTES);
    }

    /** Samples some more blocks that are in the page cache. */
    void extend() {
        for (int look = 0; look < BLOCKS_A_LOOK; look++, next = (next + 1) % BLOCKS) {
            if ((taken >>> next & 1) == 0 && has(next) && file.isResident(next * stride)) {
                checksums[next] = checksum(next);
                taken |= 1L << next;
            }
        }
    }

    /** Returns the state to pass to {@link #forget}. */
    long taken() {
        return taken;
    }

    /** Forgets the blocks sampled since. */
    void forget(long takenThen) {
        taken = takenThen;
    }

    /** Returns the first byte of a block that changed since it was sampled; -1 if none did. */
    long firstChanged() {
        for (int block = 0; block < BLOCKS; block++) {
            if ((taken >>> block & 1) != 0 && checksum(block) != checksums[block]) {
                return block * stride;
            }
        }
        return -1;
    }

    private boolean has(int block) {
        return block * stride < file.byteSize();
    }

    /** Computes it of a copy: the JVM's checksums are native code, in which a page that is gone kills the process. */
    private int checksum(int block) {
        long offset = block * stride;
        byte[] copy = new byte[(int) Math.min(BLOCK_BYTES, file.byteSize() - offset)];
        MemorySegment.copy(file.mapping(), ValueLayout.JAVA_BYTE, offset, copy, 0, copy.length);
        var crc = new CRC32C();
        crc.update(copy);
        return (int) crc.getValue();
    }
}
