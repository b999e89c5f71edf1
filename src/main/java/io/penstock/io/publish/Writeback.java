// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import java.io.IOException;
import java.nio.channels.FileChannel;
import org.jspecify.annotations.Nullable;

/**
 * Writes a file to disk while it grows, in a thread of its own, so that the flush at its end waits for little. The OS
 * by itself begins only when a tenth of the memory is to be written, or after half a minute. For one thread at a time.
 */
final class Writeback {

    private static final long STEP_BYTES = 64L << 20;

    private final FileChannel channel;
    private final long stepBytes;
    private long begunBytes;
    private @Nullable Thread thread;
    /** The OS reports a failed write once only. */
    private volatile @Nullable IOException failure;

    Writeback(FileChannel channel) {
        this(channel, STEP_BYTES);
    }

    Writeback(FileChannel channel, long stepBytes) {
        this.channel = channel;
        this.stepBytes = stepBytes;
    }

    /**
     * Begins to write what is in the file, if that is a step more, and nothing is under way.
     *
     * @throws IOException if an earlier write failed
     */
    void reached(long fileBytes) throws IOException {
        throwFailure();
        if (fileBytes - begunBytes >= stepBytes && (thread == null || !thread.isAlive())) {
            begunBytes = fileBytes;
            thread = Thread.ofPlatform().daemon().name("penstock-writeback").start(this::force);
        }
    }

    private void force() {
        try {
            channel.force(false);
        } catch (IOException e) {
            failure = e;
        }
    }

    /**
     * Waits for the write that is under way; an interrupt does not end the wait.
     *
     * @throws IOException if a write failed
     */
    void end() throws IOException {
        boolean interrupted = false;
        while (thread != null && thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        throwFailure();
    }

    private void throwFailure() throws IOException {
        if (failure != null) {
            throw failure;
        }
    }
}
