// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.CausalLm;
import io.penstock.collate.Collator;
import io.penstock.collate.Pad;
import io.penstock.collate.Stack;
import io.penstock.dataset.Cached;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.Documents;
import io.penstock.dataset.Filtered;
import io.penstock.dataset.Lengths;
import io.penstock.dataset.TokenWindows;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.dataset.source.SampleMap;
import io.penstock.error.MalformedStoreException;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.sampling.Mixture;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.state.LoaderState;
import io.penstock.testing.Folders;
import io.penstock.testing.MemoryTokenStore;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Filters and maps by users' code, through the loader that runs them. */
class SampleTransformsTest {

    private static final int ROWS = 500;
    private static final int WIDTH = 5;
    private static final String NOISE = "noise";

    private final ByteRows rows = new ByteRows(ROWS, WIDTH);

    @TempDir
    Path folder;

    /** {@code u8[5]} to {@code i64[2]}: the sum of the row, and a random number. */
    private static final SampleMap SUM_AND_DRAW = (in, random, out) -> {
        long sum = 0;
        for (long i = 0; i < in.dim(0); i++) {
            sum += in.segment().get(ValueLayout.JAVA_BYTE, i);
        }
        out.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, 0, sum);
        out.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, 8, random.nextLong());
    };

    private Dataset noisy(Dataset of) {
        return of.map("row", new TensorSpec("made", DType.I64, 2), "sum and draw", NOISE, SUM_AND_DRAW);
    }

    private static long sum(long row) {
        long sum = 0;
        for (int i = 0; i < WIDTH; i++) {
            sum += ByteRows.at(row, i);
        }
        return sum;
    }

    /** What each (epoch, sample) was made into. */
    private static void take(DataLoader loader, long batches, Map<List<Long>, List<Long>> into) {
        for (long n = 0; n < batches && loader.hasNext(); n++) {
            try (Batch batch = loader.next()) {
                for (int row = 0; row < batch.valid(); row++) {
                    var made = batch.tensor("made").segment();
                    List<Long> value = List.of(made.getAtIndex(ValueLayout.JAVA_LONG, 2 * row),
                            made.getAtIndex(ValueLayout.JAVA_LONG, 2 * row + 1));
                    assertEquals(null, into.put(List.of(batch.epoch(), batch.sample(row)), value), "a sample twice");
                }
            }
        }
    }

    @Test
    void aMapSeesEachSampleAndTheRandomNumbersOfItsSeedEpochPositionAndStep() {
        Map<List<Long>, List<Long>> expected = new TreeMap<>(LISTS);
        for (long epoch = 0; epoch < 2; epoch++) {
            var random = new KeyedRandom(77, epoch);
            var order = Sampler.shuffled(ROWS, 77).epoch(epoch);
            for (long position = 0; position < ROWS; position++) {
                random.select(position, KeyedRandom.step(NOISE));
                long row = order.at(position);
                expected.put(List.of(epoch, row), List.of(sum(row), random.nextLong()));
            }
        }
        for (int workers = 0; workers < 4; workers++) {
            Map<List<Long>, List<Long>> found = new TreeMap<>(LISTS);
            try (DataLoader loader = DataLoader.builder(noisy(rows)).shuffle(77).batchSize(3 + workers).workers(workers)
                    .endEpoch(2).open()) {
                take(loader, Long.MAX_VALUE, found);
            }
            assertEquals(expected, found, workers + " workers");
        }
        // Killed and resumed with other ranks, workers and batch sizes, all values are the same.
        var random = new SplittableRandom(6);
        for (int round = 0; round < 10; round++) {
            Map<List<Long>, List<Long>> found = new TreeMap<>(LISTS);
            LoaderState state = null;
            while (state == null || state.epoch() < 2) {
                int world = random.nextInt(1, 4);
                int size = random.nextInt(1, 40);
                long kill = random.nextLong(1, 20);
                LoaderState after = null;
                for (int rank = 0; rank < world; rank++) {
                    DataLoaderBuilder settings = DataLoader.builder(noisy(rows)).shuffle(77).batchSize(size)
                            .shard(new Shard(rank, world, TailPolicy.EXACT)).workers(random.nextInt(3)).endEpoch(2);
                    try (DataLoader loader = (state == null ? settings : settings.resume(state)).open()) {
                        take(loader, kill, found);
                        after = loader.state();
                    }
                }
                state = after;
            }
            assertEquals(expected, found, "round " + round);
        }
    }

    /** By (epoch, position), what the map drew there: the random number alone. */
    private static Map<List<Long>, Long> drawn(DataLoaderBuilder settings) {
        Map<List<Long>, Long> draws = new TreeMap<>(LISTS);
        try (DataLoader loader = settings.endEpoch(2).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    var made = batch.tensor("made").segment();
                    for (int row = 0; row < batch.count(); row++) {
                        Long draw = made.getAtIndex(ValueLayout.JAVA_LONG, 2L * row + 1);
                        assertEquals(null, draws.put(List.of(batch.epoch(), batch.position(row)), draw), "twice");
                        assertEquals(sum(batch.sample(row)), made.getAtIndex(ValueLayout.JAVA_LONG, 2L * row));
                    }
                }
            }
        }
        return draws;
    }

    @Test
    void aSampleThatAnOrderGivesTwiceIsNotAugmentedTwiceAlike() {
        int[] classes = new int[ROWS];
        Arrays.fill(classes, 0, 5, 1);                              // each of them comes a hundred times
        Sampler few = Sampler.subset(new long[] {3, 3, 4}, ROWS, Sampler.shuffled(3, 1));
        for (Sampler sampler : List.of(Sampler.balanced(classes, ROWS, 7), Sampler.withReplacement(ROWS, 900, 7), few,
                Mixture.of(700, new Mixture.Source(few, 1)))) {
            Map<List<Long>, Long> draws = drawn(DataLoader.builder(noisy(rows)).sampler(sampler).batchSize(7)
                    .workers(2));
            assertEquals(2 * sampler.size(), draws.size());
            assertEquals(draws.size(), new HashSet<>(draws.values()).size(), sampler.fingerprint());
        }
    }

    @Test
    void surplusSamplesOfATailDrawByTheirPositionWhateverTheRanks() {
        Map<List<Long>, Long> all = drawn(DataLoader.builder(noisy(rows)).shuffle(77).batchSize(9).workers(1));
        for (int world : new int[] {3, 7, 8}) {
            Map<List<Long>, Long> ranks = new TreeMap<>(LISTS);
            for (int rank = 0; rank < world; rank++) {
                ranks.putAll(drawn(DataLoader.builder(noisy(rows)).shuffle(77).batchSize(4 + rank).workers(rank % 3)
                        .shard(new Shard(rank, world, TailPolicy.PAD))));
            }
            assertEquals(2 * Math.ceilDiv(ROWS, world) * world, ranks.size());
            all.forEach((place, draw) -> assertEquals(draw, ranks.get(place), place::toString));
            // The wrapped ones are the first samples again, and other draws.
            assertEquals(ranks.size(), new HashSet<>(ranks.values()).size());
        }
    }

    @Test
    void theSeedIsTheLoadersOwnAndByDefaultOneOfTheOrder() {
        Sampler first = Sampler.shuffled(ROWS, 7);
        Mixture mixture = Mixture.of(50, new Mixture.Source(Sampler.subset(new long[] {1}, ROWS,
                Sampler.sequential(1)), 1));
        var random = new KeyedRandom(7, 1);
        random.select(49, KeyedRandom.step(NOISE));
        long expected = random.nextLong();
        List<Long> place = List.of(1L, 49L);
        Mixture shuffled = Mixture.of(50, new Mixture.Source(first, 1));
        assertEquals(0, shuffled.seed());                           // what a state says has not changed
        assertEquals(expected, drawn(DataLoader.builder(noisy(rows)).sampler(shuffled)).get(place));
        assertEquals(expected, drawn(DataLoader.builder(noisy(rows)).sampler(mixture).seed(7)).get(place));
        assertEquals(expected, drawn(DataLoader.builder(noisy(rows)).seed(7)).get(place));
        assertEquals(expected, drawn(DataLoader.builder(noisy(rows)).shuffle(99).seed(7)).get(place));
        assertEquals(expected, drawn(DataLoader.builder(noisy(rows)).sampler(shuffled.byChance(7))).get(place));
        assertNotEquals(expected, drawn(DataLoader.builder(noisy(rows)).sampler(shuffled.byChance(8))).get(place));
    }

    @Test
    void aStepThatIsAddedChangesNoOtherAndTwoThatWouldDrawAlikeAreRefused() {
        Map<List<Long>, Long> alone = drawn(DataLoader.builder(noisy(rows)).shuffle(5));
        SampleMap draws = (in, random, out) -> {
            random.nextInt();
            out.segment().copyFrom(in.segment());
        };
        TensorSpec row = new TensorSpec("row", DType.U8, WIDTH);
        assertEquals(alone, drawn(DataLoader.builder(noisy(rows.map("row", row, "before", draws))).shuffle(5)));
        Dataset noisy = noisy(rows);
        var refused = assertThrows(IllegalArgumentException.class, () ->
                noisy.map("made", new TensorSpec("made", DType.I64, 2), "again", NOISE, draws));
        assertTrue(refused.getMessage().contains("step 'noise'"), refused.getMessage());
    }

    private static final Comparator<List<Long>> LISTS = Comparator
            .<List<Long>>comparingLong(list -> list.get(0)).thenComparingLong(list -> list.get(1));

    @Test
    void mapsAreChainedAndFollowLengthsThatVary() {
        long[] starts = {0, 3, 3, 10, 12};
        try (var store = new MemoryTokenStore(DType.U16, starts)) {
            Documents documents = Documents.of(store);
            SampleMap plusOne = (in, _, out) -> {
                for (long i = 0; i < in.dim(0); i++) {
                    int token = in.segment().getAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, i) & 0xFFFF;
                    out.segment().setAtIndex(ValueLayout.JAVA_INT_UNALIGNED, i, token + 1);
                }
            };
            SampleMap twice = (in, _, out) -> {
                for (long i = 0; i < in.dim(0); i++) {
                    out.segment().setAtIndex(ValueLayout.JAVA_INT_UNALIGNED, i,
                            2 * in.segment().getAtIndex(ValueLayout.JAVA_INT_UNALIGNED, i));
                }
            };
            TensorSpec ids = new TensorSpec("ids", DType.I32, TensorSpec.VARIABLE);
            Dataset made = documents.map("tokens", ids, "plus one", plusOne).map("ids", ids, "twice", twice);
            assertEquals(7, made.maxLength(0));
            assertEquals(List.of(3L, 0L, 7L, 2L), LongStream.range(0, 4).map(Lengths.of(made, 0)).boxed().toList());
            try (DataLoader loader = DataLoader.builder(made).collator(Pad.toLongest(DType.I64, -5)).batchSize(4)
                    .workers(1).open(); Batch batch = loader.next()) {
                for (int d = 0; d < 4; d++) {
                    for (int t = 0; t < 7; t++) {
                        long expected = t < starts[d + 1] - starts[d] ? 2 * (store.token(starts[d] + t) + 1) : -5;
                        assertEquals(expected, batch.tensor("input_ids").segment()
                                .getAtIndex(ValueLayout.JAVA_LONG, 7 * d + t));
                    }
                }
            }
            assertNotEquals(made.fingerprint(), documents.map("tokens", ids, "plus one", plusOne)
                    .fingerprint());
        }
    }

    @Test
    void mappedTokensAreWidenedToInputsAndLabels() {
        try (var store = new MemoryTokenStore(DType.U16, 100)) {
            Dataset windows = TokenWindows.of(store, 4);
            TensorSpec tokens = windows.fields().getFirst();
            Dataset same = windows.map(tokens.name(), tokens, "same", (in, _, out) -> out.segment()
                    .copyFrom(in.segment()));
            try (DataLoader expected = DataLoader.builder(windows).collator(CausalLm.widened(DType.I64))
                    .batchSize(5)
                            .open();
                    DataLoader found = DataLoader.builder(same).collator(CausalLm.widened(DType.I64)).batchSize(5)
                            .open()) {
                for (int b = 0; b < 4; b++) {
                    try (Batch plain = expected.next(); Batch mapped = found.next()) {
                        for (String field : List.of(CausalLm.INPUT_IDS, CausalLm.LABELS)) {
                            assertEquals(-1, plain.tensor(field).segment().mismatch(mapped.tensor(field).segment()));
                        }
                    }
                }
            }
        }
    }

    @Test
    void anErrorOfAMapNamesTheSampleAndABadOneIsSkippedByThePolicy() {
        TensorSpec same = new TensorSpec("row", DType.U8, WIDTH);
        Dataset broken = rows.map("row", same, "broken", (_, _, _) -> {
            throw new ArithmeticException("of the map's own");
        });
        try (DataLoader loader = DataLoader.builder(broken).batchSize(4).workers(1).open()) {
            var error = assertThrows(BatchException.class, loader::next);
            assertTrue(error.getCause().getMessage().startsWith("sample 0, field 'row': the map failed"),
                    error.getCause().getMessage());
        }
        Dataset bad = rows.map("row", same, "bad", (in, _, out) -> {
            out.segment().copyFrom(in.segment());
            if (in.segment().get(ValueLayout.JAVA_BYTE, 0) == ByteRows.at(2, 0)) {
                throw new IOException("not this one");
            }
        });
        try (DataLoader loader = DataLoader.builder(bad).batchSize(4).workers(1).onBadSample(BadSamplePolicy.SKIP)
                .open();
                Batch batch = loader.next()) {
            assertEquals(3, batch.valid());
            assertTrue(loader.badSamples().getFirst().toString().contains("not this one"));
        }
        // Where there is no epoch there is no chance: values are not made up.
        try (var reader = new SampleReader(noisy(rows), ReadMode.AUTO)) {
            assertThrows(IllegalStateException.class, () -> reader.locate(0, 0));
        }
    }

    @Test
    void aFilterKeepsWhatItsConditionHoldsForAndIsReadBackFromAFile() throws IOException {
        Filtered positive = rows.filter("positive", sample ->
                sample.tensor("row").segment().get(ValueLayout.JAVA_BYTE, 0) > 0 && sample.length("row") == WIDTH);
        long[] expected = LongStream.range(0, ROWS).filter(row -> ByteRows.at(row, 0) > 0).toArray();
        assertTrue(expected.length > 100 && expected.length < ROWS - 100);
        Path file = folder.resolve("positive.filter");
        positive.save(file);
        Filtered again = rows.filter(file);
        assertEquals(positive.fingerprint(), again.fingerprint());
        assertEquals(List.of(file), Folders.files(folder));
        for (Filtered filtered : List.of(positive, again)) {
            assertEquals(expected.length, filtered.size());
            long[] seen = new long[ROWS];
            try (DataLoader loader = DataLoader.builder(filtered).shuffle(3).batchSize(7).endEpoch(1).open()) {
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        for (int row = 0; row < batch.count(); row++) {
                            long origin = filtered.origin(batch.sample(row));
                            seen[(int) origin]++;
                            for (int i = 0; i < WIDTH; i++) {
                                assertEquals(ByteRows.at(origin, i), batch.tensor("row").segment()
                                        .get(ValueLayout.JAVA_BYTE, (long) row * WIDTH + i));
                            }
                        }
                    }
                }
            }
            assertEquals(Arrays.stream(expected).boxed().toList(),
                    LongStream.range(0, ROWS).filter(row -> seen[(int) row] == 1).boxed().toList());
        }
        // A map of what is kept is keyed by the sample's index among them.
        Map<List<Long>, List<Long>> found = new TreeMap<>(LISTS);
        try (DataLoader loader = DataLoader.builder(noisy(again)).batchSize(9).endEpoch(1).open()) {
            take(loader, Long.MAX_VALUE, found);
        }
        assertEquals(Arrays.stream(expected).map(SampleTransformsTest::sum).boxed().toList(),
                found.values().stream().map(List::getFirst).toList());
    }

    @Test
    void aFilesEveryDamageIsFoundAndAnotherDatasetRefused() throws IOException {
        Path file = folder.resolve("some.filter");
        rows.filter("some", sample -> sample.index() % 3 == 0).save(file);
        byte[] whole = Files.readAllBytes(file);
        for (int at = 0; at < whole.length; at++) {
            byte[] damaged = whole.clone();
            damaged[at] ^= 4;
            Files.write(file, damaged);
            String name = new String(whole, 0, whole.length, StandardCharsets.ISO_8859_1);
            int begin = name.indexOf("\"some\"");
            if (at > begin && at <= begin + 4) {
                continue;                               // another name is another name
            }
            assertThrows(MalformedStoreException.class, () -> rows.filter(file), "byte " + at);
        }
        for (int length = 0; length < whole.length; length += 7) {
            Files.write(file, Arrays.copyOf(whole, length));
            assertThrows(MalformedStoreException.class, () -> rows.filter(file), length + " bytes");
        }
        Files.write(file, whole);
        var error = assertThrows(MalformedStoreException.class, () -> new ByteRows(ROWS, 4).filter(file));
        assertTrue(error.getMessage().contains("found 'rows:500x5', expected 'rows:500x4'"), error.getMessage());
        rows.filter(file);
    }

    @Test
    void whatAFilterCannotDoIsSaid() {
        assertThrows(IllegalArgumentException.class, () -> rows.filter("none", _ -> false));
        // Where there is no order there is no chance: a filter looks at no value that depends on it.
        var chance = assertThrows(IllegalStateException.class, () -> noisy(rows)
                .filter("drawn", sample -> sample.tensor("made").getLong(1) > 0));
        assertTrue(chance.getMessage().contains("random numbers are for the batches of a loader"),
                chance.getMessage());
        var error = assertThrows(IllegalStateException.class, () -> rows.filter("throws", sample -> {
            if (sample.index() == 321) {
                throw new ArithmeticException("of the condition's own");
            }
            return true;
        }));
        assertTrue(error.getMessage().contains("sample 321"), error.getMessage());
        assertThrows(IllegalStateException.class, () -> rows.filter("no field", sample ->
                sample.length("column") > 0));
    }

    @Test
    void aBatchMapChangesEachBatchInTheWorker() {
        Collator collator = Stack.fields().then((plan, batch) -> {
            for (int row = 0; row < plan.count(); row++) {
                batch.segment().set(ValueLayout.JAVA_BYTE, batch.offset(0) + (long) row * WIDTH,
                        (byte) (plan.sample(row) + plan.epoch()));
            }
        });
        List<Long> seen = new ArrayList<>();
        try (DataLoader loader = DataLoader.builder(rows).collator(collator).shuffle(1).batchSize(8).workers(3)
                .endEpoch(2)
                .open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        var bytes = batch.tensor("row").segment();
                        assertEquals((byte) (batch.sample(row) + batch.epoch()),
                                bytes.get(ValueLayout.JAVA_BYTE, (long) row * WIDTH));
                        assertEquals(ByteRows.at(batch.sample(row), 1),
                                bytes.get(ValueLayout.JAVA_BYTE, (long) row * WIDTH + 1));
                        seen.add(batch.sample(row));
                    }
                }
            }
        }
        assertEquals(2 * ROWS, seen.size());
    }

    @Test
    void whatIsKeptIsMadeOnceAndIsTheSame() throws IOException {
        var made = new AtomicLong();
        SampleMap slow = (in, _, out) -> {
            made.incrementAndGet();
            out.segment().copyFrom(in.segment());
            out.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 77);
        };
        Dataset mapped = rows.map("row", new TensorSpec("row", DType.U8, WIDTH), "77", slow);
        try (Cached kept = mapped.cache("row")) {
            assertEquals(mapped.fingerprint(), kept.fingerprint());
            for (int epoch = 0; epoch < 3; epoch++) {
                try (DataLoader loader = DataLoader.builder(kept).shuffle(epoch).batchSize(6).workers(3).endEpoch(1)
                        .open()) {
                    while (loader.hasNext()) {
                        try (Batch batch = loader.next()) {
                            for (int row = 0; row < batch.count(); row++) {
                                for (int i = 0; i < WIDTH; i++) {
                                    assertEquals(i == 0 ? 77 : ByteRows.at(batch.sample(row), i), batch.tensor("row")
                                            .segment().get(ValueLayout.JAVA_BYTE, (long) row * WIDTH + i));
                                }
                            }
                        }
                    }
                }
                assertEquals(ROWS, made.get(), "made once, whatever the epoch and the workers");
            }
            // Chance is not kept.
            try (Cached drawn = noisy(rows).cache("made"); var reader = new SampleReader(drawn, ReadMode.AUTO)) {
                assertThrows(IllegalStateException.class, () -> reader.locate(0, 0));
            }
        }
    }

    @Test
    void valuesOfVaryingLengthAreKeptToo() throws IOException {
        long[] starts = {0, 3, 3, 10, 12};
        try (var store = new MemoryTokenStore(DType.U16, starts);
                Cached kept = Documents.of(store).cache("tokens");
                var reader = new SampleReader(kept, ReadMode.PREAD)) {
            for (int round = 0; round < 2; round++) {
                for (int d = 0; d < 4; d++) {
                    Span document = reader.locate(d, 0);
                    assertEquals(2 * (starts[d + 1] - starts[d]), document.byteSize());
                    int[] tokens = reader.readIntegers(document, (int) (starts[d + 1] - starts[d]), DType.U16);
                    for (int t = 0; t < starts[d + 1] - starts[d]; t++) {
                        assertEquals(store.token(starts[d] + t), tokens[t]);
                    }
                }
            }
            assertThrows(IndexOutOfBoundsException.class, () -> reader.locate(4, 0));
        }
    }
}
