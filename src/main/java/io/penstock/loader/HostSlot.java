package io.penstock.loader;

import io.penstock.device.PinnedBuffer;
import io.penstock.dlpack.DLDevice;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.sampling.BatchPlan;

/**
 * One slot of the host ring: pinned memory for one batch, with its plan and offset table.
 *
 * <p>Its {@code turn} says whose it is. Sequence numbers count the batches through the loader's life; slot {@code i} of
 * {@code H} takes the sequences {@code s} with {@code s mod H == i}, one after another:
 *
 * <pre>
 *   turn == 2s       free: the worker that claimed s fills plan, slab and failure
 *   turn == 2s + 1   ready: the reader (the trainer, or the copy thread) has it
 *   turn == 2(s+H)   free for the next lap
 * </pre>
 *
 * <p>Single writer at every turn: the worker of s from 2s to 2s + 1, the reader from there on. The volatile write of
 * the turn hands over everything else in the slot.
 */
final class HostSlot {

    final PinnedBuffer buffer;
    final Slab slab;
    final BatchPlan plan;
    final BatchHolder holder;
    /** The batch's samples, beside the turn: so that taking a batch reads no other line that the worker wrote. */
    int count;
    /** Why the batch could not be made; null if it was. */
    BatchException failure;

    private volatile long turn;

    HostSlot(PinnedBuffer buffer, SlabLayout layout, int batchSize, long firstSequence) {
        this.buffer = buffer;
        this.slab = new Slab(layout, buffer.segment());
        this.plan = new BatchPlan(batchSize);
        this.holder = new BatchHolder(plan, slab.table(), buffer.segment(), buffer.segment().address(),
                DLDevice.CPU);
        this.turn = 2 * firstSequence;
    }

    boolean isFreeFor(long sequence) {
        return turn == 2 * sequence;
    }

    boolean isReadyWith(long sequence) {
        return turn == 2 * sequence + 1;
    }

    void setReadyWith(long sequence) {
        turn = 2 * sequence + 1;
    }

    void setFreeFor(long sequence) {
        turn = 2 * sequence;
    }
}
