// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.cache;

import io.penstock.error.PenstockException;
import io.penstock.io.FetchAhead;
import io.penstock.io.FetchWaits;
import io.penstock.io.FetchWaits.FetchPhase;
import io.penstock.io.RangeFetcher;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * An object that is open for reading: fetches its missing blocks into the cache, each once, whatever threads and
 * processes want it. Thread-safe.
 *
 * <p>A block that is there when it is first used here is checked against its checksum; a damaged one is fetched again,
 * once.
 */
public final class CachedObject implements RangeFetcher {

    private static final int CHECKED = 1;
    private static final int KEPT = 2;
    /** One use in this many is recorded: which block was used last need not be exact. */
    private static final int NOTE_EVERY = 64;
    /** How long to wait while another process fetches a block. */
    private static final long PATIENCE_NANOS = 300_000_000_000L;
    private static final long FIRST_LOOK_MILLIS = 1;
    private static final long LAST_LOOK_MILLIS = 50;

    private final BlockCache cache;
    private final RemoteObject object;
    private final ObjectReader reader;
    private final ObjectFolder folder;
    private final BlockTable table;
    /** The flags of each block: {@link #CHECKED}, {@link #KEPT}. */
    private final AtomicIntegerArray states;
    private final Map<Integer, Fetch> pending = new ConcurrentHashMap<>();
    /** What is still to be fetched ahead. Guarded by the monitor. */
    private int nextAhead;
    private int lastAhead = -1;
    private boolean isWaiting;
    private int uses;
    /** What the table's drops were before all blocks were found usable; -1 until then. */
    private volatile long wholeAt = -1;
    private volatile boolean closed;

    CachedObject(BlockCache cache, RemoteObject object, ObjectReader reader, ObjectFolder folder) {
        this.cache = cache;
        this.object = object;
        this.reader = reader;
        this.folder = folder;
        this.table = folder.table;
        this.states = new AtomicIntegerArray(table.blocks());
    }

    /** {@return the sparse local file} */
    public Path data() {
        return folder.data();
    }

    boolean isOf(BlockCache other) {
        return cache == other;
    }

    PlanTable.Key key() {
        return PlanTable.Key.of(folder.path());
    }

    long byteSize() {
        return object.byteSize();
    }

    int blocks() {
        return table.blocks();
    }

    int blockOf(long offset) {
        return table.blockOf(offset);
    }

    long length(int block) {
        return table.length(block);
    }

    public long presentBytes() {
        return table.presentBytes();
    }

    @Override
    public boolean isPresent(long offset, long bytes) {
        if (bytes <= 0) {
            return true;
        }
        long drops = table.drops();
        int last = table.blockOf(offset + bytes - 1);
        for (int block = table.blockOf(offset); block <= last; block++) {
            if (!isUsable(block)) {
                return false;
            }
        }
        if (bytes == object.byteSize()) {
            wholeAt = drops;
        }
        return true;
    }

    private boolean isUsable(int block) {
        return (states.getAcquire(block) & CHECKED) != 0 && table.isPresent(block);
    }

    @Override
    public long drops() {
        return table.drops();
    }

    @Override
    public boolean isWhole(long drops) {
        return drops == wholeAt;
    }

    @Override
    public void fetch(long offset, long bytes, FetchWaits waits) {
        boolean isMissing = !isPresent(offset, bytes);
        waits.read(bytes, isMissing ? 1 : 0);
        if (isMissing) {
            bring(table.blockOf(offset), table.blockOf(offset + bytes - 1), waits);
        } else if (++uses % NOTE_EVERY == 0 && bytes > 0) {
            table.use(table.blockOf(offset));
        }
    }

    @Override
    public void keep(long offset, long bytes) {
        int last = bytes <= 0 ? -1 : table.blockOf(offset + bytes - 1);
        boolean kept = true;
        for (int block = table.blockOf(offset); block <= last && kept; block++) {
            kept = (states.getAcquire(block) & KEPT) != 0;
        }
        if (!kept) {
            FetchWaits waits = new FetchWaits();
            bring(table.blockOf(offset), last, waits);
            for (int block = table.blockOf(offset); block <= last; block++) {
                keep(block, waits);
            }
        }
    }

    private void keep(int block, FetchWaits waits) {
        while ((states.getAcquire(block) & KEPT) == 0) {
            try {
                if (folder.tryKeep(block)) {
                    // It may have been dropped just before. Other threads read a block that has the flag at once.
                    bring(block, block, waits);
                    states.getAndUpdate(block, state -> state | KEPT);
                } else {
                    Thread.sleep(FIRST_LOOK_MILLIS);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException _) {
                throw interrupted();
            }
        }
    }

    @Override
    public void prefetch(long offset, long bytes) {
        if (bytes <= 0 || closed) {
            return;
        }
        int first = table.blockOf(offset);
        int last = table.blockOf(offset + bytes - 1);
        synchronized (this) {
            nextAhead = first;
            lastAhead = last;
            if (!isWaiting) {
                startAhead();
            }
        }
        cache.startAhead();
    }

    /** Starts what is to be fetched ahead, as far as it may; the rest when fewer blocks are being fetched. */
    synchronized void startAhead() {
        boolean wasWaiting = isWaiting;
        isWaiting = false;
        for (; !closed && nextAhead <= lastAhead; nextAhead++) {
            if (!isUsable(nextAhead) && !pending.containsKey(nextAhead)) {
                if (!cache.mayReadAhead()) {
                    isWaiting = true;
                    cache.startAheadLater(this, wasWaiting);
                    return;
                }
                Fetch _ = start(nextAhead, 0);
            }
        }
    }

    @Override
    public long mostAhead() {
        return cache.mostAheadBytes();
    }

    @Override
    public Optional<FetchAhead> fetchAhead(FetchAhead.Epoch epoch) throws IOException {
        return cache.plan().map(plan -> PlannedFetches.open(plan, epoch));
    }

    /**
     * Starts fetching a block that is read after {@code steps} steps. Returns the block's bytes, 0 if it is there, or
     * {@link CachePlan#NOT_STARTED} if the fetch has to wait for others to end, or for room.
     */
    long fetchAhead(int block, long steps) throws IOException {
        if (closed || isUsable(block) || pending.containsKey(block)) {
            return 0;
        }
        long bytes = table.isPresent(block) ? 0 : table.length(block);
        if (!cache.mayReadAhead() || bytes > 0 && !cache.reserve(bytes, steps)) {
            return CachePlan.NOT_STARTED;
        }
        Fetch _ = start(block, bytes);
        return bytes;
    }

    private void bring(int first, int last, FetchWaits waits) {
        try {
            cache.checkFits(object, table.start(last) + table.length(last) - table.start(first));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        for (int block = first; block <= last; block++) {
            if (!isUsable(block)) {
                Fetch _ = start(block, 0);
            }
        }
        for (int block = first; block <= last; block++) {
            while (!isUsable(block)) {
                await(start(block, 0), waits);
            }
        }
    }

    /** Starts a fetch, unless one is under way. */
    private Fetch start(int block, long reserved) {
        Fetch fetch = new Fetch(reserved);
        Fetch other = pending.putIfAbsent(block, fetch);
        if (other != null) {
            cache.notStored(reserved);
            return other;
        }
        cache.execute(() -> run(block, fetch));
        return fetch;
    }

    private void run(int block, Fetch fetch) {
        Throwable failure = null;
        try {
            bring(block, fetch);
        } catch (Throwable t) {
            failure = t;
        }
        // In this order: who finds the block usable, or is told that it is not, finds nothing left of the fetch. If it
        // then closes the file, no lock outlives that.
        pending.remove(block, fetch);
        if (failure == null) {
            states.getAndUpdate(block, state -> state | CHECKED);
        } else {
            stopAhead();
        }
        closeIfUnused();
        if (failure == null) {
            fetch.done.complete(null);
        } else {
            fetch.done.completeExceptionally(failure);
        }
    }

    /** The next blocks would fail, too, and who needs them shall say why. */
    private synchronized void stopAhead() {
        lastAhead = -1;
    }

    private void await(Fetch fetch, FetchWaits waits) {
        fetch.addTo(waits, -1);
        try {
            fetch.done.get();
        } catch (InterruptedException _) {
            throw interrupted();
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case IOException cause -> throw new UncheckedIOException(cause);
                case PenstockException bad -> throw bad;
                case Error error -> throw error;
                case null, default -> throw new IllegalStateException(object.name() + ": " + e.getCause(), e);
            }
        } finally {
            fetch.addTo(waits, 1);
        }
    }

    private UncheckedIOException interrupted() {
        Thread.currentThread().interrupt();
        return new UncheckedIOException(new InterruptedIOException(object.name()
                + ": interrupted while waiting for its bytes"));
    }

    /** Brings a block into the cache, in a thread of the cache. */
    private void bring(int block, Fetch fetch) throws IOException {
        long reserved = fetch.reserved;
        try {
            if (table.isPresent(block) && folder.isGood(block) && table.isPresent(block)) {
                table.use(block);
                return;
            }
            fetch.enter(FetchPhase.LOCK);
            lock(block);
            try {
                if (table.isPresent(block)) {
                    if (folder.isGood(block)) {
                        table.use(block);
                        return;
                    }
                    cache.damaged(object, table.start(block));
                    table.drop(block);
                }
                fetch.enter(FetchPhase.QUEUE);
                if (reserved == 0) {
                    cache.makeRoom(object, table.length(block));
                    reserved = table.length(block);
                }
                download(block, fetch, reserved);
                reserved = 0;
                cache.took(fetch.nanos());
            } finally {
                folder.unlock(block);
            }
        } finally {
            cache.notStored(reserved);
        }
    }

    /**
     * Waits while another process fetches a block. It looks again and again instead of blocking in the kernel, so that
     * a process that was stopped while it held the lock stops nobody for longer than the patience here.
     */
    private void lock(int block) throws IOException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        long millis = FIRST_LOOK_MILLIS;
        while (!folder.tryLock(block)) {
            if (closed || System.nanoTime() - deadline > 0) {
                throw new IOException(object.name() + ": at byte " + table.start(block) + ": " + (closed
                        ? "the file was closed" : "another process has been fetching this block for "
                                + PATIENCE_NANOS / 1_000_000_000 + " s (is it stopped?)"));
            }
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                throw new IOException(object.name() + ": interrupted", e);
            }
            millis = Math.min(2 * millis, LAST_LOOK_MILLIS);
        }
    }

    private void download(int block, Fetch fetch, long reserved) throws IOException {
        checkOpen();
        try (ObjectFolder.BlockWriter writer = folder.new BlockWriter(block)) {
            reader.read(table.start(block), table.length(block), new ObjectReader.Sink() {
                @Override
                public void accept(ByteBuffer bytes) throws IOException {
                    checkOpen();
                    writer.accept(bytes);
                }

                @Override
                public void enter(FetchPhase phase) {
                    fetch.enter(phase);
                }

                @Override
                public void sent() {
                    cache.sent();
                }
            });
            writer.flush();
            cache.publish(writer, reserved);
        }
    }

    private void checkOpen() throws FileSystemException {
        if (closed) {
            throw new FileSystemException(object.name(), null, "the file was closed");
        }
    }

    /** Releases the kept blocks. The files are closed once the fetches in flight have ended. */
    @Override
    public void close() {
        closed = true;
        try {
            folder.releaseKept();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            closeIfUnused();
        }
    }

    /** Returns the number of blocks that are being fetched. For tests. */
    int fetching() {
        return pending.size();
    }

    private synchronized void closeIfUnused() {
        if (closed && pending.isEmpty()) {
            folder.close();
        }
    }
}
