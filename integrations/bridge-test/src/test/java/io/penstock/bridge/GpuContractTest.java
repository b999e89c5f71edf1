// SPDX-License-Identifier: Apache-2.0
package io.penstock.bridge;

import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.bridge.Bridge.Alias;
import io.penstock.device.DeviceStream;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The engine's own batches keep the contract of streams, and bridges with one mistake each do not. */
class GpuContractTest implements GpuContract {

    @Override
    public Class<? extends StreamBridge> onGpu() {
        return Plain.class;
    }

    @Test
    void aBridgeThatForgetsItsStreamIsFound(@TempDir Path folder) throws IOException, InterruptedException {
        assertViolation(GpuContract.run(folder, WithoutStream.class, GpuChecks.Check.BATCH_AFTER_BATCH));
    }

    @Test
    void aBridgeThatClosesBeforeItsWorkIsEnqueuedIsFound(@TempDir Path folder)
            throws IOException, InterruptedException {
        assertViolation(GpuContract.run(folder, ClosedAtOnce.class, GpuChecks.Check.BATCH_AFTER_BATCH));
    }

    @Test
    void aBridgeThatGivesOtherMemoryIsFound(@TempDir Path folder) throws IOException, InterruptedException {
        GpuContract.Outcome outcome = GpuContract.run(folder, WithAnotherAddress.class,
                GpuChecks.Check.BATCH_AFTER_BATCH);
        assertNotEquals(0, outcome.status(), outcome.output());
        assertTrue(outcome.output().contains("which is not allocated on its device"), outcome.output());
    }

    private static void assertViolation(GpuContract.Outcome outcome) {
        assertNotEquals(0, outcome.status(), outcome.output());
        assertTrue(outcome.output().contains("violations of CUDA's rules"), outcome.output());
    }

    /** The engine's batch, as a framework would have it that has no objects of its own. */
    private record Lent(Batch batch, long at) implements Alias {

        @Override
        public long address(String field) {
            return at;
        }

        @Override
        public void close() {
            batch.close();
        }

        @Override
        public long[] shape(String field) {
            throw new UnsupportedOperationException();
        }

        @Override
        public byte[] bytes(String field) {
            throw new UnsupportedOperationException();
        }

        @Override
        public double[] values(String field) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Runnable view(String field) {
            throw new UnsupportedOperationException();
        }
    }

    /** Without a mistake. */
    public static final class Plain implements StreamBridge {

        /** Called by the contract. */
        public Plain() {
        }

        @Override
        public Alias take(DataLoader loader, DeviceStream stream) {
            Batch batch = loader.next(stream);
            return new Lent(batch, batch.address("row"));
        }
    }

    /** Waits for the batch, but does not say which stream will use it. */
    public static final class WithoutStream implements StreamBridge {

        /** Called by the contract. */
        public WithoutStream() {
        }

        @Override
        public Alias take(DataLoader loader, DeviceStream stream) {
            Batch batch = loader.next();
            return new Lent(batch, batch.address("row"));
        }
    }

    /** Returns the slot before the framework has enqueued its work. */
    public static final class ClosedAtOnce implements StreamBridge {

        /** Called by the contract. */
        public ClosedAtOnce() {
        }

        @Override
        public Alias take(DataLoader loader, DeviceStream stream) {
            try (Batch batch = loader.next(stream)) {
                return new Lent(batch, batch.address("row"));
            }
        }
    }

    /** Has the framework read the host's memory. */
    public static final class WithAnotherAddress implements StreamBridge {

        /** Called by the contract. */
        public WithAnotherAddress() {
        }

        @Override
        public Alias take(DataLoader loader, DeviceStream stream) {
            return new Lent(loader.next(stream), 4096);
        }
    }
}
