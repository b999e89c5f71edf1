// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.megatron;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.penstock.collate.Collator;
import io.penstock.collate.PackedLm;
import io.penstock.collate.TokenWidth;
import io.penstock.convert.Conversion;
import io.penstock.dataset.Cached;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.DocumentWindows;
import io.penstock.dataset.Documents;
import io.penstock.dataset.Packing;
import io.penstock.dataset.TokenWindows;
import io.penstock.dataset.source.FieldSource;
import io.penstock.internal.Sha256;
import io.penstock.io.Location;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenStore;
import io.penstock.store.Truth;
import io.penstock.store.integrity.Verification;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/**
 * Indexes of some sequences of a shared {@code .bin}, in any order: {@code megatron_indexes.py} wrote them, and what
 * Megatron reads in them.
 */
class MegatronPiecesTest {

    private static final Path HOME = Truth.written("megatron_indexes");
    private static final int LENGTH = 16;

    @TempDir
    private Path folder;

    @FunctionalInterface
    private interface Check {
        void of(String name, Map<String, Object> truth, MegatronStore store) throws Exception;
    }

    private static Stream<DynamicTest> each(Check check) throws IOException {
        return Json.object(Json.parse(Files.readAllBytes(HOME.resolve("truth.json")))).entrySet().stream()
                .map(entry -> {
                    Executable test = () -> {
                        try (MegatronStore store = MegatronStore.open(Location.of(HOME.resolve(entry.getKey())))) {
                            check.of(entry.getKey(), Json.object(entry.getValue()), store);
                        }
                    };
                    return DynamicTest.dynamicTest(entry.getKey(), test);
                });
    }

    private static long number(Map<String, Object> truth, String name) {
        return ((Number) truth.get(name)).longValue();
    }

    /** All tokens in the order of the index, by the slow reader, whose result is that of Megatron. */
    private static byte[] flat(String name, Map<String, Object> truth, DType dtype) throws IOException {
        var bytes = new ByteArrayOutputStream();
        for (List<Long> document : SlowMegatronReader.documents(HOME.resolve(name))) {
            for (long token : document) {
                for (int b = 0; b < dtype.byteSize(); b++) {
                    bytes.write((int) (token >>> 8 * b));
                }
            }
        }
        assertEquals(truth.get("sha256"), HexFormat.of().formatHex(Sha256.digest().digest(bytes.toByteArray())));
        return bytes.toByteArray();
    }

    private static byte[] bytes(Span span) {
        return span.slice().toArray(JAVA_BYTE);
    }

    @TestFactory
    Stream<DynamicTest> documentsFollowTheIndexAndEveryRunOfTokensIsItsPieces() throws IOException {
        return each((name, truth, store) -> {
            List<Long> starts = Json.array(truth.get("starts")).stream().map(start -> ((Number) start).longValue())
                    .toList();
            assertEquals(number(truth, "tokens"), store.tokenCount());
            assertEquals(number(truth, "sequences"), store.sequenceCount());
            assertEquals(starts, LongStream.rangeClosed(0, store.documentCount()).map(store::documentStart).boxed()
                    .toList());
            for (long d = 0; d <= store.documentCount(); d++) {
                assertEquals(starts.get((int) d), store.sequenceStart(store.firstSequence(d)));
            }
            assertEquals(truth.get("in_order"), store.isOneRun());
            byte[] flat = flat(name, truth, store.dtype());
            SplittableRandom random = new SplittableRandom(name.hashCode());
            for (int i = 0; i < 400; i++) {
                long first = random.nextLong(store.tokenCount() + 1);
                long most = i % 2 == 0 ? 50 : store.tokenCount();
                assertPieces(store, flat, first, random.nextLong(Math.min(most, store.tokenCount() - first) + 1));
            }
            assertPieces(store, flat, 0, store.tokenCount());
            for (long d = 0; d < store.documentCount(); d++) {
                assertPieces(store, flat, starts.get((int) d), starts.get((int) d + 1) - starts.get((int) d));
                assertTrue(!store.documentsAreRuns() || store.parts(starts.get((int) d),
                        starts.get((int) d + 1) - starts.get((int) d)) == 1);
            }
        });
    }

    private static void assertPieces(TokenStore store, byte[] flat, long first, long tokens) throws IOException {
        var found = new ByteArrayOutputStream();
        Span span = new Span();
        int parts = store.parts(first, tokens);
        for (int part = 0; part < parts; part++) {
            store.locatePart(first, tokens, part, span);
            assertNotNull(span.file());
            found.write(bytes(span));
        }
        int size = store.dtype().byteSize();
        assertArrayEquals(Arrays.copyOfRange(flat, (int) first * size, (int) (first + tokens) * size),
                found.toByteArray(), () -> "tokens " + first + ", " + tokens + " of them");
        if (parts == 1) {
            store.locate(first, tokens, span);
            assertArrayEquals(found.toByteArray(), bytes(span));
        } else {
            String message = assertThrows(UnsupportedOperationException.class,
                    () -> store.locate(first, tokens, span)).getMessage();
            assertTrue(message.contains("lie in " + parts + " pieces"), message);
        }
    }

    @TestFactory
    Stream<DynamicTest> whatIsNotThereIsAnErrorWithBothEnds() throws IOException {
        return each((_, _, store) -> {
            Span span = new Span();
            long count = store.tokenCount();
            for (long[] run : new long[][] {{-1, 1}, {0, count + 1}, {count, 1}, {1, count}, {0, -1},
                {Long.MAX_VALUE, 1}, {1, Long.MAX_VALUE}}) {
                String message = assertThrows(IndexOutOfBoundsException.class,
                        () -> store.locatePart(run[0], run[1], 0, span)).getMessage();
                assertTrue(message.contains(".bin: " + run[1] + " tokens from " + run[0] + ",")
                        && message.endsWith("0 to " + count),
                        message);
                assertThrows(IndexOutOfBoundsException.class, () -> store.locate(run[0], run[1], span));
            }
            assertThrows(IndexOutOfBoundsException.class, () -> store.locatePart(0, count, -1, span));
            assertThrows(IndexOutOfBoundsException.class, () -> store.locatePart(0, count, 1_000, span));
        });
    }

    @TestFactory
    Stream<DynamicTest> inspectionAndVerificationReadTheTokensInTheOrderOfTheIndex() throws IOException {
        return each((name, truth, store) -> {
            Inspection inspection = Inspection.of(Location.of(HOME.resolve(name)), store, Depth.CONTENT, Progress.NONE);
            Inspection.Array tokens = inspection.arrays().get(3);
            assertEquals("tokens", tokens.name());
            assertEquals(truth.get("sha256"), tokens.sha256());
            assertEquals(number(truth, "max"), tokens.max());
            assertEquals(List.of(number(truth, "tokens")), tokens.shape());
            assertEquals(store.dtype(), tokens.dtype());
            assertEquals(store.isOneRun() ? null : true, inspection.details().get("in_pieces"));
            assertNull(Inspection.of(Location.of(HOME.resolve(name)), store, Depth.STRUCTURE,
                    Progress.NONE).arrays().get(3).sha256());
            assertTrue(Verification.run(Location.of(HOME.resolve(name)), OpenOptions.DEFAULT, 1,
                    Progress.NONE).isGood());
        });
    }

    /** Converted, they are one run in the order of the index, which is read as any store that was written so. */
    @TestFactory
    Stream<DynamicTest> batchesAreThoseOfTheSameTokensWrittenInOrderInEveryReadMode() throws IOException {
        return each((name, truth, store) -> {
            Path copy = folder.resolve(name);
            new Conversion(store, copy, "megatron").run();
            byte[] flat = flat(name, truth, store.dtype());
            assertArrayEquals(flat, Files.readAllBytes(Path.of(copy + ".bin")));
            try (MegatronStore ordered = MegatronStore.open(Location.of(copy))) {
                assertTrue(ordered.isOneRun());
                boolean isThorough = List.of("u1_shuffled_many", "u2_shuffled_many", "i4_overlapping").contains(name);
                for (ReadMode mode : isThorough ? ReadMode.values() : new ReadMode[] {ReadMode.PREAD}) {
                    assertSameBatches(ordered, store, mode, isThorough
                            ? List.of(TokenWidth.STORE, TokenWidth.I32, TokenWidth.I64) : List.of(TokenWidth.STORE));
                }
            }
        });
    }

    private static void assertSameBatches(TokenStore ordered, TokenStore store, ReadMode mode, List<TokenWidth> widths)
            throws IOException {
        for (TokenWidth width : widths) {
            Collator collator = width.windows();
            assertSame(TokenWindows.of(ordered, LENGTH), TokenWindows.of(store, LENGTH), collator, mode);
            assertSame(TokenWindows.of(ordered, LENGTH, 5), TokenWindows.of(store, LENGTH, 5), collator,
                    mode);
            assertSame(DocumentWindows.of(ordered, 4, 3), DocumentWindows.of(store, 4, 3), collator, mode);
            assertSame(Documents.of(ordered), Documents.of(store), width.padded(0), mode);
            assertSame(Documents.of(ordered, 7), Documents.of(store, 7), width.padded(0).toMultipleOf(4), mode);
        }
        Documents documents = Documents.of(store);
        PackedLm packedLm = PackedLm.of(DType.I64);
        try (var expected = Packing.of(Documents.of(ordered), LENGTH).pack()) {
            if (store.documentsAreRuns()) {
                try (var packed = Packing.of(documents, LENGTH).pack()) {
                    assertSame(expected, packed, packedLm, mode);
                }
            } else {
                String message = assertThrows(IllegalArgumentException.class, () -> Packing.of(documents, LENGTH))
                        .getMessage();
                assertTrue(message.contains("documents.cache("), message);
                try (Cached together = documents.cache(TokenWindows.TOKENS);
                        var packed = Packing.of(together, LENGTH).pack()) {
                    assertSame(expected, packed, packedLm, mode);
                }
            }
        }
    }

    private static void assertSame(Dataset expected, Dataset found, Collator collator, ReadMode mode) {
        assertEquals(expected.size(), found.size());
        assertEquals(expected.maxLength(0), found.maxLength(0));
        if (expected.size() > 0) {
            assertEquals(batches(expected, collator, ReadMode.MMAP), batches(found, collator, mode));
        }
    }

    private static List<String> batches(Dataset dataset, Collator collator, ReadMode mode) {
        List<String> batches = new ArrayList<>();
        try (DataLoader loader = DataLoader.builder(dataset).collator(collator).batchSize(6).shuffle(3).readMode(mode)
                .workers(mode == ReadMode.AUTO ? 2 : 0).endEpoch(1).open()) {
            for (Batch batch : loader.epoch()) {
                try (batch) {
                    StringBuilder text = new StringBuilder();
                    for (TensorSpec field : batch.fields()) {
                        text.append(field).append(HexFormat.of().formatHex(
                                batch.tensor(field.name()).segment().toArray(JAVA_BYTE)));
                    }
                    batches.add(text.toString());
                }
            }
        }
        return batches;
    }

    @TestFactory
    Stream<DynamicTest> conversionsFollowTheIndex() throws IOException {
        return each((name, truth, store) -> {
            byte[] flat = flat(name, truth, store.dtype());
            Path npy = folder.resolve(name + ".npy");
            new Conversion(store, npy, "npy").run();
            Path safetensors = folder.resolve(name + ".safetensors");
            new Conversion(store, safetensors, "safetensors").run();
            try (TensorStore one = TensorStore.open(npy); TensorStore two = TensorStore.open(safetensors)) {
                assertArrayEquals(flat, one.tensor(0).segment().toArray(JAVA_BYTE));
                assertArrayEquals(flat, two.tensor(1).segment().toArray(JAVA_BYTE));
                assertEquals(store.documentCount() + 1, two.tensor(0).elementCount());
            }
        });
    }

    @Test
    void anotherIndexOverTheSameTokensHasAnotherFingerprint() throws IOException {
        List<String> fingerprints = new ArrayList<>();
        for (String name : List.of("u2_shuffled", "u2_backwards", "u2_shuffled_many", "u2_overlapping")) {
            try (TokenStore store = TokenStore.open(HOME.resolve(name))) {
                fingerprints.add(store.fingerprint());
            }
        }
        assertEquals(4, fingerprints.stream().distinct().count());
    }

    @Test
    void locatingPiecesAllocatesNothing() throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (TokenStore store = TokenStore.open(HOME.resolve("u2_shuffled_many"))) {
            var dataset = TokenWindows.of(store, 100);
            FieldSource.InParts windows = dataset.source(0).bytes();
            Span span = new Span();
            MemorySegment sink = MemorySegment.ofArray(new byte[8]);
            long fewest = Long.MAX_VALUE;
            for (int window = 0; window < 40 && fewest > 0; window++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < 5_000; i++) {
                    long sample = i % dataset.size();
                    int parts = windows.count().applyAsInt(sample);
                    for (int part = 0; part < parts; part++) {
                        windows.place().locate(sample, part, span);
                        sink.set(JAVA_BYTE, 0, (byte) span.byteSize());
                    }
                }
                fewest = Math.min(fewest, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertEquals(0, fewest);
        }
    }
}
