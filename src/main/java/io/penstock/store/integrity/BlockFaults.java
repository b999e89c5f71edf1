package io.penstock.store.integrity;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * The bad blocks of a file, in runs. If a different file took its place, all blocks are bad; so only the first ones are
 * listed. Thread-safe.
 */
final class BlockFaults {

    private static final int MAX_BLOCKS_TOLD = 4096;

    private final BlockChecksums checksums;
    /** The checksum found for each bad block. */
    private final TreeMap<Long, Integer> bad = new TreeMap<>();
    private long more;

    BlockFaults(BlockChecksums checksums) {
        this.checksums = checksums;
    }

    synchronized void add(long block, int crc) {
        bad.put(block, crc);
        if (bad.size() > MAX_BLOCKS_TOLD) {
            bad.pollLastEntry();
            more++;
        }
    }

    synchronized List<Fault> faults() {
        List<Fault> faults = new ArrayList<>();
        long run = -1;
        long end = -1;
        for (long block : bad.keySet()) {
            if (block != end) {
                addRun(faults, run, end);
                run = block;
            }
            end = block + 1;
        }
        addRun(faults, run, end);
        if (more > 0) {
            faults.add(new Fault(checksums.file(), "crc32c", checksums.file() + ": " + more
                    + " more bad blocks, expected none"));
        }
        return faults;
    }

    private void addRun(List<Fault> faults, long first, long end) {
        if (first < 0) {
            return;
        }
        String message = checksums.otherCrc(first, bad.get(first)).getMessage();
        faults.add(new Fault(checksums.file(), "crc32c", first, first * checksums.blockBytes(),
                Math.min(end * checksums.blockBytes(), checksums.fileBytes()),
                end - first == 1 ? message : message + " (and the following blocks up to byte "
                        + Math.min(end * checksums.blockBytes(),
                        checksums.fileBytes()) + ")"));
    }
}
