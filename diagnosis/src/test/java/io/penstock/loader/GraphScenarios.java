// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.device.cuda.CudaSimulator;
import io.penstock.diagnose.Diagnosis;
import io.penstock.telemetry.Phase;
import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;

/** A trainer that captures its step once a slot and launches the graph from then on. Run by {@link Scenarios}. */
final class GraphScenarios {

    private static final int SLOTS = 4;

    private GraphScenarios() {
    }

    static void aGraphThatIsCapturedOnceASlotReadsEveryBatchInThatSlot() {
        try (var trainer = new SimulatedTrainer(0)) {
            captureOnceASlot(trainer, trainer.loader());
        }
    }

    /** What is recorded for the device's clock is recorded outside of the capture. */
    static void aGraphMayBeCapturedOfBatchesThatAreTimed() {
        try (var trainer = new SimulatedTrainer(0)) {
            captureOnceASlot(trainer, trainer.loader().withDeviceClock());
        }
    }

    private static void captureOnceASlot(SimulatedTrainer trainer, DataLoaderBuilder settings) {
        CudaSimulator.setSpeed(0, 200);
        MemorySegment[] graphs = new MemorySegment[SLOTS];
        long[] addresses = new long[SLOTS];
        try (DataLoader loader = settings.dropLast().deviceSlots(SLOTS).leases(LeaseMode.REUSED).open();
                Diagnosis diagnosis = Diagnosis.of(loader)) {
            for (int i = 0; i < 200; i++) {
                try (Batch batch = loader.next(trainer.stream)) {
                    int slot = batch.slot();
                    if (graphs[slot] == null) {
                        graphs[slot] = capture(trainer, batch);
                        addresses[slot] = batch.address("row");
                    }
                    assertEquals(addresses[slot], batch.address("row"), "slot " + slot);
                    diagnosis.begin(Phase.COMPUTE);
                    CudaSimulator.launchGraph(graphs[slot], trainer.stream.handle());
                    diagnosis.end();
                    trainer.look(batch, trainer.stream);
                }
                if (i % 20 == 0) {
                    trainer.stream.synchronize();
                    trainer.verify();
                }
            }
            trainer.stream.synchronize();
            trainer.verify();
            assertEquals(SLOTS, Stream.of(graphs).filter(graph -> graph != null).count());
        } finally {
            Stream.of(graphs).filter(graph -> graph != null).forEach(CudaSimulator::freeGraph);
        }
    }

    /** Keeps the capture open until the copy thread has polled for the copies in flight. */
    private static MemorySegment capture(SimulatedTrainer trainer, Batch batch) {
        long polls = CudaSimulator.calls("cudaEventQuery");
        CudaSimulator.beginCapture(trainer.stream.handle(), true);
        trainer.compute(batch, trainer.stream, 100);
        trainer.compute(batch, trainer.stream, 50);
        long end = System.nanoTime() + 20_000_000;
        while (CudaSimulator.calls("cudaEventQuery") < polls + 3 && System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        return CudaSimulator.endCapture(trainer.stream.handle());
    }

    /** A loader may be opened, and batches copied to the host, while another thread captures. */
    static void whatIsCreatedBesideACaptureIsNotForbidden() throws InterruptedException {
        try (var trainer = new SimulatedTrainer(0)) {
            CudaSimulator.beginCapture(trainer.stream.handle(), true);
            Thread other = Thread.ofPlatform().start(() -> {
                trainer.device.dedicateThread();
                try (DataLoader loader = trainer.loader().open(); Batch batch = loader.next()) {
                    assertTrue(batch.toHost().containsKey("row"));
                }
            });
            other.join();
            CudaSimulator.freeGraph(CudaSimulator.endCapture(trainer.stream.handle()));
        }
    }
}
