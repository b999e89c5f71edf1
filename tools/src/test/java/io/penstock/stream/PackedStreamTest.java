// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.PackedLm;
import io.penstock.collate.Pad;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.Documents;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.Packing;
import io.penstock.internal.Sha256;
import io.penstock.loader.Batch;
import io.penstock.loader.BatchException;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.sampling.TokenBudget;
import io.penstock.state.LoaderState;
import io.penstock.store.TokenStore;
import io.penstock.tokenize.TokenDocumentSource;
import io.penstock.tokenize.TokenizeJob;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What is packed and batched by tokens while it arrives is what is made of a store of the same documents. */
class PackedStreamTest {

    private static final int CAPACITY = 64;
    private static final int WINDOW = 17;
    private static final Tokenizer GPT2 = Tokenizer.of("gpt2");

    @TempDir
    private Path folder;
    private Path file;

    @BeforeEach
    void writeDocuments() throws IOException {
        Random random = new Random(4);
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            String text = "Water falls day by day. ".repeat(random.nextInt(i % 10 == 0 ? 60 : 12));
            lines.add("{\"text\": \"" + text + "\"}");
        }
        file = Files.write(folder.resolve("feed.jsonl"), lines);
    }

    private TokenDocumentSource documents() {
        return TokenDocumentSource.of(LineSource.of(file), RecordText.jsonField("text"), GPT2);
    }

    private TokenStore store() throws IOException, InterruptedException {
        Path store = folder.resolve("store");
        if (!Files.exists(folder.resolve("store.idx"))) {
            new TokenizeJob(GPT2, List.of(file), store).appendEndOfText().run();
        }
        return TokenStore.open(store);
    }

    private static List<String> rows(Batch batch) {
        List<String> rows = new ArrayList<>();
        for (TensorSpec spec : batch.fields()) {
            rows.add(spec + " " + Sha256.hex(batch.tensor(spec.name()).segment(), _ -> { }));
        }
        return rows;
    }

    private static List<List<String>> all(DataLoader loader) {
        List<List<String>> all = new ArrayList<>();
        for (Batch batch : loader.epoch()) {
            try (batch) {
                all.add(rows(batch));
            }
        }
        return all;
    }

    @ParameterizedTest
    @EnumSource(Packing.Method.class)
    void sequencesAreThoseOfAPackedStore(Packing.Method method) throws Exception {
        var collator = PackedLm.of(DType.I64);
        List<List<String>> expected;
        try (TokenStore store = store();
                PackedSequences packed = new Packing(Documents.of(store), CAPACITY, method, WINDOW).pack();
                DataLoader loader = DataLoader.builder(packed).collator(collator).batchSize(5).endEpoch(1).open()) {
            expected = all(loader);
        }
        for (int workers = 0; workers < 3; workers++) {
            try (PackedStream packed = StreamDataset.builder(new PackedSource(documents(), CAPACITY, method, WINDOW))
                    .openPacked();
                    DataLoader loader = DataLoader.builder(packed).collator(collator).batchSize(5).workers(workers)
                            .open()) {
                assertEquals(expected, all(loader));
            }
        }
    }

    @Test
    void aRunThatIsStoppedAnywhereResumesWithTheSameSequences() {
        PackedSource source = new PackedSource(documents(), CAPACITY, Packing.Method.BEST_FIT, WINDOW);
        List<List<String>> straight = resumed(StreamDataset.builder(source).shuffle(3, 8)::openPacked, 1000);
        assertEquals(straight, resumed(StreamDataset.builder(source).shuffle(3, 8)::openPacked, 1));
        assertEquals(straight, resumed(StreamDataset.builder(source).shuffle(3, 8)::openPacked, 3));
    }

    /** Takes all batches of one sequence by runs of so many. */
    private static List<List<String>> resumed(Supplier<PackedStream> open, int batches) {
        List<List<String>> all = new ArrayList<>();
        LoaderState state = null;
        boolean isOver = false;
        while (!isOver) {
            try (PackedStream packed = open.get()) {
                DataLoaderBuilder builder = DataLoader.builder(packed).collator(PackedLm.narrow())
                        .batchSize(1).workers(1);
                try (DataLoader loader = (state == null ? builder : builder.resume(state)).open()) {
                    for (int i = 0; i < batches && loader.hasNext(); i++) {
                        try (Batch batch = loader.next()) {
                            all.add(rows(batch));
                        }
                    }
                    isOver = !loader.hasNext();
                    state = LoaderState.fromJson(loader.state().toJson());
                }
            }
        }
        return all;
    }

    @Test
    void aWindowThatWasPackedAtTheEndIsPackedAlikeWhenTheFileHasGrown() throws IOException {
        PackedSource source = new PackedSource(documents(), CAPACITY, Packing.Method.BEST_FIT, 1000);
        List<byte[]> first = records(source, "", 1000);
        String cursor;
        try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer()) {
            for (int i = 0; i < first.size() / 2; i++) {
                reader.poll(into);
            }
            cursor = reader.cursor();
        }
        Files.write(file, List.of("{\"text\": \"one more\"}"), StandardOpenOption.APPEND);
        List<byte[]> rest = records(source, cursor, 1000);
        assertEquals(first.size() - first.size() / 2 + 1, rest.size());
        for (int i = 0; i < rest.size() - 1; i++) {
            assertEquals(-1, Arrays.mismatch(first.get(first.size() / 2 + i), rest.get(i)));
        }
        String lost = cursor.replaceFirst(",\\d+", ",999");
        IOException failed = assertThrows(IOException.class, () -> records(source, lost, 1));
        assertTrue(failed.getMessage().contains("expected 999"), failed.getMessage());
        assertThrows(IOException.class, () -> records(source, "x", 1));
    }

    private static List<byte[]> records(PackedSource source, String cursor, int most) throws IOException {
        List<byte[]> records = new ArrayList<>();
        try (PartitionReader reader = source.open(0, cursor); RecordBuffer into = new RecordBuffer()) {
            while (records.size() < most && reader.poll(into) == PartitionReader.Found.RECORD) {
                records.add(into.record(into.count() - 1).toArray(JAVA_BYTE));
            }
        }
        return records;
    }

    @ParameterizedTest
    @CsvSource({"PADDED, 0, 1", "PADDED, 2, 1", "SUM, 1, 1", "PADDED, 3, 2"})
    void batchesByTokensAreThoseOfAStore(TokenBudget.Cost cost, int workers, int world) throws Exception {
        TokenBudget budget = new TokenBudget(512, 40, 1, cost);
        for (int rank = 0; rank < world; rank++) {
            Shard shard = new Shard(rank, world, TailPolicy.DROP);
            List<List<String>> expected;
            try (TokenStore store = store()) {
                Documents documents = Documents.of(store, 300);
                expected = all(budgeted(documents, shard).tokenBudget(budget, documents::length).endEpoch(1));
            }
            try (StreamDataset stream = StreamDataset.builder(documents()).list("tokens", documents().dtype(), 300)
                    .open()) {
                assertEquals(expected, all(budgeted(stream, shard).workers(workers)
                        .tokenBudget(budget, stream.lengths("tokens"))));
            }
        }
    }

    private static DataLoaderBuilder budgeted(Dataset dataset, Shard shard) {
        return DataLoader.builder(dataset).collator(Pad.toLongest(DType.I32, 0)).shard(shard);
    }

    private static List<List<String>> all(DataLoaderBuilder builder) {
        try (DataLoader loader = builder.open()) {
            return all(loader);
        }
    }

    @Test
    void aRunByTokensResumesFromItsStateAndASampleAboveTheBudgetIsPassedOver() {
        TokenBudget budget = TokenBudget.padded(100);
        List<List<String>> straight = byTokens(budget, 1000);
        assertEquals(straight, byTokens(budget, 1));
        assertTrue(straight.stream().anyMatch(List::isEmpty), "no document exceeds the budget");
    }

    /** Takes all batches by runs of so many; empty for those that cannot be made. */
    private List<List<String>> byTokens(TokenBudget budget, int batches) {
        List<List<String>> all = new ArrayList<>();
        LoaderState state = null;
        boolean isOver = false;
        while (!isOver) {
            try (StreamDataset stream = StreamDataset.builder(documents()).list("tokens", documents().dtype(), 300)
                    .shuffle(5, 32).open()) {
                DataLoaderBuilder builder = DataLoader.builder(stream).collator(Pad.toLongest(DType.I32, 0))
                        .workers(1).tokenBudget(budget, stream.lengths("tokens"));
                try (DataLoader loader = (state == null ? builder : builder.resume(state)).open()) {
                    for (int i = 0; i < batches && loader.hasNext(); i++) {
                        try (Batch batch = loader.next()) {
                            all.add(rows(batch));
                        } catch (BatchException tooLong) {
                            assertTrue(tooLong.getMessage().contains("token budget"), tooLong.getMessage());
                            all.add(List.of());
                        }
                    }
                    isOver = !loader.hasNext();
                    state = loader.state();
                }
            }
        }
        return all;
    }

    @Test
    void aBudgetNeedsALengthOfEverySample() {
        var source = NumberSource.of(4, 100);
        try (StreamDataset lanes = StreamDataset.builder(source).list("id", DType.I64, 2).lanes(4)
                .open(); StreamDataset epochs = StreamDataset.builder(source).list("id", DType.I64, 2)
                .epochRecords(100).open()) {
            DataLoaderBuilder ranks = DataLoader.builder(lanes).shard(new Shard(0, 2, TailPolicy.DROP))
                    .collator(Pad.toLongest(DType.I64, 0)).tokenBudget(TokenBudget.sum(8), lanes.lengths("id"));
            assertTrue(assertThrows(IllegalArgumentException.class, ranks::open).getMessage().contains("lanes"));
            DataLoaderBuilder whole = DataLoader.builder(epochs).collator(Pad.toLongest(DType.I64, 0))
                    .tokenBudget(TokenBudget.sum(8), epochs.lengths("id"));
            assertTrue(assertThrows(IllegalArgumentException.class, whole::open).getMessage().contains("epoch"));
            assertThrows(IllegalArgumentException.class, () -> lanes.lengths("other"));
        }
    }

    @Test
    void recordsWithoutTextAreLeftOutAndCountedOnRequest() throws IOException {
        Path bad = Files.write(folder.resolve("bad.jsonl"), List.of("{\"text\": \"a\"}", "{}", "nothing",
                "{\"text\": \"b\"}"));
        TokenDocumentSource source = TokenDocumentSource.of(LineSource.of(bad), RecordText.jsonField("text"), GPT2);
        assertTrue(!source.fingerprint().equals(source.skippingBad().fingerprint()));
        assertEquals(3, Stream.of(RecordText.WHOLE, RecordText.jsonField("text"), RecordText.jsonField("body"))
                .map(text -> TokenDocumentSource.of(LineSource.of(file), text, GPT2).fingerprint()).distinct().count());
        try (PartitionReader reader = source.skippingBad().open(0, ""); RecordBuffer into = new RecordBuffer()) {
            assertEquals(PartitionReader.Found.RECORD, reader.poll(into));
            assertEquals(PartitionReader.Found.RECORD, reader.poll(into));
            assertEquals(PartitionReader.Found.END, reader.poll(into));
            assertEquals(2, reader.lag().skipped());
        }
    }
}
