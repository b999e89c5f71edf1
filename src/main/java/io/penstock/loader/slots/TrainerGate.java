// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import java.util.function.LongPredicate;

/** Where the trainer's thread waits for a batch. Opens when the batch is ready, or when the loader has failed. */
final class TrainerGate extends SpinGate {

    private final LongPredicate ready;
    private final LoaderFailure failure;
    private final LateBatch late;
    private long sequence;

    /** Creates a gate; {@code ready} reads from volatile state whether the batch of a sequence is ready. */
    TrainerGate(LongPredicate ready, LoaderFailure failure, LateBatch late) {
        super(TRAINER_AWAKE_NANOS, late.patienceNanos);
        this.ready = ready;
        this.failure = failure;
        this.late = late;
    }

    /** Sets the batch that the trainer waits for. Called by the trainer's thread, before it waits. */
    void waitFor(long nextSequence) {
        sequence = nextSequence;
    }

    @Override
    protected void waitsLong() {
        late.tell(sequence);
    }

    @Override
    protected boolean isOpen() {
        return ready.test(sequence) || failure.isOver();
    }
}
