package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.device.cuda.CudaSimulator;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** What a closed batch on a GPU holds under {@code -Dpenstock.leases=paranoid}. Run by {@link Scenarios}. */
final class PoisonScenarios {

    private static final byte POISON = (byte) 0xEF;

    private PoisonScenarios() {
    }

    /** Every slot is closed and no batch is left to be copied, so without poison all bytes would stay. */
    static void aClosedBatchIsOverwrittenBehindTheStreamThatUsedIt() throws InterruptedException {
        try (var trainer = new SimulatedTrainer(0);
                DataLoader loader = trainer.loader(new ByteRows(24, 128)).endEpoch(1).open()) {
            long[] addresses = new long[3];
            for (int i = 0; i < addresses.length; i++) {
                try (Batch batch = loader.next(trainer.stream)) {
                    addresses[i] = batch.address("row");
                    trainer.compute(batch, trainer.stream, 500);
                    trainer.look(batch, trainer.stream);
                }
            }
            trainer.stream.synchronize();
            trainer.verify();
            for (long address : addresses) {
                MemorySegment memory = at(address, 8 * 128);
                while (memory.get(ValueLayout.JAVA_BYTE, 8 * 128 - 1) != POISON) {
                    Thread.sleep(1);                    // until it is overwritten; the run has a deadline
                }
                assertEquals(-1, memory.mismatch(poison(8 * 128)));
            }
        }
    }

    @SuppressWarnings("restricted")
    private static MemorySegment at(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    private static MemorySegment poison(int bytes) {
        return MemorySegment.ofArray(new byte[bytes]).fill(POISON);
    }
}
