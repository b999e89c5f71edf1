// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.megatron.MegatronStore;
import io.penstock.internal.Sha256;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.Fixtures.Entry;
import io.penstock.store.Inspection.Depth;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The formats' own libraries wrote these files, and read in them what the manifest says. */
class StoreFixturesTest {

    /** What of a manifest's entry is not about the content of the store. */
    private static final Set<String> ABOUT_THE_FIXTURE =
            Set.of("id", "path", "files", "writer", "expect", "arrays", "reference", "note", "sequence_spots");

    private static final Map<String, String> DTYPE_OF_NUMPY = Map.ofEntries(
            Map.entry("b1", "bool"), Map.entry("u1", "u8"), Map.entry("i1", "i8"), Map.entry("u2", "u16"),
            Map.entry("i2", "i16"), Map.entry("u4", "u32"), Map.entry("i4", "i32"), Map.entry("u8", "u64"),
            Map.entry("i8", "i64"), Map.entry("f2", "f16"), Map.entry("f4", "f32"), Map.entry("f8", "f64"));

    @TestFactory
    Stream<DynamicTest> whatTheirLibraryReadsIsReadTheSame() throws IOException {
        return Fixtures.entries(Fixtures.TOKENS_AND_NPY).filter(e -> e.expect().equals("read"))
                .map(entry -> DynamicTest.dynamicTest(entry.toString(), () -> assertReadsAs(entry)));
    }

    @TestFactory
    Stream<DynamicTest> whatIsMalformedIsRefusedInOneLineThatNamesTheFileAndWhatWasExpected() throws IOException {
        return Fixtures.entries(Fixtures.TOKENS_AND_NPY).filter(e -> !e.expect().equals("read"))
                .map(entry -> DynamicTest.dynamicTest(entry.toString(), () -> assertRefused(entry)));
    }

    private static void assertReadsAs(Entry entry) throws IOException {
        Map<String, Object> found = Json.object(Json.parse(Json.write(
                Inspection.of(entry.path(), Depth.CONTENT).toMap())));
        entry.fields().forEach((name, value) -> {
            if (name.equals("dtype")) {
                assertEquals(value.toString().replace("uint", "u").replace("int", "i"), found.get("dtype"));
            } else if (!ABOUT_THE_FIXTURE.contains(name)) {
                assertEquals(value, found.get(name), name);
            }
        });
        List<Object> arrays = Json.array(found.get("arrays"));
        assertEquals(entry.arrays().size(), arrays.size());
        for (int i = 0; i < arrays.size(); i++) {
            assertArray(entry.arrays().get(i), Json.object(arrays.get(i)));
        }
        StoreInfo.Described store = entry.kind().equals("npy")
                ? (StoreInfo.Described) TensorStore.open(entry.path())
                        : (StoreInfo.Described) TokenStore.open(entry.path());
        try (var _ = (AutoCloseable) store) {
            List<StoredArray> stored = store.info().arrays();
            for (int i = 0; i < stored.size(); i++) {
                Fixtures.assertSpots(entry.arrays().get(i), stored.get(i).tensor());
            }
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void assertArray(Map<String, Object> expected, Map<String, Object> found) {
        expected.forEach((name, value) -> {
            if (!name.equals("spots")) {
                assertEquals(value, found.get(name), name);
            }
        });
        assertEquals(DTYPE_OF_NUMPY.get(expected.get("stored_dtype").toString().substring(1)), found.get("dtype"));
    }

    private static void assertRefused(Entry entry) {
        boolean npy = entry.kind().equals("npy");
        for (var open : List.<org.junit.jupiter.api.function.Executable>of(
                () -> Inspection.of(entry.path(), Depth.STRUCTURE),
                () -> (npy ? TensorStore.open(entry.path()) : TokenStore.open(entry.path())).close())) {
            String message = assertThrows(MalformedStoreException.class, open).getMessage();
            String stem = entry.path().getFileName().toString().replaceAll("\\.[a-z]+$", "");
            assertTrue(message.contains(stem), message);
            assertTrue(message.contains(", expected "), message);
            assertFalse(message.contains("\n"), message);
            for (String word : WORDS_OF_THE_REASON.get(entry.toString())) {
                assertTrue(message.contains(word), () -> "'" + word + "' is not in: " + message);
            }
        }
    }

    /** What each message must say for its reader to find what is wrong. */
    private static final Map<String, List<String>> WORDS_OF_THE_REASON = Map.ofEntries(
            Map.entry("npy/reject_structured.npy", List.of("structured")),
            Map.entry("npy/reject_object_pickle.npy", List.of("|O", "pickle")),
            Map.entry("npy/reject_truncated_data.npy", List.of("195 elements", "200", "byte 1691")),
            Map.entry("npy/reject_truncated_header.npy", List.of("ends inside its header", "byte 40")),
            Map.entry("npy/reject_bad_magic.npy", List.of("magic", "byte 0")),
            Map.entry("npy/reject_empty_file.npy", List.of("empty")),
            Map.entry("npy/reject_version_9.npy", List.of("version 9.0", "byte 6")),
            Map.entry("npy/reject_missing_shape_key.npy", List.of("keys", "shape")),
            Map.entry("megatron/reject_truncated_idx", List.of(".idx", "document indices", "1230")),
            Map.entry("megatron/reject_truncated_idx_header", List.of(".idx", "header", "byte 30")),
            Map.entry("megatron/reject_truncated_bin", List.of(".bin: at byte 21893", "21904")),
            Map.entry("megatron/reject_bad_magic", List.of("magic", "byte 0")),
            Map.entry("megatron/reject_bad_version", List.of("version 2", "byte 9", "expected 1")),
            Map.entry("megatron/reject_missing_bin", List.of(".bin", "no such file")),
            Map.entry("megatron/reject_dtype_code_0", List.of("dtype code 0", "byte 17", "1..10")),
            Map.entry("nanogpt/reject_odd_length.bin", List.of("4001", "whole number", "u16")),
            Map.entry("llmc/reject_bad_magic.bin", List.of("unknown llm.c magic 20240521", "20240520")),
            Map.entry("llmc/reject_bad_version.bin", List.of("version 3", "byte 4", "expected 1")),
            Map.entry("llmc/reject_truncated.bin", List.of("18723", "19024", "9000")),
            Map.entry("llmc/reject_truncated_header.bin", List.of("header", "byte 700")),
            Map.entry("llmc/ror_hellaswag_eval.bin", List.of("evaluation file")),
            Map.entry("datatrove/reject_cut_ds.ds", List.of("13869", "13876")),
            Map.entry("datatrove/reject_cut_index.ds", List.of(".index", "237", "u64")),
            Map.entry("datatrove/reject_index_decreases.ds", List.of(".index", "document 2", "327")));

    @TestFactory
    Stream<DynamicTest> sequencesOfMegatronStoresAreWhereTheirReaderHasThem() throws IOException {
        return Fixtures.entries(Fixtures.TOKENS_AND_NPY).filter(e -> e.fields().containsKey("sequence_spots"))
                .map(entry -> DynamicTest.dynamicTest(entry.toString(), () -> assertSequences(entry)));
    }

    private static void assertSequences(Entry entry) throws IOException {
        try (TokenStore store = TokenStore.open(entry.path())) {
            List<StoredArray> arrays = ((StoreInfo.Described) store).info().arrays();
            Tensor pointers = arrays.get(1).tensor();
            Tensor documents = arrays.get(2).tensor();
            for (Object each : Json.array(entry.fields().get("sequence_spots"))) {
                Map<String, Object> spot = Json.object(each);
                long sequence = ((Number) spot.get("sequence")).longValue();
                Span span = new Span();
                store.locate(pointers.getLong(sequence) / store.dtype().byteSize(),
                        ((Number) spot.get("length")).longValue(), span);
                assertEquals(spot.get("sha256"), Sha256.hex(span.slice(), _ -> { }));
            }
            for (long d = 0; d < store.documentCount(); d++) {
                assertEquals(pointers.getLong(documents.getLong(d)) / store.dtype().byteSize(),
                        store.documentStart(d));
            }
            assertEquals(store.tokenCount(), store.documentStart(store.documentCount()));
        }
    }

    @Test
    void sequencesOfAMultimodalStoreHaveTheirModes() throws IOException {
        try (MegatronStore store = MegatronStore.open(Location.of(Fixtures.path("megatron/multimodal_i32.idx")))) {
            Map<String, Object> modes = Fixtures.entries("megatron").filter(e -> e.toString().contains("multimodal"))
                    .findAny().orElseThrow().arrays().stream().filter(a -> a.get("name").equals("sequence_modes"))
                    .findAny().orElseThrow();
            for (Object each : Json.array(modes.get("spots"))) {
                Map<String, Object> spot = Json.object(each);
                assertEquals(((Number) spot.get("value")).intValue(),
                        store.mode(((Number) Json.array(spot.get("index")).getFirst()).longValue()));
            }
            byte[] found = new byte[(int) store.sequenceCount()];
            for (int s = 0; s < found.length; s++) {
                found[s] = (byte) store.mode(s);
            }
            assertEquals(modes.get("sha256"), Sha256.hex(MemorySegment.ofArray(found), _ -> { }));
            assertThrows(IndexOutOfBoundsException.class, () -> store.mode(store.sequenceCount()));
            assertEquals(store.sequenceCount(), store.firstSequence(store.documentCount()));
            for (long d = 0; d <= store.documentCount(); d++) {
                assertEquals(store.documentStart(d), store.sequenceStart(store.firstSequence(d)));
            }
        }
        try (MegatronStore store = MegatronStore.open(Location.of(Fixtures.path("megatron/u16_docs.idx")))) {
            assertFalse(store.isMultimodal());
            assertThrows(IllegalStateException.class, () -> store.mode(0));
        }
    }

    @Test
    void aMegatronStoreOpensByEitherFileAndByTheirPrefix() throws IOException {
        Set<String> fingerprints = Stream.of("u16_docs.idx", "u16_docs.bin", "u16_docs").map(name -> {
            try (TokenStore store = TokenStore.open(Fixtures.path("megatron").resolve(name))) {
                return store.fingerprint();
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }).collect(Collectors.toSet());
        assertEquals(1, fingerprints.size());
        assertTrue(fingerprints.iterator().next().matches("megatron:u16:tokens=10952:docs=40:sha256=[0-9a-f]{32}"));
    }

    @Test
    void anArrayThatIsRowMajorAndLittleEndianIsAViewAndAnyOtherSaysThatItIsConverted() throws IOException {
        for (Entry entry : Fixtures.entries("npy").filter(e -> e.expect().equals("read"))
                .toList()) {
            Map<String, Object> array = entry.arrays().getFirst();
            boolean foreign = array.get("stored_dtype").toString().startsWith(">")
                    || array.get("stored_order").equals("F");
            try (TensorStore store = TensorStore.open(entry.path())) {
                assertEquals(foreign, store.isConverted(0), entry.toString());
                Span span = new Span();
                store.locate(0, 0, store.tensors().getFirst().rank() == 0 ? 1 : store.tensors().getFirst().dim(0),
                        span);
                assertEquals(foreign, span.file() == null);
                assertEquals(-1, span.slice().mismatch(store.tensor(0).segment()));
            }
        }
    }

    @Test
    void aFormatThatIsToldIsNotLookedFor() throws IOException {
        Path bin = Fixtures.path("megatron/u16_docs.bin");
        try (TokenStore raw = TokenStore.open(bin, "nanogpt");
                TokenStore wide = TokenStore.open(bin, told("nanogpt", DType.U32));
                TokenStore megatron = TokenStore.open(bin, "megatron")) {
            assertEquals(1, raw.documentCount());
            assertEquals(10952, raw.tokenCount());
            assertEquals(5476, wide.tokenCount());
            assertEquals(40, megatron.documentCount());
        }
        assertThrows(MalformedStoreException.class, () -> TokenStore.open(bin, "llmc"));
        assertThrows(MalformedStoreException.class, () -> TokenStore.open(bin, told("megatron", DType.I32)));
        assertThrows(IllegalArgumentException.class, () -> TokenStore.open(bin, told("nanogpt", DType.F32)));
    }

    @Test
    void aRunOfTokensThatIsNotWithinTheStoreIsAnErrorThatNamesTheFile() throws IOException {
        try (TokenStore store = TokenStore.open(Fixtures.path("nanogpt/bpe/val.bin"))) {
            for (long[] run : new long[][] {{-1, 1}, {0, 7747}, {7746, 1}, {1, -1}, {Long.MAX_VALUE, 1},
                    {1, Long.MAX_VALUE}}) {
                String message = assertThrows(IndexOutOfBoundsException.class,
                        () -> store.locate(run[0], run[1], new Span())).getMessage();
                assertTrue(message.contains("val.bin") && message.contains("7746"), Arrays.toString(run));
            }
        }
    }

    @Test
    void noSuchFileIsSaidSo() {
        String message = assertThrows(IOException.class, () -> TokenStore.open(Path.of("absent/corpus"))).getMessage();
        assertTrue(message.contains("absent/corpus") && message.contains("no such file"), message);
    }

    private static OpenOptions told(String format, DType dtype) {
        return OpenOptions.DEFAULT.withFormat(format).withDType(dtype);
    }
}
