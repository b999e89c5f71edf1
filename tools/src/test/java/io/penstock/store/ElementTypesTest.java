// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.StackAndPad;
import io.penstock.convert.Conversion;
import io.penstock.convert.ConversionException;
import io.penstock.dataset.Cached;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.dataset.TensorRows;
import io.penstock.dataset.source.SampleMap;
import io.penstock.decode.Decoder;
import io.penstock.internal.Sha256;
import io.penstock.io.Location;
import io.penstock.io.ReadMode;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.integrity.Verification;
import io.penstock.testing.MemoryRecordStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Element types that few files have, as the formats' own libraries read them: {@code element_types.py} wrote both. */
class ElementTypesTest {

    private static final Path HOME = Truth.written("element_types");

    @TempDir
    private Path folder;

    private static Map<String, Object> truth(String part) throws IOException {
        return Json.object(Json.object(Json.parse(Files.readAllBytes(HOME.resolve("truth.json")))).get(part));
    }

    private static List<Long> numbers(Object list) {
        return Json.array(list).stream().map(number -> ((Number) number).longValue()).toList();
    }

    private static List<Long> values(Tensor tensor) {
        return LongStream.range(0, tensor.elementCount()).map(tensor::getLong).boxed().toList();
    }

    @TestFactory
    Stream<DynamicTest> everyByteBut0IsTrueAndABatchHas1() throws IOException {
        return truth("truths").entrySet().stream().map(entry -> DynamicTest.dynamicTest(entry.getKey(), () -> {
            try (TensorStore store = TensorStore.open(HOME.resolve(entry.getKey()))) {
                assertTruths(numbers(entry.getValue()), store);
            }
        }));
    }

    @Test
    void bytesThatAreToldToBeTruthValuesAreSoToo() throws IOException {
        List<Long> expected = numbers(truth("truths").get("truths.npy"));
        byte[] file = Files.readAllBytes(HOME.resolve("truths.npy"));
        Path raw = Files.write(folder.resolve("truths"), Arrays.copyOfRange(file, 128, file.length));
        try (Store store = Store.open(raw, OpenOptions.DEFAULT.withFormat("raw").withDType(DType.BOOL)
                .withShape(List.of(-1L, 5L)))) {
            assertTruths(expected, (TensorStore) store);
        }
    }

    private static void assertTruths(List<Long> expected, TensorStore store) throws IOException {
        assertEquals(DType.BOOL, store.tensors().getFirst().dtype());
        assertEquals(expected, values(store.tensor(0)));
        Dataset rows = TensorRows.of("truths", store);
        for (ReadMode mode : ReadMode.values()) {
            assertBatches(expected, rows, mode, false);
            assertBatches(expected, rows, mode, true);
        }
        assertBatches(expected, rows.map("truths", new TensorSpec("truths", DType.U8, 5), "copy", COPY),
                ReadMode.AUTO, false);
        try (Cached cached = rows.cache("truths")) {
            assertBatches(expected, cached, ReadMode.AUTO, false);
        }
    }

    /** Takes over the bytes that it is given, from wherever they are. */
    private static final SampleMap COPY = new SampleMap() {
        @Override
        public void map(Tensor in, RandomGenerator random, Tensor out) {
            out.segment().copyFrom(in.segment());
        }

        @Override
        public boolean readsInPlace() {
            return true;
        }
    };

    private static void assertBatches(List<Long> expected, Dataset dataset, ReadMode mode, boolean shuffled) {
        var builder = DataLoader.builder(dataset).batchSize(3).readMode(mode).endEpoch(1);
        try (DataLoader loader = (shuffled ? builder.shuffle(5) : builder).open()) {
            int samples = 0;
            for (Batch batch : loader.epoch()) {
                try (batch) {
                    byte[] bytes = batch.tensor("truths").segment().toArray(JAVA_BYTE);
                    for (int i = 0; i < batch.count(); i++, samples++) {
                        for (int e = 0; e < 5; e++) {
                            assertEquals(expected.get((int) batch.sample(i) * 5 + e), (long) bytes[i * 5 + e]);
                        }
                    }
                }
            }
            assertEquals(20, samples);
        }
    }

    @Test
    void anArrayInARecordHasTruthValuesOf0And1InABatch() throws IOException {
        byte[] npy = Files.readAllBytes(HOME.resolve("truths.npy"));
        byte[] fortran = Files.readAllBytes(HOME.resolve("truths_fortran.npy"));
        try (var store = new MemoryRecordStore(List.of(Column.bytes("t", "npy")), new byte[][] {npy},
                new byte[][] {fortran})) {
            List<Long> expected = numbers(truth("truths").get("truths.npy"));
            for (long[] shape : new long[][] {{20, 5}, {TensorSpec.VARIABLE, 5}}) {
                Dataset samples = RecordFields.of(store).and("t", Decoder.npy(DType.BOOL, shape));
                try (DataLoader loader = DataLoader.builder(samples).batchSize(2).collator(StackAndPad.fields()).open();
                        Batch batch = loader.next()) {
                    List<Long> both = new ArrayList<>(expected);
                    both.addAll(expected);
                    byte[] bytes = batch.tensor("t").segment().toArray(JAVA_BYTE);
                    for (int i = 0; i < both.size(); i++) {
                        assertEquals(both.get(i), (long) bytes[i]);
                    }
                }
            }
        }
    }

    @Test
    void integersOf24BitsAreReadAs32InEveryLayoutAndByteOrder() throws Exception {
        Path file = HOME.resolve("int24.h5");
        Map<String, Object> truth = truth("integers");
        try (TensorStore store = TensorStore.open(file)) {
            assertTrue(store.unread().isEmpty());
            assertEquals(truth.size() + 1, store.tensors().size());
            Inspection inspection = Inspection.of(Location.of(file), store, Depth.CONTENT, Progress.NONE);
            for (int i = 0; i < store.tensors().size(); i++) {
                TensorSpec spec = store.tensors().get(i);
                if (!truth.containsKey(spec.name())) {
                    assertEquals("/plain", spec.name());
                    assertEquals(List.of(0L, 1L, 2L, 3L, 4L, 5L), values(store.tensor(i)));
                    continue;
                }
                assertEquals(spec.name().startsWith("/i") ? DType.I32 : DType.U32, spec.dtype());
                assertEquals(numbers(truth.get(spec.name())), values(store.tensor(i)), spec.name());
                assertTrue(store.isConverted(i));
                Inspection.Array array = inspection.arrays().get(i);
                assertEquals((spec.name().contains("big") ? ">" : "<") + spec.name().charAt(1) + "3",
                        array.storedDtype());
                assertEquals(Sha256.hex(store.tensor(i).segment(), _ -> { }), array.sha256());
            }
            String attributes = Json.write(inspection.details().get("attributes"));
            assertTrue(attributes.contains("[-5,0,8388607]"), attributes);
        }
        assertTrue(Verification.run(Location.of(file), OpenOptions.DEFAULT, 1, Progress.NONE).isGood());
    }

    @Test
    void tensorsOfTypesThatAreNotReadAreListedAndTheOthersAreRead() throws Exception {
        Path file = HOME.resolve("others.safetensors");
        Map<String, Object> truth = truth("others");
        Map<String, Object> others = Json.object(truth.get("others"));
        try (TensorStore store = TensorStore.open(file)) {
            Map<String, Object> read = Json.object(truth.get("read"));
            assertEquals(List.copyOf(read.keySet()), store.tensors().stream().map(TensorSpec::name).toList());
            for (int i = 0; i < store.tensors().size(); i++) {
                assertEquals(read.get(store.tensors().get(i).name()),
                        Sha256.hex(store.tensor(i).segment(), _ -> { }));
            }
            assertEquals(others.keySet(), store.unread().keySet());
            Inspection inspection = Inspection.of(Location.of(file), store, Depth.CONTENT, Progress.NONE);
            assertEquals(2, inspection.arrays().size());
            List<Object> listed = Json.array(Json.parse(Json.write(inspection.details().get("other_tensors"))));
            assertEquals(others.size(), listed.size());
            for (Object each : listed) {
                Map<String, Object> found = Json.object(each);
                Json.object(others.get(found.get("name"))).forEach((name, value) ->
                        assertEquals(value, found.get(name), () -> found.toString()));
                assertTrue(((String) found.get("refused")).contains((String) found.get("stored_dtype")));
            }
            Path target = folder.resolve("copy.safetensors");
            var summary = new Conversion(store, target, "safetensors").run();
            assertEquals(List.of("unreadable tensors: " + String.join(", ", store.unread().keySet())),
                    summary.lost());
            String message = assertThrows(ConversionException.class, () -> new Conversion(store,
                    folder.resolve("x.npy"), "npy").fields(List.of("complex64")).run()).getMessage();
            assertTrue(message.startsWith("tensor 'complex64' cannot be read: its elements are C64, complex numbers"),
                    message);
        }
        assertTrue(Verification.run(Location.of(file), OpenOptions.DEFAULT, 1, Progress.NONE).isGood());
    }
}
