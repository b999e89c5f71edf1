// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.device.Device;
import io.penstock.loader.slots.HostSlot;
import io.penstock.loader.slots.InPlaceDelivery;
import io.penstock.loader.slots.LateBatch;
import io.penstock.loader.slots.Lease;
import io.penstock.loader.slots.LeaseTerms;
import io.penstock.loader.slots.Leases;
import io.penstock.loader.slots.LoaderFailure;
import io.penstock.loader.slots.NotMadeException;
import io.penstock.loader.slots.Run;
import io.penstock.loader.slots.SlotRing;
import io.penstock.loader.slots.SpinGate;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.telemetry.recording.Filling;
import io.penstock.telemetry.recording.LoaderProbe;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Slots are filled by whatever makes batches: here something that knows no dataset, no sampler and no collator. */
class BatchMakerTest {

    private static final int SLOTS = 3;
    private static final long BATCHES = 10;
    private static final long BAD = 4;

    /** A batch is its number; one cannot be made. */
    private static final class Numbers implements BatchMaker {
        private final List<Long> claimed = new ArrayList<>();
        private boolean closed;

        @Override
        public void claimed(long sequence, long now) {
            claimed.add(sequence);
        }

        @Override
        public void make(long sequence, HostSlot slot, Filling filled) {
            if (sequence == BAD) {
                throw new UnsupportedOperationException("no " + sequence);
            }
            slot.slab.segment().set(ValueLayout.JAVA_LONG, 0, sequence);
        }

        @Override
        public void stop() {
        }

        @Override
        public void resume() {
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private static final class TenBatches extends Run {

        TenBatches() {
            super(0);
        }

        @Override
        public boolean has(long number) {
            return number < BATCHES;
        }

        @Override
        public boolean isFirst(long sequence) {
            return sequence == 0;
        }
    }

    @Test
    void batchesOfAnyMakerAreLentInOrderAndOneThatCannotBeMadeIsPassedOver() {
        var failure = new LoaderFailure();
        var maker = new Numbers();
        var run = new TenBatches();
        try (Device device = Device.host();
                SlotRing ring = new SlotRing(device, SlabLayout.of(new TensorSpec("number", DType.I64)), 1, SLOTS);
                Worker worker = new Worker(0, List.of(new Worker.Target(ring, maker, failure, LoaderProbe.NONE)),
                        System::nanoTime)) {
            var leases = new Leases("numbers", failure, () -> { });
            var late = new LateBatch("numbers", Duration.ofMinutes(1));
            late.connect(_ -> Optional.empty());
            var delivery = new InPlaceDelivery(ring, leases, new LeaseTerms(false, true), failure, late,
                    LoaderProbe.NONE);
            ring.connect(delivery.ringReader(), new SpinGate[] {worker.gate()});
            for (long n = 0; n < BATCHES; n++) {
                worker.fillNext(run, 0);
                leases.begin();
                assertTrue(delivery.await(run, n));
                if (n == BAD) {
                    NotMadeException passedOver = assertThrows(NotMadeException.class,
                            () -> delivery.lend(run, BAD, null));
                    assertSame(UnsupportedOperationException.class, passedOver.reason().getClass());
                    leases.ended(false);
                    continue;
                }
                try (Lease lease = delivery.lend(run, n, null)) {
                    assertEquals(n, lease.open().memory().get(ValueLayout.JAVA_LONG, 0));
                }
            }
            assertEquals(Long.MIN_VALUE, worker.fillNext(run, 0), "nothing is left");
        }
        assertEquals(List.of(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L), maker.claimed);
        assertTrue(maker.closed);
    }
}
