// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.format.webdataset.WebDatasetStore.IndexUse;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.os.ThreadStart;
import io.penstock.os.Uninterrupted;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/** Opens shards on several threads. */
final class ParallelOpening {

    private static final int MAX_THREADS = 16;

    private final List<Location> paths;
    private final IndexUse use;
    private final Arena arena;
    private final DecodeLimit limit;
    private final Shard[] shards;
    private final Throwable[] failures;
    private final AtomicInteger next = new AtomicInteger();
    private volatile boolean failed;

    private ParallelOpening(List<Location> paths, IndexUse use, DecodeLimit limit, Arena arena) {
        this.paths = paths;
        this.use = use;
        this.limit = limit;
        this.arena = arena;
        this.shards = new Shard[paths.size()];
        this.failures = new Throwable[paths.size()];
    }

    /** Opens shards in order; of several failures, it throws that of the first shard. */
    static Shard[] open(List<Location> paths, IndexUse use, DecodeLimit limit, Arena arena) throws IOException {
        ParallelOpening opening = new ParallelOpening(paths, use, limit, arena);
        int threads = Math.min(Math.min(Runtime.getRuntime().availableProcessors(), MAX_THREADS), paths.size());
        Thread[] helpers = new Thread[threads - 1];
        for (int i = 0; i < helpers.length; i++) {
            helpers[i] = Thread.ofPlatform().daemon().name("penstock-webdataset-index-" + i).unstarted(opening::work);
            startIfPossible(helpers[i]);
        }
        opening.work();
        boolean interrupted = Uninterrupted.join(List.of(helpers), () -> {
            opening.failed = true;
            List.of(helpers).forEach(Thread::interrupt);
        });
        opening.throwFirst(interrupted);
        return opening.shards;
    }

    /** Asks for the sizes of shards, for those of a server at the same time. */
    static long[] byteSizes(List<Location> shards) throws IOException {
        long[] sizes = new long[shards.size()];
        List<Future<Long>> asked = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            try {
                for (Location shard : shards) {
                    asked.add(shard.local().isPresent() ? CompletableFuture.completedFuture(shard.byteSize())
                            : threads.submit(shard::byteSize));
                }
                for (int i = 0; i < sizes.length; i++) {
                    sizes[i] = asked.get(i).get();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException(shards.getFirst() + ": interrupted while opening");
            } catch (ExecutionException e) {
                throw cause(e);
            } finally {
                asked.forEach(one -> one.cancel(true));
            }
        }
        return sizes;
    }

    /** What a task has thrown, as an {@link IOException} or thrown again. */
    static IOException cause(ExecutionException failure) {
        return switch (failure.getCause()) {
            case IOException e -> e;
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case null, default -> new IOException(failure);
        };
    }

    /** If the system refuses a thread, the others do its work. */
    private static void startIfPossible(Thread helper) {
        try {
            helper.start();
        } catch (OutOfMemoryError e) {
            if (!ThreadStart.isRefusedBy(e)) {
                throw e;
            }
        }
    }

    private void work() {
        for (int i = next.getAndIncrement(); i < paths.size() && !failed; i = next.getAndIncrement()) {
            try {
                shards[i] = Shard.open(paths.get(i), use, limit, arena);
            } catch (Throwable t) {
                failures[i] = t;
                failed = true;
            }
        }
    }

    private void throwFirst(boolean interrupted) throws IOException {
        if (!failed) {
            return;
        }
        Arrays.stream(shards).filter(Objects::nonNull).forEach(Shard::close);
        Throwable first = Arrays.stream(failures).filter(Objects::nonNull).findFirst().orElse(null);
        switch (first) {
            case IOException e when !interrupted -> throw e;
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case null, default -> {
                InterruptedIOException e = new InterruptedIOException(paths.getFirst() + ": interrupted while opening");
                e.initCause(first);
                throw e;
            }
        }
    }
}
