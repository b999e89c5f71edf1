// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.device.Device;
import io.penstock.device.cuda.CudaSimulator;
import java.io.IOException;

/** Programs that end while copies are in flight, each in its way. Run by {@link TransferSimulationTest}. */
public final class ExitProgram {

    private ExitProgram() {
    }

    /**
     * Trains, and ends.
     *
     * @param way how
     * @throws Exception if that is the way
     */
    public static void main(String[] way) throws Exception {
        switch (way[0]) {
            case "exit" -> train(() -> System.exit(7));
            case "halt" -> train(() -> Runtime.getRuntime().halt(8));
            case "signal" -> train(ExitProgram::terminate);
            case "exception" -> train(() -> {
                throw new IllegalStateException("the trainer failed");
            });
            case "clean" -> train(() -> { });
            case "leak" -> Device.cuda(0).openStream("left open");
            default -> throw new IllegalArgumentException(way[0]);
        }
    }

    private static void train(Runnable end) {
        try (var trainer = new SimulatedTrainer(0)) {
            CudaSimulator.setSpeed(0, 2_000);
            try (DataLoader loader = trainer.loader().open()) {
                for (int i = 0; i < 20; i++) {
                    Batch batch = loader.next(trainer.stream);
                    try (batch) {
                        trainer.compute(batch, trainer.stream, 1_000);
                    }
                }
                end.run();
            }
        }
    }

    private static void terminate() {
        try {
            new ProcessBuilder("kill", "-TERM", Long.toString(ProcessHandle.current().pid())).start().waitFor();
            Thread.sleep(30_000);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
