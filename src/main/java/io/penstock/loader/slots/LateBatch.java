// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;

/**
 * Names the worker that the trainer waits for, and where it is, when that takes long: user code may be slow, or never
 * return. For the trainer's thread.
 */
public final class LateBatch {

    private static final System.Logger LOG = System.getLogger(LateBatch.class.getName());

    private final String name;
    /** How long the trainer waits before something is said. */
    final long patienceNanos;
    private LongFunction<Optional<String>> makers = _ -> Optional.empty();

    public LateBatch(String name, Duration patience) {
        this.name = name;
        this.patienceNanos = TimeUnit.NANOSECONDS.convert(patience);
    }

    /**
     * Sets a function that describes, for people, the thread that makes a sequence. Called once, before the first
     * batch.
     */
    public void connect(LongFunction<Optional<String>> makers) {
        this.makers = makers;
    }

    /** Names the slow worker. Called once per wait, when it lasts longer than the patience. */
    void tell(long sequence) {
        makers.apply(sequence).ifPresent(worker -> LOG.log(System.Logger.Level.WARNING, "{0}: the trainer has waited"
                + " {1} ms for a batch of {2} and keeps waiting", name, patienceNanos / 1_000_000, worker));
    }
}
