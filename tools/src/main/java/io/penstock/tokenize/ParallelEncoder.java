// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Encodes a corpus on several threads and passes the tokens on in order.
 *
 * <p>All threads, the calling one included, do the same: read a chunk while no other thread reads, encode it, and, if
 * it is the next in order and no other thread writes, write it and those that wait behind it. Chunks and their buffers
 * are reused, so nothing is allocated after the first ones. The number and size of the chunks in use are bounded.
 */
final class ParallelEncoder {

    private static final int CHUNKS_A_THREAD = 3;
    private static final long MAX_BYTES_UNDER_WAY = 64L << 20;

    private final CorpusReader reader;
    private final EncodedChunk.Output output;
    private final Monitor monitor;
    private final int threads;
    private final Slot[] slots;
    private final ReentrantLock reading = new ReentrantLock();

    // Guarded by this:
    private long taken;
    private long written;
    private long bytesUnderWay;
    private boolean writing;
    /** Whether reading has ended. What was read is still written, unless {@link #stopped}. */
    private boolean ended;
    /** Whether writing has stopped. */
    private boolean stopped;
    private @Nullable Throwable failure;

    /** Receives a job's progress, from one thread at a time. */
    @FunctionalInterface
    interface Monitor {
        void read(long storedBytes);
    }

    /** A chunk and its tokens, on their way from the reader to the output. */
    private static final class Slot {
        private final Chunk chunk = new Chunk(CorpusReader.CHUNK_BYTES);
        private final EncodedChunk encoded;
        private long storedBytes;
        private @Nullable Throwable failure;
        /** Guarded by the encoder: encoded, or failed. */
        private boolean ready;

        Slot(EncodedChunk encoded) {
            this.encoded = encoded;
        }
    }

    ParallelEncoder(CorpusReader reader, Supplier<EncodedChunk> buffers, EncodedChunk.Output output, int threads,
            Monitor monitor) {
        this.reader = reader;
        this.output = output;
        this.threads = threads;
        this.monitor = monitor;
        this.slots = new Slot[threads == 1 ? 1 : CHUNKS_A_THREAD * threads];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = new Slot(buffers.get());
        }
    }

    /**
     * Encodes a whole corpus, or until the output wants no more. No thread runs any more when it returns or throws.
     *
     * @throws IOException from reading, decoding or the output; of several, the first in the corpus's order
     * @throws InterruptedException if the calling thread is interrupted
     */
    void run() throws IOException, InterruptedException {
        ExecutorService others = Executors.newFixedThreadPool(Math.max(1, threads - 1),
                Thread.ofPlatform().name("penstock-tokenize-", 0).daemon().factory());
        try {
            for (int i = 1; i < threads; i++) {
                others.execute(() -> {
                    try {
                        work();
                    } catch (InterruptedException _) {
                        // the calling thread stopped this one
                    }
                });
            }
            work();
            others.shutdown();
            others.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
        } finally {
            stop(null);
            others.shutdownNow();
            others.close();                                 // an interrupt does not end the wait
        }
        Throwable thrown;
        synchronized (this) {
            thrown = failure;
        }
        switch (thrown) {
            case null -> { }
            case IOException bad -> throw bad;
            case RuntimeException bug -> throw bug;
            case Error error -> throw error;
            default -> throw new IllegalStateException(thrown);
        }
    }

    private void work() throws InterruptedException {
        for (Slot slot = read(); slot != null; slot = read()) {
            if (slot.failure == null) {
                try {
                    slot.encoded.encode(slot.chunk);
                } catch (Throwable t) {
                    slot.failure = t;
                }
            }
            finish(slot);
        }
    }

    /** Reads the next chunk, or why it cannot be read; returns null at the end. */
    private @Nullable Slot read() throws InterruptedException {
        reading.lockInterruptibly();
        try {
            Slot slot = awaitSlot();
            if (slot == null) {
                return null;
            }
            boolean hasNext = false;
            slot.failure = null;
            try {
                hasNext = reader.next(slot.chunk);
            } catch (Throwable t) {
                slot.failure = t;
            }
            slot.storedBytes = reader.storedBytes();
            synchronized (this) {
                ended |= !hasNext;
                if (!hasNext && slot.failure == null) {
                    return null;
                }
                taken++;
                bytesUnderWay += slot.failure == null ? slot.chunk.length() : 0;
                return slot;
            }
        } finally {
            reading.unlock();
        }
    }

    /** Waits for a slot that is free; returns null if no more is to be read. */
    private synchronized @Nullable Slot awaitSlot() throws InterruptedException {
        while (!ended && !stopped
                && (taken - written == slots.length || taken > written && bytesUnderWay > MAX_BYTES_UNDER_WAY)) {
            wait();
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return ended || stopped ? null : slots[(int) (taken % slots.length)];
    }

    /** Writes a slot and those behind it that are ready, unless an earlier one is missing or another thread writes. */
    private void finish(Slot slot) {
        synchronized (this) {
            slot.ready = true;
            if (writing) {
                return;
            }
            writing = true;
        }
        for (Slot oldest = nextToWrite(); oldest != null; oldest = nextToWrite()) {
            try {
                if (oldest.failure != null) {
                    stop(oldest.failure);
                } else if (!output.write(oldest.encoded)) {
                    stop(null);
                }
                monitor.read(oldest.storedBytes);
            } catch (Throwable t) {
                stop(t);
            }
            synchronized (this) {
                oldest.ready = false;
                bytesUnderWay -= oldest.failure == null ? oldest.chunk.length() : 0;
                written++;
                notifyAll();
            }
        }
    }

    private synchronized @Nullable Slot nextToWrite() {
        Slot oldest = slots[(int) (written % slots.length)];
        if (stopped || !oldest.ready) {
            writing = false;
            return null;
        }
        return oldest;
    }

    private synchronized void stop(@Nullable Throwable why) {
        if (!stopped) {
            failure = why;
        }
        stopped = true;
        notifyAll();
    }
}
