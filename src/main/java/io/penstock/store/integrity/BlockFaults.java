// SPDX-License-Identifier: Apache-2.0
package io.penstock.store.integrity;

import io.penstock.store.integrity.Verification.Fault;
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
    private final TreeMap<Long, String> messages = new TreeMap<>();
    private long more;

    BlockFaults(BlockChecksums checksums) {
        this.checksums = checksums;
    }

    synchronized void add(long block, String message) {
        messages.put(block, message);
        if (messages.size() > MAX_BLOCKS_TOLD) {
            messages.pollLastEntry();
            more++;
        }
    }

    synchronized List<Fault> faults() {
        List<Fault> faults = new ArrayList<>();
        long run = -1;
        long end = -1;
        for (long block : messages.keySet()) {
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
        long endByte = Math.min(end * checksums.blockBytes(), checksums.fileBytes());
        String rest = end - first == 1 ? "" : " (and the following blocks up to byte " + endByte + ")";
        faults.add(new Fault(checksums.file(), "crc32c", first, first * checksums.blockBytes(), endByte,
                messages.get(first) + rest));
    }
}
