package io.penstock.loader.slots;

import io.penstock.device.PinnedBuffer;
import io.penstock.dlpack.DLDevice;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.os.CacheLine;
import io.penstock.sampling.BatchPlan;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * One slot of the host ring: pinned memory for one batch, with its plan and offset table.
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

    /** What the taking of a batch reads, in one cache line that no other slot's neighbours. */
    private static final int TURN = CacheLine.MIDDLE;
    private static final int COUNT = CacheLine.MIDDLE + 1;

    final PinnedBuffer buffer;
    public final Slab slab;
    public final BatchPlan plan;
    final BatchHolder holder;
    /** Why the batch could not be made, to be thrown at its turn; null if it was. */
    public RuntimeException failure;

    private final AtomicLongArray shared = new AtomicLongArray(CacheLine.SLOTS);

    HostSlot(PinnedBuffer buffer, SlabLayout layout, int batchSize, int index) {
        this.buffer = buffer;
        this.slab = new Slab(layout, buffer.segment());
        this.plan = new BatchPlan(batchSize);
        this.holder = new BatchHolder(index, plan, slab.table(), buffer.segment(), buffer.segment().address(),
                DLDevice.CPU);
        setFreeFor(index);
    }

    /** Whoever filled the slot: the number of samples in the batch. */
    public void setFilled(int count) {
        shared.setPlain(COUNT, count);
    }

    int count() {
        return (int) shared.getPlain(COUNT);
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
