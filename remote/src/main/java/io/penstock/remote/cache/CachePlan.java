// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.cache;

import io.penstock.io.FetchAhead;
import io.penstock.io.RangeFetcher;
import io.penstock.text.ByteText;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What will be read of remote files, and when, for all processes of the cache to see in a {@link PlanTable}. By it the
 * cache fetches ahead and chooses what to drop: that which is read last. A step is the number of a batch. Reads of
 * local files and of files of another cache are ignored. For one thread.
 */
final class CachePlan implements AutoCloseable {

    /** What {@link CachedObject#fetchAhead} returns if a block has to wait. */
    static final long NOT_STARTED = -1;

    /** A cache smaller than the window is refused if it fetches each byte so often. */
    private static final int MOST_FETCHES = 2;

    private final BlockCache cache;
    private final PlanTable table;
    private final Map<CachedObject, Long> places = new IdentityHashMap<>();
    private @Nullable CachedObject last;
    private long lastPlace;
    private int epochStart;
    private int parity;
    private int lastStep;
    private long added;
    /** Whether all files are in the cache, or will be. */
    private boolean isWhole;
    /** What was fetched ahead and is not read yet, in the order of its steps. */
    private final Deque<Ahead> ahead = new ArrayDeque<>();
    private long aheadBytes;

    private record Ahead(long step, long bytes) {
    }

    CachePlan(BlockCache cache) throws IOException {
        this.cache = cache;
        this.table = PlanTable.create(cache.plans());
    }

    /** Adds a read of the present epoch, whose step is not before that of an earlier call. */
    void add(RangeFetcher fetcher, long offset, long bytes, long step) {
        if (bytes > 0 && isOwn(fetcher)) {
            CachedObject object = (CachedObject) fetcher;
            long place = place(object);
            int end = object.blockOf(offset + bytes - 1);
            for (int block = object.blockOf(offset); block <= end; block++) {
                table.add(place, block, parity, epochStart, (int) step);
                added++;
            }
            lastStep = (int) step;
        }
    }

    private boolean isOwn(RangeFetcher fetcher) {
        return fetcher == last || fetcher instanceof CachedObject object && object.isOf(cache);
    }

    private long place(CachedObject object) {
        if (object != last) {
            lastPlace = places.computeIfAbsent(object, _ -> {
                try {
                    return table.place(object.key(), object.blocks());
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            last = object;
        }
        return lastPlace;
    }

    /** Begins the next epoch, by its first step. Two epochs are kept: the one before the last must be over. */
    void epoch(long step) {
        epochStart = (int) step;
        parity ^= 1;
    }

    /** Tells whether all files with planned reads fit in the cache together. */
    boolean fits() {
        return dataBytes() <= cache.limitBytes();
    }

    /** Tells whether nothing of the files with planned reads is missing. */
    boolean isComplete() {
        for (CachedObject object : places.keySet()) {
            if (!object.isPresent(0, object.byteSize())) {
                return false;
            }
        }
        return true;
    }

    private long dataBytes() {
        return places.keySet().stream().mapToLong(CachedObject::byteSize).sum();
    }

    /** Returns how many blocks the files with planned reads have. */
    long blocks() {
        return places.keySet().stream().mapToLong(CachedObject::blocks).sum();
    }

    /**
     * Fails if the cache is smaller than what one epoch's order reads by turns, so that most of it would be fetched
     * again and again. The reads added so far are a sample of that epoch; each stands for {@code times} reads. The
     * {@link IllegalArgumentException} names the size that is needed and the bytes that an epoch would fetch.
     */
    void check(double times) {
        long limit = cache.limitBytes();
        long window = windowBytes();
        // Some room for what is being fetched.
        long needed = window + window / 8;
        if (needed <= limit) {
            return;
        }
        double blockBytes = (double) dataBytes() / blocks();
        double fetched = added * times * (1 - (double) limit / needed) * blockBytes;
        if (fetched > (double) MOST_FETCHES * dataBytes()) {
            throw new IllegalArgumentException("the cache " + cache.folder() + " is too small for this order: it may"
                    + " hold " + ByteText.of(limit) + ", and the order reads " + ByteText.of(window) + " of "
                    + ByteText.of(dataBytes()) + " by turns, so that an epoch would fetch about "
                    + ByteText.of((long) fetched) + "; let it hold " + ByteText.of(needed) + ", shuffle a smaller"
                    + " window, or use smaller blocks");
        }
    }

    /** The most bytes of blocks that are read by turns: none waits a quarter of the epoch for its next read. */
    private long windowBytes() {
        long[] change = new long[lastStep + 2];
        places.forEach((object, place) -> {
            for (int block = 0; block < object.blocks(); block++) {
                table.addReading(place, block, parity, lastStep / 4, object.length(block), change);
            }
        });
        long now = 0;
        long most = 0;
        for (long one : change) {
            now += one;
            most = Math.max(most, now);
        }
        return most;
    }

    /** Forgets all reads. */
    void clear() {
        table.clear();
        ahead.clear();
        aheadBytes = 0;
        isWhole = false;
        epochStart = 0;
        parity = 0;
        added = 0;
    }

    /** Plans reads of all files so far in every step: they fit, and are not to make room for what is read later. */
    void addAll() {
        isWhole = true;
        places.forEach((object, place) -> {
            for (int block = 0; block < object.blocks(); block++) {
                table.add(place, block, parity, 0, 0);
                table.add(place, block, parity, 0, Integer.MAX_VALUE - 1);
            }
        });
    }

    /**
     * Starts fetching what is missing of a planned read. Returns false if some of it has to wait: too much is being
     * fetched, or the cache is full of what is read before.
     */
    boolean fetchAhead(RangeFetcher fetcher, long offset, long bytes, long step) throws IOException {
        if (bytes > 0 && isOwn(fetcher)) {
            CachedObject object = (CachedObject) fetcher;
            int end = object.blockOf(offset + bytes - 1);
            for (int block = object.blockOf(offset); block <= end; block++) {
                long started = !isWhole && aheadBytes >= cache.mostAheadBytes() ? NOT_STARTED
                        : object.fetchAhead(block, Math.max(0, step - table.reached()));
                if (started == NOT_STARTED) {
                    return false;
                } else if (started > 0) {
                    ahead.add(new Ahead(step, started));
                    aheadBytes += started;
                }
            }
        }
        return true;
    }

    /** Tells what has been read: all before the first step that may still be read. */
    void reached(long step) {
        table.reached(step);
        for (Ahead first = ahead.peek(); first != null && first.step < step; first = ahead.peek()) {
            aheadBytes -= first.bytes;
            ahead.remove();
        }
    }

    /** Returns how long fetches have taken lately, on average; 0 if nothing was fetched yet. */
    long latencyNanos() {
        return cache.fetchNanos();
    }

    /** Returns what the cache has fetched so far, for whichever plan; any thread may ask. */
    FetchAhead.Fetched fetched() {
        return cache.fetched();
    }

    /** Ends the plan. */
    @Override
    public void close() {
        try {
            table.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
