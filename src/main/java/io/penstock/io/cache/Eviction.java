// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.cache;

import io.penstock.text.ByteText;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Keeps a cache below its limit: drops the blocks that were used least recently. Thread-safe. */
final class Eviction {

    private final BlockCache cache;
    private final long limitBytes;
    private final int processes;
    /** What this process may store before it looks again. */
    private long allowance;

    Eviction(BlockCache cache, long limitBytes, int processes) {
        this.cache = cache;
        this.limitBytes = limitBytes;
        this.processes = processes;
    }

    long limitBytes() {
        return limitBytes;
    }

    /** A block that may be dropped. */
    private record Used(Path folder, int block, long bytes, long lastUse) {
    }

    /**
     * Makes room for a block that is about to be stored.
     *
     * @throws FileSystemException if open files keep too much
     */
    synchronized void makeRoom(RemoteObject object, long bytes) throws IOException {
        if (allowance < bytes) {
            List<Used> blocks = blocks();
            long used = bytes(blocks);
            if (used + bytes > limitBytes - limitBytes / 16) {
                // Some more than necessary: looking at all blocks for each that comes would be slow.
                used -= drop(blocks, used + bytes - (limitBytes - limitBytes / 8));
            }
            if (used + bytes > limitBytes) {
                throw new FileSystemException(object.name(), null, "no room for " + ByteText.of(bytes)
                        + " in the cache " + cache.folder() + ": its limit is " + ByteText.of(limitBytes)
                        + ", and open files keep " + ByteText.of(used) + " of it; raise the limit");
            }
            allowance = Math.max(bytes, (limitBytes - used) / processes);
        }
        allowance -= bytes;
    }

    /** Fails if a range is so large that its blocks would drop one another. */
    void checkFits(RemoteObject object, long bytes) throws FileSystemException {
        if (bytes > limitBytes - limitBytes / 8) {
            throw new FileSystemException(object.name(), null, "no room for " + ByteText.of(bytes)
                    + " at once in the cache " + cache.folder() + ": its limit is " + ByteText.of(limitBytes)
                    + "; raise the limit");
        }
    }

    /** Returns room that was not used. */
    synchronized void notStored(long bytes) {
        allowance += bytes;
    }

    /** Drops blocks until so much is left; returns the bytes dropped. */
    synchronized long trim(long leftBytes) throws IOException {
        List<Used> blocks = blocks();
        return drop(blocks, bytes(blocks) - leftBytes);
    }

    private static long bytes(List<Used> blocks) {
        return blocks.stream().mapToLong(Used::bytes).sum();
    }

    private List<Used> blocks() throws IOException {
        List<Used> blocks = new ArrayList<>();
        for (Path folder : cache.versionFolders()) {
            try (BlockTable table = BlockTable.read(folder.resolve(BlockTable.NAME))) {
                for (int block = 0; block < table.blocks(); block++) {
                    if (table.isPresent(block)) {
                        blocks.add(new Used(folder, block, table.length(block), table.lastUse(block)));
                    }
                }
            } catch (NoSuchFileException _) {
                // removed meanwhile
            }
        }
        return blocks;
    }

    private static long drop(List<Used> blocks, long atLeastBytes) throws IOException {
        blocks.sort(Comparator.comparingLong(Used::lastUse));
        Map<Path, ObjectFolder> folders = new HashMap<>();
        long dropped = 0;
        try {
            for (Used used : blocks) {
                if (dropped >= atLeastBytes) {
                    break;
                }
                ObjectFolder folder = folders.get(used.folder);
                if (folder == null) {
                    try {
                        folder = ObjectFolder.openExisting(used.folder);
                    } catch (NoSuchFileException _) {
                        continue;
                    }
                    folders.put(used.folder, folder);
                }
                try {
                    dropped += folder.drop(used.block);
                } catch (NoSuchFileException _) {
                    // another process removes the folder
                }
            }
        } finally {
            folders.values().forEach(ObjectFolder::close);
        }
        return dropped;
    }
}
