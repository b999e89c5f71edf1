package io.penstock.io;

import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;

/**
 * Checksums of blocks that are spread over a mapped file, to look at its bytes again. Takes in only what is in the page
 * cache anyway: more and more blocks, the longer the file is read. Of one thread at a time.
 */
final class ContentSample {

    private static final int BLOCKS = 64;
    private static final long BLOCK_BYTES = 4096;
    /** A look costs little time and heap. */
    private static final int BLOCKS_A_LOOK = 8;

    private final MappedFile file;
    private final long stride;
    private final int[] checksums = new int[BLOCKS];
    /** A bit a block: whether it was taken in. */
    private long taken;
    /** The block that is looked at next. */
    private int next;

    ContentSample(MappedFile file) {
        this.file = file;
        this.stride = Math.max(BLOCK_BYTES, file.byteSize() / BLOCKS & -BLOCK_BYTES);
    }

    /** Takes in some blocks that are in the page cache and were not taken in. */
    void extend() {
        for (int look = 0; look < BLOCKS_A_LOOK; look++, next = (next + 1) % BLOCKS) {
            if ((taken >>> next & 1) == 0 && has(next) && file.isResident(next * stride)) {
                checksums[next] = checksum(next);
                taken |= 1L << next;
            }
        }
    }

    /** What {@link #forget} goes back to. */
    long taken() {
        return taken;
    }

    /** Forgets the blocks that were taken in since. */
    void forget(long takenThen) {
        taken = takenThen;
    }

    /** The first byte of a block that is not as it was taken in; -1 if all are. */
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

    private int checksum(int block) {
        long offset = block * stride;
        MemorySegment bytes = file.mapping().asSlice(offset, Math.min(BLOCK_BYTES, file.byteSize() - offset));
        var crc = new CRC32C();
        crc.update(bytes.asByteBuffer());
        return (int) crc.getValue();
    }
}
