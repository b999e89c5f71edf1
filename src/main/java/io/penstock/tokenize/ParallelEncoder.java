// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * Encodes a corpus on several threads and passes the tokens on in order.
 *
 * <p>The calling thread reads chunks ahead and passes encoded ones on; workers do the rest: check UTF-8, parse JSON,
 * encode. The number and size of chunks in flight are bounded.
 */
final class ParallelEncoder {

    private static final int CHUNKS_A_THREAD = 3;
    private static final long MAX_BYTES_UNDER_WAY = 64L << 20;

    private final Tokenizer tokenizer;
    private final String textField;
    private final boolean appendEndOfText;
    private final int threads;

    private final ArrayDeque<Pending> pending = new ArrayDeque<>();
    private long bytesUnderWay;

    ParallelEncoder(Tokenizer tokenizer, String textField, boolean appendEndOfText, int threads) {
        this.tokenizer = tokenizer;
        this.textField = textField;
        this.appendEndOfText = appendEndOfText;
        this.threads = threads;
    }

    /** Receives a job's progress, on the thread that called {@link #run}. */
    @FunctionalInterface
    interface Monitor {
        void encoded(EncodedChunk chunk, long storedBytesRead);
    }

    private record Pending(Future<EncodedChunk> result, int bytes) {
    }

    /**
     * Encodes a whole corpus. No worker runs any more when it returns or throws.
     *
     * @throws IOException from reading, decoding or the output; of several, the first in the corpus's order
     * @throws InterruptedException if the calling thread is interrupted
     */
    void run(CorpusReader reader, EncodedChunk.Output output, Monitor monitor)
            throws IOException, InterruptedException {
        ExecutorService workers = Executors.newFixedThreadPool(threads,
                Thread.ofPlatform().name("penstock-tokenize-", 0).daemon().factory());
        try {
            for (Chunk chunk = readNext(reader); chunk != null; chunk = readNext(reader)) {
                while (isFull(chunk.length())) {
                    passOn(reader, output, monitor);
                }
                submit(workers, chunk);
            }
            while (!pending.isEmpty()) {
                passOn(reader, output, monitor);
            }
        } finally {
            workers.shutdownNow();
            workers.close();                                // an interrupt does not end the wait
        }
    }

    /** An error in the file being read is thrown only after everything before it is encoded. */
    private @Nullable Chunk readNext(CorpusReader reader) throws IOException, InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        try {
            return reader.next();
        } catch (CorpusException e) {
            while (!pending.isEmpty()) {
                await(pending.remove());
            }
            throw e;
        }
    }

    private boolean isFull(int moreBytes) {
        return !pending.isEmpty()
                && (pending.size() >= CHUNKS_A_THREAD * threads || bytesUnderWay + moreBytes > MAX_BYTES_UNDER_WAY);
    }

    private void submit(ExecutorService workers, Chunk chunk) {
        bytesUnderWay += chunk.length();
        pending.add(new Pending(
                workers.submit(() -> EncodedChunk.of(chunk, tokenizer, textField, appendEndOfText)), chunk.length()));
    }

    private void passOn(CorpusReader reader, EncodedChunk.Output output, Monitor monitor)
            throws IOException, InterruptedException {
        Pending oldest = pending.remove();
        EncodedChunk chunk = await(oldest);
        bytesUnderWay -= oldest.bytes();
        chunk.writeTo(output);
        monitor.encoded(chunk, reader.storedBytes());
    }

    private static EncodedChunk await(Pending chunk) throws IOException, InterruptedException {
        try {
            return chunk.result().get();
        } catch (ExecutionException e) {
            switch (Objects.requireNonNull(e.getCause())) {
                case CorpusException bad -> throw bad;
                case RuntimeException bug -> throw bug;
                case Error error -> throw error;
                default -> throw new IllegalStateException(e.getCause());
            }
        }
    }
}
