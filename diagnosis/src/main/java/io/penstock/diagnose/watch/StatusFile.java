// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.watch;

import io.penstock.io.publish.AtomicFile;
import io.penstock.io.publish.Folder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.Supplier;

/**
 * Writes a rank's status every two seconds to a small file in a folder that ranks share, on a daemon thread of its own:
 * nothing of the file system is on the trainer's thread. The file is replaced whole. A write that fails is said once,
 * and tried again.
 */
public final class StatusFile implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(StatusFile.class.getName());
    private static final long PERIOD_MILLIS = 2000;
    static final String PREFIX = "rank-";
    static final String SUFFIX = ".json";

    private final Supplier<RankStatus> status;
    private final Path file;
    private final Thread thread;
    private boolean failed;

    private StatusFile(Supplier<RankStatus> status, Path file) {
        this.status = status;
        this.file = file;
        this.thread = Thread.ofPlatform().daemon().name("penstock-status").start(this::run);
    }

    /**
     * Starts to write.
     *
     * @param status for example {@code diagnosis::status}; called by the writing thread
     * @param rank the rank, which names the file
     * @param folder the folder that ranks share; created if missing
     * @return closed by the caller when the run ends; the last status stays
     * @throws IOException if the folder cannot be made or written to
     */
    public static StatusFile open(Supplier<RankStatus> status, int rank, Path folder) throws IOException {
        Folder.create(folder);
        Path file = folder.resolve(String.format(Locale.ROOT, "%s%05d%s", PREFIX, rank, SUFFIX));
        AtomicFile.write(file, status.get().toJson() + "\n");
        return new StatusFile(status, file);
    }

    private void run() {
        try {
            while (!Thread.currentThread().isInterrupted()) {
                Thread.sleep(PERIOD_MILLIS);
                write();
            }
        } catch (InterruptedException _) {
            // Closed.
        }
    }

    private void write() {
        try {
            AtomicFile.write(file, status.get().toJson() + "\n");
        } catch (IOException | RuntimeException e) {
            if (!failed && !Thread.currentThread().isInterrupted()) {
                failed = true;
                LOG.log(System.Logger.Level.WARNING, "cannot write the status of this rank: {0}", e.toString());
            }
        }
    }

    /** Stops writing, and waits for a write that has begun, for two seconds at most. Repeating it has no effect. */
    @Override
    public void close() {
        thread.interrupt();
        try {
            thread.join(PERIOD_MILLIS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
