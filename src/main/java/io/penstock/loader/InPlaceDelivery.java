package io.penstock.loader;

import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import java.util.List;
import java.util.stream.Stream;

/** Lends the host slots themselves: where the device is the host, a copy would be in vain. */
final class InPlaceDelivery implements Delivery {

    private final SlotRing ring;
    private final LeaseEnd leaseEnd;
    private final LeaseMode leaseMode;
    private final LoaderFailure failure;
    private final TrainerHelp help;
    /** Null if none are kept. */
    private final Accounts accounts;
    private final ConsumerNotice notice = new ConsumerNotice();
    private final ReadySlot readySlot;

    InPlaceDelivery(SlotRing ring, LeaseEnd leaseEnd, LeaseMode leaseMode, LoaderFailure failure,
            TrainerHelp help, LateBatch late, Accounts accounts) {
        this.ring = ring;
        this.leaseEnd = leaseEnd;
        this.leaseMode = leaseMode;
        this.failure = failure;
        this.help = help;
        this.accounts = accounts;
        this.readySlot = new ReadySlot(late);
    }

    /** Open when the slot that the trainer waits for is filled, or the loader has failed. */
    private final class ReadySlot extends SpinGate {
        private final LateBatch late;
        private HostSlot slot;
        private long sequence;

        ReadySlot(LateBatch late) {
            super(TRAINER_AWAKE_NANOS, late.patienceNanos);
            this.late = late;
        }

        @Override
        void waitsLong() {
            late.tell(sequence);
        }

        @Override
        boolean isOpen() {
            return slot.isReadyWith(sequence) || failure.isOver();
        }
    }

    @Override
    public void begin(Run run) {
        // The ring is all there is.
    }

    @Override
    public long stop(long nextToTake) {
        return nextToTake;
    }

    @Override
    public boolean isReady(Run run, long n) {
        return ring.slot(run.base + n).isReadyWith(run.base + n);
    }

    @Override
    public Batch take(Run run, long n, DeviceStream stream) {
        long sequence = run.base + n;
        HostSlot slot = ring.slot(sequence);
        checkCanTake(run, n);
        readySlot.slot = slot;
        readySlot.sequence = sequence;
        boolean helps = true;
        while (helps && !readySlot.isOpen()) {
            helps = help.fillOne(run);
        }
        if (!helps && !readySlot.await(true)) {
            throw new LoaderInterruptedException(n);
        }
        if (!slot.isReadyWith(sequence)) {
            failure.check();
        }
        help.learn(slot.fillNanos());
        slot.turnCame(sequence);
        if (slot.failure != null) {
            BatchException cause = slot.failure;
            ring.release(sequence);
            throw cause;
        }
        Batch batch = slot.holder.lend(this, leaseMode, sequence, slot.count());
        if (stream != null) {
            batch.addStream(stream);
        }
        return batch;
    }

    @Override
    public void checkCanTake(Run run, long n) {
        BatchHolder holder = ring.slot(run.base + n).holder;
        if (holder.isLentToCaller()) {
            throw new IllegalStateException("batch " + n + " needs the slot of " + holder.lent
                    + ", which this thread has not closed: close batches, or prefetch more (there are "
                    + ring.size() + " slots)");
        }
        if (holder.isKeptByConsumers()) {
            notice.give(n);
        }
    }

    /** The bytes are there. */
    @Override
    public void makeWait(Batch batch, DeviceStream stream) {
        // Nothing to wait for.
    }

    /** The bytes are there, and no stream of a consumer's is known here. */
    @Override
    public void makeConsumerWait(Batch batch, long stream) {
        // Nothing to wait for.
    }

    /** Host memory to host memory: done at once, when the stream has come so far. */
    @Override
    public void copyToHost(Batch batch, DeviceStream stream, PinnedBuffer target) {
        stream.synchronize();
        target.segment().copyFrom(batch.holder().memory.asSlice(0, batch.byteSize()));
    }

    /** The slot is host memory: it is free when no stream of the host device reads it, which is waited for here. */
    @Override
    public void release(Batch batch) {
        if (accounts != null) {
            accounts.givenBack(batch.sequence());
        }
        try {
            synchronizeStreams(batch, 0);
        } finally {
            batch.released();
        }
    }

    @Override
    public void giveBack(Batch batch, boolean inDeleter) {
        batch.holder().lent = null;
        ring.release(batch.sequence());
        leaseEnd.ended(inDeleter);
    }

    /** All of them, also when one has failed. */
    private static void synchronizeStreams(Batch batch, int from) {
        if (from < batch.streamCount()) {
            try {
                batch.stream(from).synchronize();
            } finally {
                synchronizeStreams(batch, from + 1);
            }
        }
    }

    @Override
    public List<BatchHolder> holders() {
        return Stream.of(ring.slots()).map(slot -> slot.holder).toList();
    }

    @Override
    public SpinGate ringReader() {
        return readySlot;
    }

    @Override
    public long deviceBytes() {
        return 0;
    }

    @Override
    public long submitNanos() {
        return 0;
    }

    @Override
    public void wake() {
        readySlot.wake();
    }

    @Override
    public void halt() {
        // No thread of its own.
    }

    @Override
    public void close() {
        // No memory of its own.
    }
}
