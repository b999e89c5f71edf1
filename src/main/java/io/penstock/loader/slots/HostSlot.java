// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.device.PinnedBuffer;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.os.CacheLine;
import io.penstock.sampling.BatchPlan;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * One slot of the host ring: pinned memory for one batch, and its plan.
 *
 * <p>Its <em>turn</em> says whose it is. Sequence numbers count the batches through the loader's life; slot {@code i}
 * of {@code H} takes the sequences {@code s} with {@code s mod H == i}, one after another:
 *
 * <pre>
 *   turn == 2s       free: whoever claimed s fills plan, slab and failure
 *   turn == 2s + 1   ready: the reader (the trainer, or the copy thread) has it
 *   turn == 2(s+H)   free for the next lap
 * </pre>
 *
 * <p>Single writer at every turn: the one who fills s from 2s to 2s + 1, the reader from there on. The volatile write
 * of the turn hands over everything else in the slot.
 */
public final class HostSlot {

    /** The turn, in a cache line of its own. */
    private static final int TURN = CacheLine.MIDDLE;

    /** From 0. */
    final int index;
    final PinnedBuffer buffer;
    public final Slab slab;
    public final BatchPlan plan;
    /** Why the batch could not be made, to be thrown at its turn; null if it was. */
    public @Nullable RuntimeException failure;

    private final AtomicLongArray shared = new AtomicLongArray(CacheLine.SLOTS);

    HostSlot(PinnedBuffer buffer, SlabLayout layout, int batchSize, int index) {
        this.index = index;
        this.buffer = buffer;
        this.slab = new Slab(layout, buffer.segment());
        this.plan = new BatchPlan(batchSize);
        setFreeFor(index);
    }

    public boolean isFreeFor(long sequence) {
        return shared.get(TURN) == 2 * sequence;
    }

    public boolean isReadyWith(long sequence) {
        return shared.get(TURN) == 2 * sequence + 1;
    }

    /** Whether the sequence was made, and is ready or was read since. */
    public boolean isMadeWith(long sequence) {
        return shared.get(TURN) > 2 * sequence;
    }

    boolean isEmpty() {
        return (shared.get(TURN) & 1) == 0;
    }

    void setReadyWith(long sequence) {
        shared.set(TURN, 2 * sequence + 1);
    }

    void setFreeFor(long sequence) {
        shared.set(TURN, 2 * sequence);
    }
}
