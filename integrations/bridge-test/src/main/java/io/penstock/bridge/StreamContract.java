// SPDX-License-Identifier: Apache-2.0
package io.penstock.bridge;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.bridge.Bridge.Taken;
import io.penstock.device.Device;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.transform.CastTransform;
import java.lang.foreign.MemoryLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/**
 * A batch that the framework gets is complete: copies and stages, which a device's stream runs behind the loader's
 * threads, have ended, and those for later batches do not reach it. With the host's device, whose streams are threads.
 * {@link GpuContract} is for streams of a GPU.
 */
public interface StreamContract {

    /** {@return the bridge under test} */
    Bridge bridge();

    /**
     * Taking a batch waits for the stages that make it, where the framework has no stream of its own.
     *
     * @throws InterruptedException if the test is stopped
     */
    @Test
    default void aBatchHasWhatItsStagesWrite() throws InterruptedException {
        Held held = new Held();
        Thread trainer = Thread.currentThread();
        AtomicBoolean isTaken = new AtomicBoolean();
        AtomicBoolean wasTakenBefore = new AtomicBoolean();
        Thread releaser = new Thread(() -> {
            held.awaitBegin();
            while (!isTaken.get() && trainer.getState() == Thread.State.RUNNABLE) {
                Thread.onSpinWait();
            }
            wasTakenBefore.set(isTaken.get());
            held.release();
        }, "releases the stage");
        try (Device device = Device.host(); DataLoader loader = loader(device, held)) {
            releaser.start();
            for (int i = 0; i < 6; i++) {
                try (Taken taken = bridge().take(loader)) {
                    isTaken.set(true);
                    assertRows(2 * i, taken);
                }
            }
        } finally {
            held.release();
            releaser.join();
        }
        assertEquals(false, wasTakenBefore.get(), "the batch was taken before its stage had run");
    }

    /** While a batch is open, stages of later batches write elsewhere. */
    @Test
    default void stagesOfLaterBatchesLeaveAnOpenOneAlone() {
        Held free = new Held();
        free.release();
        try (Device device = Device.host(); DataLoader loader = loader(device, free);
                Taken open = bridge().take(loader)) {
            byte[] before = open.bytes("row");
            for (int i = 1; i < 4 * loader.memory().deviceSlots(); i++) {
                try (Taken taken = bridge().take(loader)) {
                    assertRows(2 * i, taken);
                }
                assertArrayEquals(before, open.bytes("row"));
            }
            assertRows(0, open);
        }
    }

    private static void assertRows(long sample, Taken taken) {
        DoubleBuffer row = ByteBuffer.wrap(taken.bytes("row")).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer();
        for (int at = 0; at < 2 * 4; at++) {
            assertEquals((sample + at / 4) % 200 + at % 4, row.get(at));
        }
    }

    private static DataLoader loader(Device device, Held held) {
        return DataLoader.builder(Samples.rows(200, 4)).batchSize(2).prefetch(2).workers(1).device(device)
                .onDevice(held).onDevice(CastTransform.stage("row", DType.F64)).open();
    }

    /** Widens ids to the same, and until it is released, holds back the stream that it is on. */
    final class Held implements DeviceStage {

        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);
        private final DeviceStage ids = CastTransform.stage("id", DType.I64);
        private final Kernel wait = new Kernel("wait", MemoryLayout.structLayout(JAVA_LONG.withName("unused")), _ -> {
            begun.countDown();
            await(released);
        });

        Held() {
        }

        void awaitBegin() {
            await(begun);
        }

        void release() {
            begun.countDown();
            released.countDown();
        }

        private static void await(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public OpenStage open(Device device, SlabLayout fields) {
            OpenStage inner = ids.open(device, fields);
            return new OpenStage() {
                @Override
                public SlabLayout outputs() {
                    return inner.outputs();
                }

                @Override
                public void enqueue(DeviceStream stream, DeviceFields inputs, DeviceFields outputs) {
                    stream.launch(wait, 1, wait.newArguments());
                    inner.enqueue(stream, inputs, outputs);
                }

                @Override
                public void close() {
                    inner.close();
                }
            };
        }
    }
}
