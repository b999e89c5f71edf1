// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.format.files.FilesStore;
import io.penstock.format.webdataset.WebDatasetStore;
import io.penstock.io.Location;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.store.Column;
import io.penstock.store.Fixtures;
import io.penstock.store.OpenOptions;
import io.penstock.store.RecordStore;
import io.penstock.testing.MemoryRecordStore;
import io.penstock.testing.MemoryTokenStore;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class SplitTest {

    @TempDir
    Path folder;

    private static Dataset numbers(long size) {
        return Dataset.generate(size, List.of(new TensorSpec("n", DType.I64)), "numbers",
                (sample, _, out) -> out.tensor("n").segment().set(ValueLayout.JAVA_LONG, 0, sample));
    }

    private static Set<String> keys(Dataset part) {
        return LongStream.range(0, part.size()).mapToObj(part::key).collect(Collectors.toCollection(TreeSet::new));
    }

    private static String refusal(Executable split) {
        return assertThrows(IllegalArgumentException.class, split).getMessage();
    }

    private static List<Long> origins(Filtered part) {
        return LongStream.range(0, part.size()).map(part::origin).boxed().toList();
    }

    @Test
    void thePartsAreThoseThatTheSpecificationsVectorsHave() throws IOException {
        Map<String, Object> vectors = Json.object(Json.parse(Files.readString(
                Path.of("docs/spec/vectors/split.json"))));
        for (Object item : Json.array(vectors.get("keys"))) {
            Map<String, Object> vector = Json.object(item);
            List<Object> found = new ArrayList<>();
            for (Object key : Json.array(vector.get("keys"))) {
                long hash = KeyedRandom.hash(MemorySegment.ofArray(HexFormat.of().parseHex((String) key)));
                found.add(Split.isTrain((long) vector.get("seed"), hash, (double) vector.get("share")) ? 1L : 0L);
            }
            assertEquals(vector.get("train"), found);
        }
        for (Object item : Json.array(vectors.get("indexes"))) {
            Map<String, Object> vector = Json.object(item);
            Split split = numbers((long) vector.get("size"))
                    .split((double) vector.get("share"), (long) vector.get("seed"));
            assertEquals(vector.get("train"), origins(split.train()));
        }
    }

    @Test
    void everySampleIsInOneOfThePartsInTheOrderOfTheDatasetAndStaysThereWhenDataAreAppended() {
        SplittableRandom random = new SplittableRandom(20261126);
        for (int round = 0; round < 60; round++) {
            long size = random.nextLong(70, 700);
            double share = random.nextDouble(0.15, 0.85);
            long seed = random.nextLong();
            String found = "round " + round + ": " + size + " samples, share " + share + ", seed " + seed;
            Split split = numbers(size).split(share, seed);
            List<Long> train = origins(split.train());
            List<Long> validation = origins(split.validation());
            assertEquals(train.stream().sorted().toList(), train, found);
            assertEquals(validation.stream().sorted().toList(), validation, found);
            Set<Long> all = new TreeSet<>(train);
            all.addAll(validation);
            assertEquals(size, train.size() + validation.size(), found);
            assertEquals(size, all.size(), found);

            Split later = numbers(size + random.nextLong(1, 500)).split(share, seed);
            assertEquals(train, origins(later.train()).stream().filter(sample -> sample < size).toList(), found);
            assertEquals(validation, origins(later.validation()).stream().filter(sample -> sample < size).toList(),
                    found);
            assertEquals(split.train().fingerprint(), numbers(size).split(share, seed).train().fingerprint(), found);
        }
    }

    /** Six deviations of a binomial distribution: one in 500 million. */
    @Test
    void thePartsHaveTheirSharesForAnySeedAndSeedsAreIndependent() {
        long size = 100_000;
        for (double share : new double[] {0.01, 0.5, 0.9, 0.999}) {
            Split split = numbers(size).split(share, 3);
            double deviation = Math.sqrt(size * share * (1 - share));
            assertEquals(size * share, split.train().size(), 6 * deviation);
            Set<Long> train = new TreeSet<>(origins(split.train()));
            long both = origins(numbers(size).split(share, 4).train()).stream().filter(train::contains).count();
            assertEquals(size * share * share, both, 6 * Math.sqrt(size * share * share * (1 - share * share)));
        }
    }

    @Test
    void aGreaterShareTakesMoreSamplesAndGivesNoneBack() {
        Set<Long> before = Set.of();
        for (double share : new double[] {0.1, 0.3, 0.6, 0.9}) {
            Set<Long> train = new TreeSet<>(origins(numbers(500).split(share, 11).train()));
            assertTrue(train.containsAll(before), "share " + share);
            before = train;
        }
    }

    @Test
    void whatIsDoneToSamplesBeforeTheSplitDoesNotMoveThem() throws IOException {
        Dataset plain = numbers(300);
        Split split = plain.split(0.7, 5);
        Set<String> train = keys(split.train());
        TensorSpec spec = new TensorSpec("n", DType.I64);
        try (Cached cached = plain.cache("n")) {
            for (Dataset other : List.of(plain.map("n", spec, "twice", (in, _, out) ->
                    out.segment().set(ValueLayout.JAVA_LONG, 0, 2 * in.segment().get(ValueLayout.JAVA_LONG, 0))),
                    plain.duplicate("n", "a", "b"), cached, plain.concat(numbers(100)))) {
                assertEquals(train, keys(other.split(0.7, 5).train()), other.toString());
            }
        }
        Filtered even = plain.filter("even", view -> view.index() % 2 == 0);
        assertEquals(train.stream().filter(key -> Long.parseLong(key) % 2 == 0).collect(Collectors.toSet()),
                Set.copyOf(keys(even.split(0.7, 5).train())));
        long[] repeated = LongStream.range(0, 600).map(sample -> sample * 7 % 300).toArray();
        Split selected = plain.select(repeated).split(0.7, 5);
        assertEquals(train, keys(selected.train()));
        assertEquals(keys(split.validation()), keys(selected.validation()));
    }

    @Test
    void aConcatenationKeepsItsPartsWhenAnyDatasetGrows() {
        Split before = numbers(100).concat(numbers(50)).split(0.5, 1);
        Split after = numbers(170).concat(numbers(60)).split(0.5, 1);
        List<Long> kept = origins(after.train()).stream().filter(sample -> sample < 100 || sample >= 170)
                .map(sample -> sample < 100 ? sample : sample - 70).filter(sample -> sample < 150).toList();
        assertEquals(origins(before.train()), kept);
    }

    @Test
    void filesStayInTheirPartWhereverOthersAreAddedBetweenThem() throws IOException {
        SplittableRandom random = new SplittableRandom(8);
        Map<String, Boolean> isTrain = new HashMap<>();
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 40; i++) {
                Path file = folder.resolve("class" + random.nextInt(4)).resolve(random.nextInt(100_000) + ".txt");
                Files.createDirectories(file.getParent());
                Files.writeString(file, file.toString());
            }
            try (RecordStore files = RecordStore.open(folder, OpenOptions.DEFAULT.withFormat("files"))) {
                assertTrue(files instanceof FilesStore);
                Split split = RecordFields.of(files).and("file").split(0.8, 2);
                for (String key : keys(split.train())) {
                    assertEquals(true, isTrain.getOrDefault(key, true), key);
                    isTrain.put(key, true);
                }
                for (String key : keys(split.validation())) {
                    assertEquals(false, isTrain.getOrDefault(key, false), key);
                    isTrain.put(key, false);
                }
            }
        }
        assertTrue(isTrain.size() > 150);
    }

    @Test
    void samplesOfTarsAreKnownByTheirKeyWithoutTheFolder() throws IOException {
        Path shard = Fixtures.path("webdataset/shard-000000.tar");
        try (WebDatasetStore here = WebDatasetStore.open(Location.of(shard));
                WebDatasetStore there = WebDatasetStore.open(Location.of(Files.copy(shard,
                        folder.resolve("moved.tar"))))) {
            assertEquals(here.key(0), here.name(0).replaceAll(" of .*", ""));
            Dataset first = RecordFields.of(here).and(here.columns().getFirst().name());
            Dataset second = RecordFields.of(there).and(there.columns().getFirst().name());
            assertEquals(keys(first.split(0.5, 1).train()), keys(second.split(0.5, 1).train()));
        }
    }

    @Test
    void filesHaveTheKeysThatTheyHaveInATarOfTheFolder() throws IOException {
        for (String name : List.of("a.b/one.txt", "a.b/two.tar.txt", "c/three")) {
            Path file = folder.resolve("files").resolve(name);
            Files.createDirectories(file.getParent());
            Files.writeString(file, name);
        }
        try (RecordStore files = RecordStore.open(folder.resolve("files"), OpenOptions.DEFAULT.withFormat("files"))) {
            assertEquals(List.of("a.b/one", "a.b/two", "c/three"),
                    LongStream.range(0, files.size()).mapToObj(files::key).toList());
        }
    }

    @Test
    void samplesWithTheSameValueOfAFieldAreInTheSamePart() {
        SplittableRandom random = new SplittableRandom(5);
        byte[][][] records = new byte[400][][];
        for (int r = 0; r < records.length; r++) {
            records[r] = new byte[][] {("patient " + random.nextInt(60)).getBytes(UTF_8), {(byte) r}};
        }
        try (var store = new MemoryRecordStore(List.of(Column.bytes("patient", ""), Column.bytes("x", "")), records)) {
            Dataset samples = RecordFields.of(store).and("x").and("patient");
            Split split = samples.split(0.5, 9, "patient");
            Set<String> train = new TreeSet<>();
            origins(split.train()).forEach(sample -> train.add(new String(records[sample.intValue()][0], UTF_8)));
            assertEquals(List.of(), origins(split.validation()).stream()
                    .map(sample -> new String(records[sample.intValue()][0], UTF_8)).filter(train::contains).toList());
            assertTrue(train.size() > 10 && train.size() < 50, () -> "" + train);
            for (String patient : train) {
                assertTrue(Split.isTrain(9, KeyedRandom.hash(MemorySegment.ofArray(patient.getBytes(UTF_8))), 0.5));
            }
            assertEquals("no field 'y', samples have [x, patient]",
                    assertThrows(IllegalArgumentException.class, () -> samples.split(0.5, 9, "y")).getMessage());
        }
    }

    @Test
    void windowsOfADocumentAreInTheSamePart() {
        try (MemoryTokenStore store = new MemoryTokenStore(DType.U16,
                new long[] {0, 0, 5, 40, 40, 41, 90, 300, 700, 990})) {
            DocumentWindows windows = DocumentWindows.of(store, 8, 8);
            long sample = 0;
            for (long document = 0; document < store.documentCount(); document++) {
                long tokens = store.documentStart(document + 1) - store.documentStart(document);
                for (long window = 0; window < (tokens < 9 ? 0 : (tokens - 9) / 8 + 1); window++) {
                    assertEquals(Long.toString(document), windows.key(sample++));
                }
            }
            assertEquals(windows.size(), sample);
        }
    }

    @Test
    void packedSequencesAreRefusedBecauseTheirDocumentsMove() {
        try (MemoryTokenStore store = new MemoryTokenStore(DType.U16, new long[] {0, 90, 300, 700, 990});
                PackedSequences packed = Packing.of(Documents.of(store), 512).pack()) {
            String message = assertThrows(UnsupportedOperationException.class, () -> packed.split(0.5, 1)).getMessage();
            assertTrue(message.endsWith("split the documents, and pack the parts"), message);
            try (PackedSequences part = Packing.of(Documents.of(store).split(0.5, 1).train(), 512).pack()) {
                assertTrue(part.size() > 0);
            }
        }
    }

    @Test
    void aShareOutsideOrAPartWithoutSamplesIsRefused() {
        for (double share : new double[] {0, 1, -0.1, 1.5, Double.NaN}) {
            assertEquals("split " + share + ": expected a share between 0 and 1, both excluded",
                    refusal(() -> numbers(9).split(share, 1)));
        }
        String message = refusal(() -> numbers(1).split(0.5, 1));
        assertTrue(message.matches("split 0\\.5 by key with seed 1: (no|every) sample of 1 is in the part to train on;"
                + ".*"), message);
    }
}
