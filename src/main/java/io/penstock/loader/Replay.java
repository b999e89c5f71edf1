// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.loader.slots.BatchHolder;
import io.penstock.loader.slots.Lease;
import io.penstock.loader.slots.Lender;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One batch, returned again and again: input that costs nothing. No loader can make the trainer faster than it is with
 * a replay, so the difference to its speed with real input is what faster input could gain.
 *
 * <pre>{@code
 * try (Replay replay = loader.replay()) {
 *     for (int step = 0; step < 200; step++) {
 *         try (Batch batch = replay.next()) {
 *             step(batch);                            // the trainer's own step, on a batch that is there already
 *         }
 *     }
 * }
 * }</pre>
 *
 * <p>The batch is on its device, so the time contains neither making nor copying one. Meanwhile the loader's workers
 * fill their slots and stop. As always, trainers must not write into the batch.
 *
 * <p><b>Threads.</b> One thread at a time takes batches and closes this, as with the loader.
 */
public final class Replay implements AutoCloseable {

    private final Batch held;
    private final String loader;
    private final AtomicInteger out = new AtomicInteger();
    private final BatchHolder holder;

    /** A replay of a batch, which it closes. */
    Replay(Batch held, String loader) {
        this.held = held;
        this.loader = loader;
        this.holder = held.lease().open().lentBy(new Again());
    }

    /**
     * The batch again.
     *
     * @return a lease of its own, to be closed by the caller
     * @throws IllegalStateException if the replay is closed
     */
    public Batch next() {
        held.lease().open();
        var lease = new Lease(holder);
        lease.begin(held.lease().sequence());
        out.incrementAndGet();
        return new Batch(lease, loader);
    }

    /**
     * The batch again, for use on a stream, as {@link DataLoader#next(DeviceStream)} gives it.
     *
     * @param stream the trainer's stream, of the loader's device
     * @return a lease of its own, to be closed by the caller
     * @throws IllegalStateException if the replay is closed
     */
    public Batch next(DeviceStream stream) {
        Batch batch = next();
        try {
            batch.usedOn(stream);
            return batch;
        } catch (RuntimeException | Error e) {
            batch.close();
            throw e;
        }
    }

    /** Streams are the held batch's: it orders the slot's reuse behind all of them when the replay is over. */
    private final class Again implements Lender {

        @Override
        public void makeWait(Lease lease, DeviceStream stream) {
            held.usedOn(stream);
        }

        @Override
        public void copyToHost(Lease lease, DeviceStream stream, PinnedBuffer target) {
            held.copyToHost(stream, target);
        }

        @Override
        public void copyToHost(Lease lease, MemorySegment target) {
            held.lease().lender().copyToHost(held.lease(), target);
        }

        @Override
        public void makeConsumerWait(Lease lease, long stream) {
            held.lease().lender().makeConsumerWait(held.lease(), stream);
        }

        @Override
        public void release(Lease lease) {
            lease.released();
        }

        @Override
        public void giveBack(Lease lease, boolean inDeleter) {
            out.decrementAndGet();
        }
    }

    /**
     * Returns the batch to its loader. Calling it again does nothing.
     *
     * @throws IllegalStateException if a lease is still open, or a DLPack tensor of one
     */
    @Override
    public void close() {
        if (out.get() > 0) {
            throw new IllegalStateException(out.get() + " batches of the replay are still open: close them, and delete"
                    + " their DLPack tensors, before closing the replay");
        }
        held.close();
    }
}
