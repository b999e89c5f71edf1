// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.penstock.collate.PackedLm;
import io.penstock.collate.Pad;
import io.penstock.collate.Stack;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.Documents;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.Packing;
import io.penstock.dataset.TokenWindows;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.megatron.MegatronPart;
import io.penstock.format.megatron.MegatronWriter;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.DType;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.store.IfExists;
import io.penstock.store.TokenStore;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataStatisticsTest {

    @TempDir
    static Path folder;
    private static Path corpus;

    @BeforeAll
    static void write() throws Exception {
        corpus = folder.resolve("tokens");
        SplittableRandom random = new SplittableRandom(4);
        try (MegatronWriter writer = MegatronWriter.create(corpus, DType.U16, IfExists.FAIL)) {
            try (MegatronPart part = writer.part()) {
                for (int document = 0; document < 101; document++) {
                    int[] tokens = random.ints(1 + random.nextInt(90), 0, 50_000).toArray();
                    part.append(tokens, 0, tokens.length);
                    part.endDocument();
                }
            }
            writer.commit();
        }
    }

    private static void run(DataLoaderBuilder settings) {
        try (DataLoader loader = settings.open()) {
            while (loader.hasNext()) {
                loader.next().close();
            }
        }
    }

    @Test
    void whatIsSeenIsWhatABruteForceCountOfTheBatchesSays() throws Exception {
        try (TokenStore store = TokenStore.open(corpus)) {
            Dataset windows = TokenWindows.of(store, 32);
            DataStatistics statistics = DataStatistics.builder().every(1).maxValues(1 << 20).build();
            TreeMap<Integer, Long> expected = new TreeMap<>();
            long samples = 0;
            try (DataLoader loader = DataLoader.builder(windows).collator(Stack.fields().then(statistics)).batchSize(8)
                    .shuffle(3).endEpoch(2).workers(3).open()) {
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        samples += batch.count();
                        Tensor tokens = batch.tensor("tokens");
                        for (long i = 0; i < tokens.elementCount(); i++) {
                            expected.merge(Buckets.ofId(tokens.getLong(i)), 1L, Long::sum);
                        }
                    }
                }
            }
            DataProfile seen = statistics.profile().orElseThrow();
            long[] histogram = new long[Buckets.IDS];
            expected.forEach((bucket, count) -> histogram[bucket] = count);
            assertTrue(Arrays.equals(histogram, seen.fields().getFirst().histogram()));
            assertEquals(samples, seen.samples());
            assertEquals(samples * 33, seen.fields().getFirst().values());
            assertEquals(List.of(), statistics.findings());
            assertTrue(statistics.cost().nanos() > 0 && statistics.cost().batches() == seen.batches());
        }
    }

    @Test
    void workersAndBatchesMadeAheadChangeNothing() throws Exception {
        List<String> profiles = new ArrayList<>();
        for (int workers : new int[] {0, 1, 4}) {
            try (TokenStore store = TokenStore.open(corpus)) {
                DataStatistics statistics = DataStatistics.builder().every(5).maxValues(100).build();
                run(DataLoader.builder(TokenWindows.of(store, 32)).collator(Stack.fields().then(statistics))
                        .batchSize(8).shuffle(3).endEpoch(3).workers(workers));
                profiles.add(statistics.profile().orElseThrow().toJson());
            }
        }
        assertEquals(profiles.get(0), profiles.get(1));
        assertEquals(profiles.get(0), profiles.get(2));
    }

    @Test
    void paddingAndLengthsAreThoseOfTheBatches() throws Exception {
        try (TokenStore store = TokenStore.open(corpus)) {
            DataStatistics statistics = DataStatistics.builder().every(1).maxValues(1 << 20).build();
            long filled = 0;
            long places = 0;
            List<Long> lengths = new ArrayList<>();
            try (DataLoader loader = DataLoader.builder(Documents.of(store)).batchSize(4).endEpoch(1)
                    .collator(Pad.toLongest(DType.I32, 7).then(statistics)).open()) {
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        for (int row = 0; row < batch.count(); row++) {
                            lengths.add(batch.tensor("lengths").getLong(row));
                            filled += lengths.getLast();
                        }
                        places += batch.tensor("input_ids").elementCount();
                    }
                }
            }
            List<FieldProfile> fields = statistics.profile().orElseThrow().fields();
            FieldProfile ids = fields.getFirst();
            assertEquals(1 - (double) filled / places, ids.paddingShare(), 1e-12);
            assertEquals(filled, ids.values(), "padding is not counted as ids");
            FieldProfile mask = fields.get(1);
            assertEquals((double) filled / places, mask.mean(0), 1e-12);
            FieldProfile length = fields.get(2);
            assertEquals(FieldKind.LENGTHS, length.kind());
            double mean = lengths.stream().mapToLong(Long::longValue).average().orElseThrow();
            double variance = lengths.stream().mapToDouble(each -> (each - mean) * (each - mean)).average()
                    .orElseThrow();
            assertEquals(mean, length.mean(0), 1e-9);
            assertEquals(Math.sqrt(variance), length.deviation(0), 1e-9);
            assertEquals(lengths.stream().mapToLong(Long::longValue).max().orElseThrow(), length.max());
            assertEquals(lengths.size(), LongStream.of(length.histogram()).sum());
        }
    }

    @Test
    void lengthsOfTheDatasOwnAreReadInTheirDtypeAndWithinTheRow() {
        for (DType dtype : List.of(DType.U8, DType.I32, DType.I64)) {
            FieldProfile values = valuesWithLengths(dtype);
            assertEquals(1 - 8.0 / 12, values.paddingShare(), 1e-12, dtype + ": 1, 3 and 4 of 4");
            assertEquals(8, values.values());
            assertEquals(0, values.nonFinite(), "padding is not read");
        }
        for (TensorSpec other : List.of(new TensorSpec("x_lengths", DType.F32, 3),
                new TensorSpec("x_lengths", DType.I32, 3, 2))) {
            FieldProfile values = valuesBeside(other);
            assertTrue(Double.isNaN(values.paddingShare()), "no lengths of rows: " + other);
            assertEquals(12, values.values() + values.nonFinite());
        }
    }

    private static FieldProfile valuesWithLengths(DType dtype) {
        return valuesBeside(new TensorSpec("x_lengths", dtype, 3));
    }

    /** Three rows of four numbers, the padding NaN; beside them lengths of 1, 3, and 9, as before a row was cut. */
    private static FieldProfile valuesBeside(TensorSpec lengths) {
        SlabLayout layout = SlabLayout.of(new TensorSpec("x", DType.F32, 3, 4), lengths);
        Slab slab = new Slab(layout, MemorySegment.ofArray(new long[(int) layout.capacityBytes() / 8]));
        int[] filled = {1, 3, 9};
        int width = lengths.dtype().byteSize();
        for (int row = 0; row < filled.length; row++) {
            for (int i = 0; i < 4; i++) {
                slab.segment().set(ValueLayout.JAVA_FLOAT_UNALIGNED, slab.offset(0) + 4L * (4 * row + i),
                        i < filled[row] ? row + i : Float.NaN);
            }
            slab.segment().set(ValueLayout.JAVA_BYTE, slab.offset(1) + (long) width * row, (byte) filled[row]);
        }
        BatchPlan plan = new BatchPlan(3);
        BatchSampler.of(Sampler.sequential(3), 3, new Shard(0, 1, TailPolicy.PAD)).plan(0, plan);
        DataStatistics statistics = DataStatistics.builder().every(1).build();
        statistics.apply(plan, slab);
        return statistics.profile().orElseThrow().fields().getFirst();
    }

    @Test
    void packedSequencesHavePaddingAndPieces() throws Exception {
        try (TokenStore store = TokenStore.open(corpus)) {
            DataStatistics statistics = DataStatistics.builder().every(1).maxValues(1 << 20).build();
            long real = 0;
            long places = 0;
            long pieces = 0;
            try (PackedSequences packed = Packing.of(Documents.of(store), 96).pack();
                    DataLoader loader = DataLoader.builder(packed).batchSize(4).endEpoch(1)
                    .collator(PackedLm.of(DType.I64).then(statistics)).open()) {
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        Tensor ids = batch.tensor("document_ids");
                        places += ids.elementCount();
                        for (long i = 0; i < ids.elementCount(); i++) {
                            real += ids.getLong(i) == 0 ? 0 : 1;
                        }
                        pieces += batch.tensor("cu_seqlens").elementCount() - 1;
                    }
                }
            }
            DataProfile seen = statistics.profile().orElseThrow();
            assertEquals(1 - (double) real / places, seen.fields().getFirst().paddingShare(), 1e-12);
            FieldProfile starts = seen.fields().stream().filter(f -> f.name().equals("cu_seqlens")).findFirst()
                    .orElseThrow();
            assertEquals(pieces, starts.values());
            assertEquals((double) places / pieces, starts.mean(0), 1e-9);
        }
    }

    @Test
    void channelsAreFoundWhereverTheyAre() {
        DataStatistics statistics = DataStatistics.builder().every(1).build();
        new Corpus(5).show(statistics, 0, 16);
        FieldProfile image = statistics.profile().orElseThrow().fields().get(2);
        assertEquals(3, image.channels());
        assertEquals(110, image.mean(0), 12);
        assertEquals(26, image.deviation(1), 4);
        FieldProfile heat = statistics.profile().orElseThrow().fields().get(3);
        assertEquals(1, heat.deviation(0), 0.1, "though the mean is a million");
    }

    @Test
    void oneBatchOfEachBlockIsLookedAtAndTheFirstOfAnEpoch() {
        DataStatistics statistics = DataStatistics.builder().every(64).build();
        for (long epoch = 0; epoch < 3; epoch++) {
            assertTrue(statistics.isWatched(epoch, 0));
            int[] ofBlock = new int[100];
            for (int batch = 0; batch < 6400; batch++) {
                ofBlock[batch / 64] += statistics.isWatched(epoch, batch) ? 1 : 0;
            }
            assertTrue(Arrays.stream(ofBlock).allMatch(n -> n == 1));
        }
    }

    @Test
    void lookingAtABatchAllocatesNothing() {
        DataStatistics statistics = DataStatistics.builder().every(1).build();
        new Corpus(1).show(statistics, 0, 2);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 200 && least >= 500 * 8; round++) {
            least = Math.min(least, new Corpus(round).allocatedByLooking(statistics, 500, threads));
        }
        assertTrue(least < 500 * 8, least + " bytes of heap in 500 batches");
    }

    @Test
    void aChangeBetweenEpochsIsFoundWithItsEpochAndToldOnce() {
        List<DataFinding> told = new ArrayList<>();
        DataStatistics statistics = DataStatistics.builder().every(1).onFinding(finding -> {
            told.add(finding);
            throw new IllegalStateException("a callback that fails");
        }).build();
        Corpus corpus = new Corpus(11);
        for (int epoch = 0; epoch < 6; epoch++) {
            corpus.light = epoch >= 3 ? 15 : 0;
            corpus.show(statistics, epoch, 48);
        }
        List<DataFinding> findings = statistics.findings();
        assertEquals(1, findings.size(), findings::toString);
        assertEquals(3, findings.getFirst().epoch());
        assertEquals(2, findings.getFirst().channel());
        assertEquals(1, told.size(), told::toString);
        assertEquals(5, statistics.findingsSoFar().getFirst().epoch());
    }

    @Test
    void aBaselineOfOtherFieldsStopsTheWatchAndNotTheTraining() {
        DataStatistics made = DataStatistics.builder().every(1).build();
        new Corpus(1).show(made, 0, 16);
        DataProfile other = DataProfile.fromJson(made.profile().orElseThrow().toJson().replace("\"heat\"", "\"cold\""));
        DataStatistics statistics = DataStatistics.builder().every(1).baseline(other).build();
        new Corpus(1).show(statistics, 0, 16);
        IllegalStateException stopped = assertThrows(IllegalStateException.class, statistics::findings);
        assertTrue(stopped.getMessage().contains("expected cold"), stopped.getMessage());
        assertTrue(statistics.profile().isEmpty());
    }

    @Test
    void profilesAreSavedReadBackAndMergedExactly() throws Exception {
        DataStatistics whole = DataStatistics.builder().every(1).build();
        DataStatistics first = DataStatistics.builder().every(1).build();
        DataStatistics second = DataStatistics.builder().every(1).build();
        Corpus corpus = new Corpus(21);
        corpus.show(first, 0, 32);
        corpus.show(second, 0, 32);
        corpus = new Corpus(21);
        corpus.show(whole, 0, 32);
        corpus.show(whole, 1, 32);
        Path file = folder.resolve("first.json");
        first.profile().orElseThrow().write(file);
        DataProfile read = DataProfile.read(file);
        assertEquals(first.profile().orElseThrow().toJson(), read.toJson());
        DataProfile merged = read.merge(second.profile().orElseThrow());
        DataProfile expected = whole.profile().orElseThrow();
        assertEquals(expected.samples(), merged.samples());
        for (int f = 0; f < merged.fields().size(); f++) {
            FieldProfile one = expected.fields().get(f);
            FieldProfile two = merged.fields().get(f);
            assertTrue(Arrays.equals(one.histogram(), two.histogram()), one.name());
            assertEquals(one.mean(0), two.mean(0), 1e-9, one.name());
            assertEquals(one.deviation(0), two.deviation(0), 1e-9, one.name());
        }
        assertTrue(Files.size(file) < 200_000, "small: " + Files.size(file));
    }

    @Test
    void aFileThatIsNoProfileIsRefusedWithItsName() throws Exception {
        DataStatistics statistics = DataStatistics.builder().every(1).build();
        new Corpus(1).show(statistics, 0, 16);
        String good = statistics.profile().orElseThrow().toJson();
        for (String bad : new String[] {"", "[]", "{}", good.replace("\"ids\"", "\"names\""),
                good.replace("\"penstock_data_profile\":1", "\"penstock_data_profile\":2"),
                good.replace("\"rows\":[16", "\"rows\":[-1"), good.replace("\"rows\":[16,", "\"rows\":["),
                good.replace("\"histogram\":{\"0\":", "\"histogram\":{\"9999\":"),
                good.replace("\"channels\":3", "\"channels\":3000000"),
                good.replace("\"replaced\":", "\"surplus\":0,\"replaced\":"), good.substring(0, good.length() - 2)}) {
            Path file = Files.writeString(folder.resolve("bad.json"), bad);
            Exception refused = assertThrows(MalformedStoreException.class, () -> DataProfile.read(file));
            assertTrue(refused.getMessage().startsWith(file + ": "), refused.getMessage());
        }
    }
}
