package io.penstock.loader;

import java.time.Duration;

/**
 * Names the worker that the trainer waits for, and where it is, when that takes long: code of users may be slow, or
 * never return. Of the trainer's thread.
 */
final class LateBatch {

    private static final System.Logger LOG = System.getLogger(LateBatch.class.getName());

    private final String name;
    /** How long the trainer waits before something is said. */
    final long patienceNanos;
    private WorkerPool pool;

    LateBatch(String name, Duration patience) {
        this.name = name;
        this.patienceNanos = Threads.nanos(patience);
    }

    /** Who makes the batches. Called once, before the trainer takes one. */
    void connect(WorkerPool workers) {
        pool = workers;
    }

    /** Called once a wait that is longer than that. */
    void tell(long sequence) {
        String worker = pool.describe(sequence);
        if (worker != null) {
            LOG.log(System.Logger.Level.WARNING, "{0}: the trainer has waited {1} ms for a batch of {2}"
                    + " and keeps waiting", name, patienceNanos / 1_000_000, worker);
        }
    }
}
