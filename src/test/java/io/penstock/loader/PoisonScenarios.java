// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.device.cuda.CudaSimulator;

/** What happens to closed batches on a GPU under {@code -Dpenstock.leases=paranoid}. Run by {@link Scenarios}. */
final class PoisonScenarios {

    private PoisonScenarios() {
    }

    /**
     * No batch is left to be copied, so a fourth copy to the device and those after it overwrite closed batches. The
     * simulation sees one that does not wait for the kernel.
     */
    static void closedBatchesAreOverwrittenBehindTheStreamThatUsedThem() {
        try (var trainer = new SimulatedTrainer(0);
                DataLoader loader = trainer.loader(new ByteRows(24, 128)).endEpoch(1).open()) {
            for (int i = 0; i < 3; i++) {
                try (Batch batch = loader.next(trainer.stream)) {
                    trainer.compute(batch, trainer.stream, 500);
                    trainer.look(batch, trainer.stream);
                }
            }
            CudaSimulator.awaitCopies(3 + 3 + 3, true);     // to the device, to look at, and to overwrite
            trainer.stream.synchronize();
            trainer.verify();
        }
    }
}
