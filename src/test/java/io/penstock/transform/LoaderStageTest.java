// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.CausalLm;
import io.penstock.collate.Pad;
import io.penstock.dataset.Documents;
import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.LeaseMode;
import io.penstock.loader.TransferMode;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.testing.MemoryTokenStore;
import io.penstock.transform.TokenStage.Output;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stages that a loader runs: what the trainer sees, and when they are closed. */
class LoaderStageTest {
    private static final int LENGTH = 64;
    private static final int BATCH = 8;
    /** The last batch of an epoch has two. */
    private static final int SAMPLES = 50;

    private final MemoryTokenStore store = new MemoryTokenStore(DType.U16, SAMPLES * LENGTH + 1);

    @AfterEach
    void close() {
        store.close();
    }

    private DataLoaderBuilder narrow() {
        return DataLoader.builder(TokenWindows.of(store, LENGTH)).collator(CausalLm.narrow()).batchSize(BATCH)
                .shuffle(1)
                .endEpoch(2);
    }

    private DataLoader wide() {
        return DataLoader.builder(TokenWindows.of(store, LENGTH)).collator(CausalLm.widened(DType.I64))
                .batchSize(BATCH).shuffle(1).endEpoch(2).open();
    }

    private static void same(Tensor expected, Tensor found) {
        assertEquals(expected.toString(), found.toString());
        assertEquals(-1, expected.segment().mismatch(found.segment()));
    }

    private static int compare(DataLoader expected, DataLoader found) {
        int batches = 0;
        for (; expected.hasNext(); batches++) {
            try (Batch wide = expected.next(); Batch batch = found.next()) {
                assertEquals(wide.sample(0), batch.sample(0));
                same(wide.tensor("input_ids"), batch.tensor("input_ids"));
                same(wide.tensor("labels"), batch.tensor("labels"));
            }
        }
        assertFalse(found.hasNext());
        return batches;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void narrowBatchesWidenedByAStageAreTheBatchesWidenedByTheCollator(int workers) {
        for (LeaseMode leases : LeaseMode.values()) {
            try (DataLoader wide = wide();
                    DataLoader staged = narrow().onDevice(TokenStage.of(DType.I64)).workers(workers).leases(leases)
                            .open()) {
                assertEquals(14, compare(wide, staged));
            }
        }
    }

    @Test
    void aResumedLoaderGoesOnWithTheSameOutputs() {
        try (DataLoader wide = wide(); DataLoader first = narrow().onDevice(TokenStage.of(DType.I64)).open()) {
            for (int i = 0; i < 5; i++) {
                first.next().close();
                wide.next().close();
            }
            try (DataLoader second = narrow().onDevice(TokenStage.of(DType.I64)).resume(first.state()).open()) {
                assertEquals(9, compare(wide, second));
            }
        }
    }

    @Test
    void outputsAreFieldsBesideThoseThatWereCopied() {
        try (DataLoader loader = narrow().onDevice(TokenStage.of(DType.I64)).open(); Batch batch = loader.next()) {
            assertEquals("[tokens: u16[8,65], input_ids: i64[8,64], labels: i64[8,64]]", batch.fields().toString());
            assertEquals(batch.fields(), loader.layout().fields());
            assertEquals(0, batch.address("input_ids") % SlabLayout.ALIGNMENT_BYTES);
            assertEquals(batch.address("labels") - batch.address("tokens"), batch.offset("labels"));
            assertEquals(batch.offset("labels") + BATCH * LENGTH * Long.BYTES, batch.byteSize());
            assertEquals(batch.byteSize(), batch.segment().byteSize());
            assertEquals(batch.tensor("tokens").getLong(1), batch.tensor("labels").getLong(0));
        }
    }

    @Test
    void anOutputWithTheNameOfAFieldReplacesItForTheStagesBehindAndTheTrainer() {
        DeviceStage tokens = TokenStage.of(DType.I32);
        try (DataLoader wide = wide();
                DataLoader chained = narrow().onDevice(CastTransform.stage("tokens", DType.U32)).onDevice(tokens)
                        .onDevice(CastTransform.stage("input_ids", DType.I64))
                        .onDevice(CastTransform.stage("labels", DType.I64)).open()) {
            assertEquals("[tokens: u32[8,65], input_ids: i64[8,64], labels: i64[8,64]]",
                    chained.layout().fields().toString());
            assertEquals(14, compare(wide, chained));
        }
    }

    @Test
    void outputsHaveTheShapesOfTheirBatch() {
        try (var texts = new MemoryTokenStore(DType.U16, new long[] {0, 5, 12, 40, 41, 100});
                DataLoader plain = padded(texts).open();
                DataLoader staged = padded(texts).onDevice(CastTransform.stage("input_ids", DType.I64)).open()) {
            int lengths = 0;
            while (plain.hasNext()) {
                try (Batch expected = plain.next(); Batch batch = staged.next()) {
                    Tensor ids = batch.tensor("input_ids");
                    assertEquals("i64" + expected.tensor("input_ids").toString().substring("i32".length()),
                            ids.toString());
                    lengths |= 1 << ids.dim(1) % 31;
                    for (long i = 0; i < ids.elementCount(); i++) {
                        assertEquals(expected.tensor("input_ids").getLong(i), ids.getLong(i));
                    }
                    same(expected.tensor("lengths"), batch.tensor("lengths"));
                }
            }
            assertTrue(Integer.bitCount(lengths) > 1, "batches of one length only");
        }
    }

    private static DataLoaderBuilder padded(MemoryTokenStore texts) {
        return DataLoader.builder(Documents.of(texts)).collator(Pad.toLongest(DType.I32, 0)).batchSize(2)
                .endEpoch(1);
    }

    @Test
    void theLoadersMemoryCountsTheOutputs() {
        long copied = SlabLayout.align(BATCH * (LENGTH + 1) * 2);
        try (DataLoader plain = narrow().transfer(TransferMode.COPY).open();
                DataLoader staged = narrow().onDevice(TokenStage.of(DType.I64)).open()) {
            assertEquals(3 * copied, plain.memory().deviceBytes());
            assertEquals(copied, staged.memory().slabBytes());
            assertEquals(3 * (copied + 2 * BATCH * LENGTH * Long.BYTES), staged.memory().deviceBytes());
        }
    }

    @Test
    void batchesWithStagesAreNotLentInPlace() {
        assertEquals("transfer with stages: in place, expected copy, as stages run behind the copy",
                assertThrows(IllegalArgumentException.class, () -> narrow().onDevice(TokenStage.of(DType.I64))
                        .transfer(TransferMode.IN_PLACE).open()).getMessage());
    }

    // ---- stages of a test's own

    /** Says when it ran and was closed; the device is held up until it may run. */
    private static final class Recording implements DeviceStage {
        private static final StructLayout WORDS = MemoryLayout.structLayout(ValueLayout.JAVA_LONG);

        private final List<String> events;
        private final CountDownLatch held;
        private final int failsAt;
        private boolean opens = true;

        Recording(List<String> events, CountDownLatch held, int failsAt) {
            this.events = events;
            this.held = held;
            this.failsAt = failsAt;
        }

        @Override
        public OpenStage open(Device device, SlabLayout fields) {
            if (!opens) {
                throw new IllegalStateException("does not open");
            }
            int tokens = fields.indexOf("tokens");
            var layout = SlabLayout.of(new TensorSpec("first", DType.U16, fields.fields().get(tokens).dim(0)));
            var kernel = new Kernel("held", WORDS, _ -> run());
            MemorySegment arguments = kernel.newArguments();
            return new OpenStage() {
                private int batches;

                @Override
                public SlabLayout outputs() {
                    return layout;
                }

                @Override
                public void enqueue(DeviceStream stream, DeviceFields in, DeviceFields out) {
                    if (batches++ == failsAt) {
                        throw new IllegalArgumentException("the stage fails");
                    }
                    out.setDim(0, 0, in.count());
                    stream.launch(kernel, 1, arguments);
                }

                @Override
                public void close() {
                    events.add("closed");
                }
            };
        }

        private void run() {
            events.add("begins");
            try {
                held.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            events.add("ran");
        }

        @Override
        public String toString() {
            return "recording";
        }
    }

    @Test
    void aStageThatFailsEndsTheLoaderAtItsBatch() {
        List<String> events = Collections.synchronizedList(new ArrayList<>());
        var stage = new Recording(events, new CountDownLatch(0), 3);
        try (DataLoader loader = narrow().onDevice(TokenStage.of(DType.I64)).onDevice(stage).open()) {
            IllegalStateException e = assertThrows(IllegalStateException.class, () -> {
                while (loader.hasNext()) {
                    loader.next().close();
                }
            });
            assertEquals("the loader has failed: running stage 'recording' on batch 3: the stage fails",
                    e.getMessage());
            assertEquals("the stage fails", e.getCause().getCause().getMessage());
            assertSame(e.getCause(), assertThrows(IllegalStateException.class, loader::next).getCause());
        }
        assertEquals(List.of("begins", "ran", "begins", "ran", "begins", "ran", "closed"), events);
    }

    @Test
    void stagesThatRunAtTheEndAreClosedBehindTheirWork() throws InterruptedException {
        List<String> events = Collections.synchronizedList(new ArrayList<>());
        var held = new CountDownLatch(1);
        DataLoader loader = narrow().onDevice(new Recording(events, held, -1)).deviceSlots(2).open();
        while (events.isEmpty()) {
            Thread.onSpinWait();
        }
        Thread closer = Thread.ofPlatform().start(loader::close);
        held.countDown();
        closer.join();
        assertEquals("closed", events.getLast());
        assertEquals(1, events.stream().filter("closed"::equals).count());
    }

    @Test
    void aStageThatDoesNotOpenClosesThoseBefore() {
        List<String> events = new ArrayList<>();
        var fails = new Recording(events, new CountDownLatch(0), -1);
        fails.opens = false;
        assertEquals("does not open", assertThrows(IllegalStateException.class, () -> narrow()
                .onDevice(new Recording(events, new CountDownLatch(0), -1)).onDevice(fails).open()).getMessage());
        assertEquals(List.of("closed"), events);
        String refused = assertThrows(IllegalArgumentException.class, () -> narrow()
                .onDevice(CastTransform.stage("tokens", DType.F32))
                .onDevice(TokenStage.of(DType.I64).outputs(Output.LABELS)).open()).getMessage();
        assertTrue(refused.startsWith("stage 'tokens to ") && refused.contains("found tokens: f32[8,65]"), refused);
    }
}
