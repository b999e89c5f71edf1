// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.cache;

import io.penstock.text.ByteText;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Keeps a cache below its limit. Drops what no plan of any process reads, then what is read last; of equal blocks,
 * those that were used least recently. Thread-safe.
 *
 * <p>It looks at all blocks seldom, and then drops one by one in the order found, as room is needed. If the plans are
 * known, this fetches the fewest bytes (L. A. Belady, "A study of replacement algorithms for a virtual-storage
 * computer", IBM Systems Journal 5(2), 1966). What is fetched ahead drops nothing that is read before it (P. Cao et
 * al., "A study of integrated prefetching and caching strategies", SIGMETRICS 1995).
 */
final class Eviction {

    /** The processes that may store blocks at the same time without exceeding the limit. */
    private static final int PROCESSES = 8;
    /**
     * All blocks are looked at again when this share of the limit was dropped, or what is left is read sooner by this
     * share: meanwhile others may have become those that are read last.
     */
    private static final int FRESH = 64;
    private static final int FAR = 64;
    /** How long a fetch ahead can wait before all blocks are listed again. */
    private static final long LOOK_NANOS = 20_000_000;
    private static final long WAIT_MILLIS = 1000;
    private static final int MOST_WAITS = 60;

    private final BlockCache cache;
    private final long limitBytes;
    /** The bytes that this process may store before it lists the blocks again. */
    private long allowance;
    /** The bytes that are being stored. */
    private long reserved;
    /** The bytes in the cache at the last listing, less those dropped since. */
    private long used;
    private List<Used> victims = List.of();
    private int next;
    private long freshBytes;
    private long freshSteps;
    /** Whether nothing was dropped since the last listing. */
    private boolean isFresh;
    private long lookedAt = System.nanoTime() - LOOK_NANOS;

    Eviction(BlockCache cache, long limitBytes) {
        this.cache = cache;
        this.limitBytes = limitBytes;
    }

    long limitBytes() {
        return limitBytes;
    }

    /** A block that may be dropped, and after how many steps it is read. */
    private record Used(Path folder, int block, long bytes, long lastUse, long steps) {

        private static final Comparator<Used> FIRST_TO_GO = Comparator.comparingLong(Used::steps).reversed()
                .thenComparingLong(Used::lastUse);
    }

    /**
     * Makes room for a block that is about to be stored; waits until others are stored that may then be dropped. Throws
     * {@link FileSystemException} if open files keep too much.
     */
    synchronized void makeRoom(RemoteObject object, long bytes) throws IOException {
        for (int waits = 0; !reserve(bytes, -1); waits++) {
            if (reserved == 0 || waits == MOST_WAITS) {
                throw new FileSystemException(object.name(), null, "no room for " + ByteText.of(bytes)
                        + " in the cache " + cache.folder() + ": its limit is " + ByteText.of(limitBytes)
                        + ", and open files keep " + ByteText.of(used) + " of it; raise the limit");
            }
            try {
                wait(WAIT_MILLIS);
            } catch (InterruptedException e) {
                throw new IOException(object.name() + ": interrupted", e);
            }
        }
    }

    /**
     * Makes room for a block without dropping what is read in fewer steps, or as many; returns false if there is not
     * enough.
     */
    synchronized boolean reserve(long bytes, long steps) throws IOException {
        boolean mayLook = steps < 0 || System.nanoTime() - lookedAt > LOOK_NANOS;
        if (steps >= 0 && mayLook) {
            next = victims.size(); // since then the plans have moved on
        }
        allowance += drop(bytes - allowance, steps);
        while (allowance < bytes && mayLook) {
            look(bytes);
            long dropped = drop(bytes - allowance, steps);
            allowance += dropped;
            mayLook = dropped > 0;
            if (allowance < bytes && !mayLook && used + reserved + bytes <= limitBytes) {
                allowance = bytes;
            }
        }
        boolean isEnough = allowance >= bytes;
        if (isEnough) {
            allowance -= bytes;
            reserved += bytes;
        }
        return isEnough;
    }

    /** Lists all blocks again, because there is no room for {@code bytes} more. */
    private void look(long bytes) throws IOException {
        victims = new ArrayList<>();
        next = 0;
        lookedAt = System.nanoTime();
        List<PlanTable> plans = PlanTable.live(cache.plans());
        try {
            for (Path folder : cache.versionFolders()) {
                try (BlockTable table = BlockTable.read(folder.resolve(BlockTable.NAME))) {
                    add(PlanTable.Key.of(folder), folder, table, plans);
                } catch (NoSuchFileException _) {
                    // removed meanwhile
                }
            }
        } finally {
            PlanTable.closeAll(plans);
        }
        victims.sort(Used.FIRST_TO_GO);
        used = victims.stream().mapToLong(Used::bytes).sum();
        long free = limitBytes - used - reserved;
        // Of the last room, processes may each take a block at the same time.
        long margin = plans.isEmpty() ? limitBytes / 16 : (plans.size() - 1) * bytes;
        allowance = free < 0 ? free : free / PROCESSES >= bytes ? free / PROCESSES : free - margin >= bytes ? bytes : 0;
        if (allowance >= bytes) {
            victims = List.of(); // nothing need go
        }
        freshBytes = Math.max(limitBytes / FRESH, -free);
        long most = victims.isEmpty() ? 0 : victims.getFirst().steps;
        freshSteps = most - most / FAR;
        isFresh = true;
    }

    private void add(PlanTable.Key key, Path folder, BlockTable table, List<PlanTable> plans) {
        for (int block = 0; block < table.blocks(); block++) {
            if (table.isPresent(block)) {
                long steps = PlanTable.NEVER;
                for (PlanTable plan : plans) {
                    steps = Math.min(steps, plan.stepsUntil(key, block));
                }
                victims.add(new Used(folder, block, table.length(block), table.lastUse(block), steps));
            }
        }
    }

    /**
     * Drops blocks that are read after more than {@code steps} steps, the last read first; returns the bytes dropped.
     */
    private long drop(long atLeastBytes, long steps) throws IOException {
        long dropped = 0;
        while (dropped < atLeastBytes && next < victims.size() && victims.get(next).steps > steps
                && (isFresh || freshBytes > 0 && victims.get(next).steps >= freshSteps)) {
            Used victim = victims.get(next++);
            long bytes = drop(victim);
            dropped += bytes;
            freshBytes -= bytes;
            isFresh &= bytes == 0;
        }
        used -= dropped;
        return dropped;
    }

    private static long drop(Used victim) throws IOException {
        try (ObjectFolder folder = ObjectFolder.openExisting(victim.folder)) {
            return folder.table.lastUse(victim.block) == victim.lastUse ? folder.drop(victim.block) : 0;
        } catch (NoSuchFileException _) {
            return 0; // another process has removed the folder
        }
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
        reserved -= bytes;
        notifyAll();
    }

    /** Makes a block visible that has its room. Its bytes are never counted twice. */
    synchronized void publish(ObjectFolder.BlockWriter writer, long bytes) throws IOException {
        writer.publish();
        reserved -= bytes;
        notifyAll();
    }

    /** Drops blocks until {@code leftBytes} are left; returns the bytes dropped. */
    synchronized long trim(long leftBytes) throws IOException {
        look(Long.MAX_VALUE);
        freshBytes = Long.MAX_VALUE;
        freshSteps = 0;
        long dropped = drop(used - leftBytes, -1);
        allowance = 0;
        return dropped;
    }
}
