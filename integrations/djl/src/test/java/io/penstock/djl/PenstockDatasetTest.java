// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.util.passthrough.PassthroughNDManager;
import io.penstock.collate.PackedLm;
import io.penstock.collate.Pad;
import io.penstock.dataset.Documents;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.Packing;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.LeaseMode;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.store.TokenStore;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Batches of a loader as DJL's, with the real PyTorch engine on the CPU. */
class PenstockDatasetTest {

    private NDManager manager;

    @BeforeEach
    void openManager() {
        manager = NDManager.newBaseManager();
    }

    @AfterEach
    void closeManager() {
        manager.close();
    }

    // ---- values

    @ParameterizedTest
    @EnumSource(value = DType.class, mode = EnumSource.Mode.EXCLUDE, names = "U64")
    void everyDTypeArrivesWithItsValues(DType dtype) throws Exception {
        for (boolean copied : new boolean[] {false, true}) {
            try (DataLoader plain = DataLoader.builder(Samples.ofBytes(6, dtype, 3, 5)).batchSize(2).open();
                    DataLoader loader = DataLoader.builder(Samples.ofBytes(6, dtype, 3, 5)).batchSize(2).open()) {
                PenstockDataset dataset = PenstockDataset.of(loader).data("x");
                int batches = 0;
                for (Batch batch : (copied ? dataset.copied() : dataset).getData(manager)) {
                    try (batch; io.penstock.loader.Batch expected = plain.next()) {
                        NDArray x = batch.getData().singletonOrThrow();
                        assertEquals(new Shape(2, 3, 5), x.getShape());
                        assertSameValues(expected.tensor("x"), x);
                    }
                    batches++;
                }
                assertEquals(3, batches);
            }
        }
    }

    @Test
    void dTypesThatDjlCannotNameAreWidened() throws Exception {
        assertEquals(DataType.INT32, typeOf(DType.U16));
        assertEquals(DataType.INT32, typeOf(DType.I16));
        assertEquals(DataType.INT64, typeOf(DType.U32));
        assertEquals(DataType.FLOAT32, typeOf(DType.BF16));
        assertEquals(DataType.FLOAT32, typeOf(DType.F8E4M3));
        assertEquals(DataType.FLOAT32, typeOf(DType.F8E5M2));
        assertEquals(DataType.FLOAT16, typeOf(DType.F16));
        assertEquals(DataType.UINT8, typeOf(DType.U8));
        assertEquals(DataType.BOOLEAN, typeOf(DType.BOOL));
    }

    private DataType typeOf(DType dtype) throws Exception {
        try (DataLoader loader = DataLoader.builder(Samples.ofBytes(2, dtype, 3)).batchSize(2).open();
                Batch batch = PenstockDataset.of(loader).getData(manager).iterator().next()) {
            NDArray x = batch.getData().get("x");
            // What torch says of an array that it computed from it
            assertEquals(x.getDataType(), x.duplicate().getDataType());
            return x.getDataType();
        }
    }

    @Test
    void aFieldTakesTheTypeThatIsNamed() throws Exception {
        try (DataLoader loader = DataLoader.builder(Samples.ofBytes(2, DType.U8, 4)).batchSize(2).open();
                DataLoader plain = DataLoader.builder(Samples.ofBytes(2, DType.U8, 4)).batchSize(2).open();
                Batch batch = PenstockDataset.of(loader).as("x", DataType.FLOAT32).getData(manager).iterator().next();
                io.penstock.loader.Batch expected = plain.next()) {
            assertEquals(DataType.FLOAT32, batch.getData().get(0).getDataType());
            assertSameValues(expected.tensor("x"), batch.getData().get(0));
        }
    }

    @Test
    void u64IsRefusedByNameUnlessATypeIsNamed() throws Exception {
        try (DataLoader loader = DataLoader.builder(Samples.ofBytes(2, DType.U64, 4)).batchSize(2).open();
                DataLoader plain = DataLoader.builder(Samples.ofBytes(2, DType.U64, 4)).batchSize(2).open()) {
            String refused = assertThrows(UnsupportedOperationException.class,
                    () -> PenstockDataset.of(loader).getData(manager)).getMessage();
            assertTrue(refused.startsWith("field x: u64[2,4]: ") && refused.contains("as(\"x\", DataType.INT64)"),
                    refused);
            try (Batch batch = PenstockDataset.of(loader).as("x", DataType.INT64).getData(manager).iterator().next();
                    io.penstock.loader.Batch expected = plain.next()) {
                long[] bits = expected.tensor("x").segment().toArray(ValueLayout.JAVA_LONG_UNALIGNED);
                assertArrayEquals(bits, batch.getData().get(0).toLongArray());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(LeaseMode.class)
    void lengthsThatVaryGiveShapesThatVary(LeaseMode leases, @TempDir Path folder) throws Exception {
        Path corpus = Corpus.write(folder, 7, 3, 5, 9, 2, 8, 8, 4, 2);
        try (TokenStore store = TokenStore.open(corpus);
                DataLoader loader = DataLoader.builder(Documents.of(store)).batchSize(2).prefetch(1)
                        .collator(Pad.toLongest(DType.I64, 0)).leases(leases).open()) {
            List<Shape> shapes = new ArrayList<>();
            for (Batch batch : PenstockDataset.of(loader).data("input_ids").labels("attention_mask").getData(manager)) {
                try (batch) {
                    shapes.add(batch.getData().get(0).getShape());
                    assertEquals(batch.getData().get(0).getShape(), batch.getLabels().get(0).getShape());
                    assertEquals((Long) batch.getIndices().getFirst() * 100, batch.getData().get(0).toLongArray()[0]);
                }
            }
            assertEquals(List.of(new Shape(2, 7), new Shape(2, 9), new Shape(2, 8), new Shape(2, 8), new Shape(1, 2)),
                    shapes);
        }
    }

    // ---- memory

    @Test
    void anAliasHasTheAddressOfTheSlotAndACopyHasNot() throws Exception {
        try (DataLoader loader = indices(1000).open()) {
            Set<Long> slots = new HashSet<>();
            List<io.penstock.loader.Batch> lent = new ArrayList<>();
            for (int i = 0; i < loader.memory().hostSlots(); i++) {
                lent.add(loader.next());
                slots.add(lent.getLast().address("row"));
            }
            lent.forEach(io.penstock.loader.Batch::close);
            Iterator<Batch> aliases = PenstockDataset.of(loader).data("row").getData(manager).iterator();
            Iterator<Batch> copies = PenstockDataset.of(loader).data("row").copied().getData(manager).iterator();
            for (int i = 0; i < 20; i++) {
                try (Batch alias = aliases.next()) {
                    assertTrue(slots.contains(address(alias.getData().get(0))));
                }
                try (Batch copy = copies.next()) {
                    assertFalse(slots.contains(address(copy.getData().get(0))));
                }
            }
        }
    }

    @Test
    void closingTheBatchReleasesItsArraysAndReturnsTheSlot() throws Exception {
        try (DataLoader loader = indices(64).open()) {
            int slots = freeSlots(loader);
            Batch batch = PenstockDataset.of(loader).data("row").labels("id").getData(manager).iterator().next();
            NDArray row = batch.getData().get(0);
            NDArray computed = row.add(1);
            assertEquals(slots - 1, freeSlots(loader));
            batch.close();
            batch.close();
            assertThrows(IllegalStateException.class, row::toLongArray);
            assertThrows(IllegalStateException.class, computed::toLongArray);
            assertEquals(slots, freeSlots(loader));
        }
    }

    @Test
    void closingAManagerAboveReturnsTheSlot() throws Exception {
        try (DataLoader loader = indices(64).open()) {
            int slots = freeSlots(loader);
            NDManager above = manager.newSubManager();
            Batch batch = PenstockDataset.of(loader).getData(above).iterator().next();
            batch.split(new Device[] {Device.cpu()}, false);
            assertEquals(slots - 1, freeSlots(loader));
            above.close();
            assertEquals(slots, freeSlots(loader));
            batch.close();
            assertEquals(slots, freeSlots(loader));
        }
    }

    @Test
    void anArrayThatIsKeptBeyondItsBatchGetsMemoryOfItsOwn() throws Exception {
        for (boolean detached : new boolean[] {false, true}) {
            try (DataLoader loader = indices(64).open()) {
                Iterator<Batch> batches = PenstockDataset.of(loader).data("row").getData(manager).iterator();
                Batch first = batches.next();
                NDArray kept = first.getData().get(0);
                long[] values = kept.toLongArray();
                if (detached) {
                    kept.detach();
                } else {
                    kept.attach(manager);
                }
                first.close();
                while (batches.hasNext()) {
                    batches.next().close();
                }
                assertArrayEquals(values, kept.toLongArray());
                kept.close();
            }
        }
    }

    @Test
    void copiedBatchesHoldNoSlotAndAreClosedByAnyThread() throws Exception {
        List<Batch> all = new ArrayList<>();
        try (DataLoader loader = indices(64).open()) {
            for (Batch batch : PenstockDataset.of(loader).data("id").copied().getData(manager)) {
                all.add(batch);
            }
            assertTrue(all.size() > loader.memory().hostSlots());
        }
        List<Long> ids = new ArrayList<>();
        all.forEach(batch -> LongStream.of(batch.getData().get(0).toLongArray()).forEach(ids::add));
        assertEquals(LongStream.range(0, 64).boxed().toList(), ids);
        CompletableFuture.runAsync(() -> all.forEach(Batch::close)).join();
        assertEquals(List.of(), manager.getManagedArrays());
    }

    @Test
    void sharedLeasesAreClosedByAnyThreadAndConfinedOnesByTheirOwn() throws Exception {
        try (DataLoader loader = indices(64).leases(LeaseMode.SHARED).open()) {
            Batch batch = PenstockDataset.of(loader).getData(manager).iterator().next();
            CompletableFuture.runAsync(batch::close).join();
            List<io.penstock.loader.Batch> all = new ArrayList<>();
            for (int i = 0; i < loader.memory().hostSlots(); i++) {
                all.add(loader.next());     // would wait for a slot that is not returned
            }
            all.forEach(io.penstock.loader.Batch::close);
        }
        try (DataLoader loader = indices(64).open()) {
            int slots = freeSlots(loader);
            Batch batch = PenstockDataset.of(loader).getData(manager).iterator().next();
            Thread thread = new Thread(() -> assertThrows(WrongThreadException.class, batch::close));
            thread.start();
            thread.join();
            assertEquals(slots - 1, freeSlots(loader));
            batch.close();
            assertEquals(slots, freeSlots(loader));
        }
    }

    // ---- order, sizes, progress

    @Test
    void anEpochHasEachSampleOnceWithItsIndexAndProgress() throws Exception {
        try (DataLoader loader = indices(10).shuffle(7).open()) {
            Dataset dataset = PenstockDataset.of(loader).data("row").labels("id");
            List<List<Long>> epochs = new ArrayList<>();
            for (int epoch = 0; epoch < 2; epoch++) {
                List<Long> ids = new ArrayList<>();
                long progress = 0;
                for (Batch batch : dataset.getData(manager)) {
                    try (batch) {
                        progress++;
                        assertEquals(progress, batch.getProgress());
                        assertEquals(3, batch.getProgressTotal());
                        assertEquals(progress == 3 ? 2 : 4, batch.getSize());
                        assertEquals(batch.getSize(), batch.getData().get(0).size(0));
                        List<Long> labels = LongStream.of(batch.getLabels().get("id").toLongArray()).boxed().toList();
                        assertEquals(labels, batch.getIndices());
                        assertEquals(labels.getFirst() * 1000, batch.getData().get("row").toLongArray()[0]);
                        ids.addAll(labels);
                    }
                }
                epochs.add(ids);
                assertEquals(10, new HashSet<>(ids).size());
            }
            assertFalse(epochs.get(0).equals(epochs.get(1)));
        }
    }

    @Test
    void aResumedLoaderGivesTheRestOfItsEpochFirst() throws Exception {
        try (DataLoader first = indices(40).shuffle(7).open()) {
            Iterator<Batch> batches = PenstockDataset.of(first).getData(manager).iterator();
            for (int i = 0; i < 4; i++) {
                batches.next().close();
            }
            try (DataLoader resumed = indices(40).shuffle(7).resume(first.state()).open()) {
                int rest = 0;
                for (Batch batch : PenstockDataset.of(resumed).getData(manager)) {
                    try (batch; Batch expected = batches.next()) {
                        assertEquals(expected.getIndices(), batch.getIndices());
                        assertEquals(expected.getProgress(), batch.getProgress());
                        assertEquals(10, batch.getProgressTotal());
                    }
                    rest++;
                }
                assertEquals(6, rest);
                assertFalse(batches.hasNext());
            }
        }
    }

    @Test
    void validRowsCountEachSampleOnceOverAllRanks() throws Exception {
        List<Long> ids = new ArrayList<>();
        for (int rank = 0; rank < 3; rank++) {
            try (DataLoader loader = indices(13).shard(new Shard(rank, 3, TailPolicy.EXACT)).open()) {
                for (Batch batch : PenstockDataset.of(loader).data("row").labels("id").validRows().getData(manager)) {
                    try (batch) {
                        assertEquals(new Shape(batch.getSize(), 3), batch.getData().get(0).getShape());
                        LongStream.of(batch.getLabels().get(0).toLongArray()).forEach(ids::add);
                    }
                }
            }
        }
        assertEquals(LongStream.range(0, 13).boxed().toList(), ids.stream().sorted().toList());
    }

    @Test
    void withoutNamesDataAreAllFieldsButTheLabels() throws Exception {
        try (DataLoader loader = indices(8).open()) {
            try (Batch batch = PenstockDataset.of(loader).getData(manager).iterator().next()) {
                assertEquals(List.of("id", "row"), batch.getData().stream().map(NDArray::getName).toList());
                assertEquals(0, batch.getLabels().size());
            }
            try (Batch batch = PenstockDataset.of(loader).labels("id").getData(manager).iterator().next()) {
                assertEquals(List.of("row"), batch.getData().stream().map(NDArray::getName).toList());
                assertEquals(List.of("id"), batch.getLabels().stream().map(NDArray::getName).toList());
            }
        }
    }

    // ---- misuse

    @Test
    void misuseIsNamed() throws Exception {
        try (DataLoader loader = indices(8).name("train").endEpoch(1).open()) {
            PenstockDataset dataset = PenstockDataset.of(loader);
            assertMessage("data: no field 'rows' in batches of loader 'train', expected one of [id, row]",
                    IllegalArgumentException.class, () -> dataset.data("rows"));
            assertMessage("labels: no field 'ids' in batches of loader 'train', expected one of [id, row]",
                    IllegalArgumentException.class, () -> dataset.labels("ids"));
            assertMessage("data: field 'row' named twice", IllegalArgumentException.class,
                    () -> dataset.data("row", "row"));
            assertMessage("data: no field named, expected one or more of [id, row]", IllegalArgumentException.class,
                    dataset::data);
            assertMessage("data: all fields are labels [id, row], expected one or more others",
                    IllegalArgumentException.class, () -> dataset.labels("id", "row").getData(manager));
            assertMessage("as: row: found bfloat16, which DJL's PyTorch engine cannot name; expected one of",
                    IllegalArgumentException.class, () -> dataset.as("row", DataType.BFLOAT16));
            assertMessage("manager: found a ai.djl.util.passthrough.PassthroughNDManager, expected one of DJL's",
                    IllegalArgumentException.class, () -> dataset.getData(PassthroughNDManager.INSTANCE));
            for (Batch batch : dataset.getData(manager)) {
                batch.close();
            }
            assertMessage("loader 'train' has given its last epoch, 0; set a later endEpoch, or seek",
                    IllegalStateException.class, () -> dataset.getData(manager));
        }
        try (DataLoader loader = indices(8).open()) {
            Iterator<Batch> batches = PenstockDataset.of(loader).getData(manager).iterator();
            while (batches.hasNext()) {
                batches.next().close();
            }
            assertThrows(NoSuchElementException.class, batches::next);
        }
    }

    @Test
    void rowsOfAFieldThatHasOthersCannotBeLeftOut(@TempDir Path folder) throws Exception {
        Path corpus = Corpus.write(folder, 7, 3, 5, 9, 2, 6);
        try (TokenStore store = TokenStore.open(corpus);
                PackedSequences packed = Packing.of(Documents.of(store), 8).pack();
                DataLoader loader = DataLoader.builder(packed).collator(PackedLm.of(DType.I64)).batchSize(2)
                        .open()) {
            assertMessage("field 'cu_seqlens': found shape ", UnsupportedOperationException.class,
                    () -> PenstockDataset.of(loader).validRows().getData(manager).iterator().next());
            int slots = freeSlots(loader);
            try (Batch batch = PenstockDataset.of(loader).data("input_ids", "cu_seqlens").getData(manager).iterator()
                    .next()) {
                assertEquals(new Shape(2, 8), batch.getData().get("input_ids").getShape());
            }
            assertEquals(slots, freeSlots(loader));
        }
    }

    // ---- support

    private static DataLoaderBuilder indices(long size) {
        return DataLoader.builder(Samples.ofIndices(size, 3)).batchSize(4).workers(1).prefetch(2);
    }

    /** How many batches can be taken before the loader says that none is left. */
    private static int freeSlots(DataLoader loader) {
        List<io.penstock.loader.Batch> taken = new ArrayList<>();
        try {
            while (true) {
                taken.add(loader.next());
            }
        } catch (IllegalStateException e) {
            assertTrue(e.getMessage().contains("slots"), e::getMessage);
            return taken.size();
        } finally {
            taken.forEach(io.penstock.loader.Batch::close);
        }
    }

    private static long address(NDArray array) {
        return MemorySegment.ofBuffer(array.toByteBuffer(true)).address();
    }

    private static void assertMessage(String start, Class<? extends Exception> type,
            Executable misuse) {
        String message = assertThrows(type, misuse).getMessage();
        assertTrue(message.startsWith(start), message);
    }

    /** Of the engine's reading of each dtype and torch's. */
    private static void assertSameValues(Tensor expected, NDArray array) {
        DType dtype = switch (array.getDataType()) {
            case FLOAT16 -> DType.F16;
            case FLOAT32 -> DType.F32;
            case FLOAT64 -> DType.F64;
            case UINT8 -> DType.U8;
            case INT8 -> DType.I8;
            case INT32 -> DType.I32;
            case INT64 -> DType.I64;
            case BOOLEAN -> DType.BOOL;
            default -> throw new AssertionError(array.getDataType());
        };
        byte[] bytes = new byte[(int) expected.elementCount() * dtype.byteSize()];
        array.toByteBuffer().get(bytes);
        Tensor found = Tensor.of(MemorySegment.ofArray(bytes), dtype, array.getShape().getShape());
        for (long i = 0; i < expected.elementCount(); i++) {
            assertEquals(expected.getDouble(i), found.getDouble(i), expected + " at " + i);
            if (!expected.dtype().isFloat() && !found.dtype().isFloat()) {
                assertEquals(expected.getLong(i), found.getLong(i));
            }
        }
    }
}
