// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.cache;

import io.penstock.io.RangeFetcher;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
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
    /** One use in so many is noted: which block was used last need not be exact. */
    private static final int NOTE_EVERY = 64;
    private static final long FIRST_LOOK_MILLIS = 1;
    private static final long LAST_LOOK_MILLIS = 50;

    private final BlockCache cache;
    private final RemoteObject object;
    private final ObjectReader reader;
    private final ObjectFolder folder;
    private final BlockTable table;
    /** By block: {@link #CHECKED}, {@link #KEPT}. */
    private final AtomicIntegerArray states;
    private final Map<Integer, CompletableFuture<Void>> pending = new ConcurrentHashMap<>();
    private int uses;
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

    /** {@return the bytes of the blocks that are in the cache} */
    public long presentBytes() {
        return table.presentBytes();
    }

    @Override
    public boolean isPresent(long offset, long bytes) {
        if (bytes <= 0) {
            return true;
        }
        int last = table.blockOf(offset + bytes - 1);
        for (int block = table.blockOf(offset); block <= last; block++) {
            if (!isUsable(block)) {
                return false;
            }
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
    public void fetch(long offset, long bytes) {
        if (!isPresent(offset, bytes)) {
            bring(table.blockOf(offset), table.blockOf(offset + bytes - 1));
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
            bring(table.blockOf(offset), last);
            for (int block = table.blockOf(offset); block <= last; block++) {
                keep(block);
            }
        }
    }

    private void keep(int block) {
        while ((states.getAcquire(block) & KEPT) == 0 || !table.isPresent(block)) {
            try {
                if (folder.tryKeep(block)) {
                    states.getAndUpdate(block, state -> state | KEPT);
                } else {
                    Thread.sleep(FIRST_LOOK_MILLIS);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException _) {
                throw interrupted();
            }
            bring(block, block);
        }
    }

    @Override
    public void prefetch(long offset, long bytes) {
        if (bytes <= 0 || closed) {
            return;
        }
        int last = table.blockOf(offset + bytes - 1);
        for (int block = table.blockOf(offset); block <= last; block++) {
            if (!isUsable(block) && !pending.containsKey(block) && cache.mayReadAhead()) {
                CompletableFuture<Void> _ = start(block);
            }
        }
    }

    /** Fetches blocks and waits for them. */
    private void bring(int first, int last) {
        try {
            cache.checkFits(object, table.start(last) + table.length(last) - table.start(first));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        for (int block = first; block <= last; block++) {
            if (!isUsable(block)) {
                CompletableFuture<Void> _ = start(block);
            }
        }
        for (int block = first; block <= last; block++) {
            while (!isUsable(block)) {
                await(start(block));
            }
        }
    }

    private CompletableFuture<Void> start(int block) {
        return pending.computeIfAbsent(block, _ -> {
            CompletableFuture<Void> future = new CompletableFuture<>();
            cache.execute(() -> run(block, future));
            return future;
        });
    }

    private void run(int block, CompletableFuture<Void> future) {
        Throwable failure = null;
        try {
            bring(block);
        } catch (Throwable t) {
            failure = t;
        }
        pending.remove(block, future);
        closeIfUnused();
        if (failure == null) {
            future.complete(null);
        } else {
            future.completeExceptionally(failure);
        }
    }

    private void await(CompletableFuture<Void> future) {
        try {
            future.get();
        } catch (InterruptedException _) {
            throw interrupted();
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case IOException cause -> throw new UncheckedIOException(cause);
                case Error error -> throw error;
                case null, default -> throw new IllegalStateException(object.name() + ": " + e.getCause(), e);
            }
        }
    }

    private UncheckedIOException interrupted() {
        Thread.currentThread().interrupt();
        return new UncheckedIOException(new InterruptedIOException(object.name()
                + ": interrupted while waiting for its bytes"));
    }

    /** Makes a block usable, in a thread of the cache. */
    private void bring(int block) throws IOException {
        if (table.isPresent(block) && folder.isGood(block) && table.isPresent(block)) {
            checked(block);
            return;
        }
        lock(block);
        try {
            if (table.isPresent(block)) {
                if (folder.isGood(block)) {
                    checked(block);
                    return;
                }
                cache.damaged(object, table.start(block));
                table.drop(block);
            }
            download(block);
            checked(block);
        } finally {
            folder.unlock(block);
        }
    }

    private void checked(int block) {
        states.getAndUpdate(block, state -> state | CHECKED);
        table.use(block);
    }

    /**
     * Waits while another process fetches a block. It looks again and again instead of blocking in the kernel, so that
     * a process that was stopped while it held the lock stops nobody for longer than the cache's patience.
     */
    private void lock(int block) throws IOException {
        long deadline = System.nanoTime() + cache.patienceNanos();
        long millis = FIRST_LOOK_MILLIS;
        while (!folder.tryLock(block)) {
            if (closed || System.nanoTime() - deadline > 0) {
                throw new IOException(object.name() + ": at byte " + table.start(block) + ": " + (closed
                        ? "the file was closed" : "another process has been fetching this block for "
                                + cache.patienceNanos() / 1_000_000_000 + " s (is it stopped?)"));
            }
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                throw new IOException(object.name() + ": interrupted", e);
            }
            millis = Math.min(2 * millis, LAST_LOOK_MILLIS);
        }
    }

    private void download(int block) throws IOException {
        if (closed) {
            throw new IOException(object.name() + ": the file was closed");
        }
        long bytes = table.length(block);
        cache.makeRoom(object, bytes);
        try (ObjectFolder.BlockWriter writer = folder.new BlockWriter(block)) {
            reader.read(table.start(block), bytes, part -> {
                if (closed) {
                    throw new FileSystemException(object.name(), null, "was closed");
                }
                writer.accept(part);
            });
            writer.publish();
        } catch (IOException | RuntimeException e) {
            cache.notStored(bytes);
            throw e;
        }
    }

    /** Releases what is kept; what is being fetched ends soon, and then the files are closed. */
    @Override
    public void close() {
        closed = true;
        closeIfUnused();
    }

    private void closeIfUnused() {
        if (closed && pending.isEmpty()) {
            folder.close();
        }
    }
}
