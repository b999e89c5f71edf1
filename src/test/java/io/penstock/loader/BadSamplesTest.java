// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.PackedLm;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.Documents;
import io.penstock.dataset.Packing;
import io.penstock.dataset.TokenWindows;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.dataset.source.BadSampleException;
import io.penstock.dataset.source.FieldSource;
import io.penstock.decode.Decoder;
import io.penstock.error.LibraryException;
import io.penstock.io.ReadMode;
import io.penstock.json.Json;
import io.penstock.loader.BadSamplePolicy.BadSample;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.ListedPlans;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.state.LoaderState;
import io.penstock.store.Column;
import io.penstock.store.IfExists;
import io.penstock.store.TokenStore;
import io.penstock.store.integrity.BlockChecksums;
import io.penstock.testing.Corpora;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A corpus with two damaged blocks: what verified reads find, and what the policies make of it. */
class BadSamplesTest {

    private static final int TOKENS = 600_000;
    private static final int LENGTH = 200;
    private static final int BATCH = 32;
    private static final int SEED = 42;
    private static final int[] DAMAGED = {200_000, 700_003};

    @TempDir
    private Path folder;

    private byte[] bytes;
    private TokenStore store;
    private Dataset windows;
    /** The windows that have a token in a damaged block. */
    private final Set<Long> bad = new TreeSet<>();

    @BeforeEach
    void damage() throws IOException {
        Path file = Corpora.rawU16(folder, TOKENS, 7);
        BlockChecksums.write(file, IfExists.FAIL, _ -> { });
        bytes = Files.readAllBytes(file);
        for (int at : DAMAGED) {
            bytes[at] ^= 1;
        }
        Files.write(file, bytes);
        store = TokenStore.open(file);
        windows = TokenWindows.of(store, LENGTH);
        int block = BlockChecksums.DEFAULT_BLOCK_BYTES;
        for (long sample = 0; sample < windows.size(); sample++) {
            long first = 2 * LENGTH * sample / block;
            long last = (2 * LENGTH * sample + 2 * LENGTH + 1) / block;
            for (int at : DAMAGED) {
                if (first <= at / block && at / block <= last) {
                    bad.add(sample);
                }
            }
        }
        assertTrue(bad.size() > 320 && bad.size() < 340, "bad windows: " + bad.size());
    }

    @AfterEach
    void close() {
        store.close();
    }

    private DataLoaderBuilder loader() {
        return unverified().verify();
    }

    private DataLoaderBuilder unverified() {
        return DataLoader.builder(windows).batchSize(BATCH).shuffle(SEED).endEpoch(2);
    }

    /** What a trainer sees of a batch: the samples of its rows, their bytes, and how many have weight. */
    private record Seen(List<Long> samples, int valid, int replaced, int contentHash) {

        static Seen of(Batch batch) {
            List<Long> samples = new ArrayList<>();
            for (int row = 0; row < batch.count(); row++) {
                samples.add(batch.sample(row));
            }
            return new Seen(samples, batch.valid(), batch.replaced(),
                    Arrays.hashCode(batch.tensor("tokens").segment().toArray(ValueLayout.JAVA_BYTE)));
        }
    }

    private static List<Seen> drain(DataLoader loader) {
        List<Seen> seen = new ArrayList<>();
        while (loader.hasNext()) {
            try (Batch batch = loader.next()) {
                seen.add(Seen.of(batch));
            }
        }
        return seen;
    }

    @ParameterizedTest
    @CsvSource({"0, MMAP", "1, PREAD", "3, AUTO"})
    void withoutAPolicyExactlyTheBatchesWithABadSampleFailAndNameTheBlock(int workers, ReadMode mode) {
        try (DataLoader loader = loader().workers(workers).readMode(mode).endEpoch(1).open()) {
            var order = Sampler.shuffled(windows.size(), SEED).epoch(0);
            for (long batch = 0; loader.hasNext(); batch++) {
                boolean expected = false;
                for (long p = batch * BATCH; p < Math.min(windows.size(), (batch + 1) * BATCH); p++) {
                    expected |= bad.contains(order.at(p));
                }
                if (!expected) {
                    loader.next().close();
                    continue;
                }
                BatchException failed = assertThrows(BatchException.class, loader::next);
                assertInstanceOf(BadSampleException.class, failed.getCause());
                assertTrue(bad.contains(failed.sample()), failed.getMessage());
                assertTrue(failed.getMessage().matches(
                        ".*corpus.*bin: at byte (196608|655360): a block whose CRC-32C is .*"), failed.getMessage());
            }
            assertEquals(0, loader.report().badSamples());
            assertTrue(loader.report().verifiedBytes() > 0);
        }
    }

    @Test
    void withoutVerificationNothingIsFound() {
        try (DataLoader loader = unverified().open()) {
            assertEquals(2 * ((windows.size() + BATCH - 1) / BATCH), drain(loader).size());
            assertEquals(0, loader.report().verifiedBytes());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"REPLACE", "SKIP"})
    void batchesAreTheSameWhateverTheWorkersTheReadModeAndTheWayToTheDevice(BadSamplePolicy policy) {
        List<Seen> expected = null;
        for (int workers : new int[] {0, 1, 3}) {
            for (ReadMode mode : new ReadMode[] {ReadMode.MMAP, ReadMode.PREAD}) {
                try (DataLoader loader = loader().workers(workers).readMode(mode).onBadSample(policy)
                        .transfer(workers == 1 ? TransferMode.COPY : TransferMode.AUTO).open()) {
                    List<Seen> seen = drain(loader);
                    expected = expected == null ? seen : expected;
                    assertEquals(expected, seen, workers + " workers, " + mode);
                    assertEquals(2 * bad.size(), loader.report().badSamples());
                    assertTrue(loader.badSamples().stream().allMatch(found -> bad.contains(found.sample())
                            && found.reason().contains("CRC-32C")));
                    assertEquals(new HashSet<>(bad), new HashSet<>(loader.badSamples().stream()
                            .map(BadSample::sample).toList()));
                }
            }
        }
    }

    @Test
    void replacedSamplesAreThoseOfThePagesFormulaAndTheOthersStayWhereTheyWere() {
        try (DataLoader loader = loader().onBadSample(BadSamplePolicy.REPLACE).open()) {
            long position = 0;
            long epoch = 0;
            for (Seen batch : drain(loader)) {
                assertEquals(batch.samples().size(), batch.valid());
                var order = Sampler.shuffled(windows.size(), SEED).epoch(epoch);
                for (long sample : batch.samples()) {
                    long own = order.at(position);
                    assertEquals(bad.contains(own) ? substitute(own, epoch, position) : own, sample);
                    position++;
                }
                if (position == windows.size()) {
                    position = 0;
                    epoch++;
                }
            }
        }
    }

    @Test
    void skippedSamplesHaveNoWeightAndNoOtherSampleLosesIts() {
        try (DataLoader loader = loader().onBadSample(BadSamplePolicy.SKIP).endEpoch(1).open()) {
            long position = 0;
            var order = Sampler.shuffled(windows.size(), SEED).epoch(0);
            for (Seen batch : drain(loader)) {
                List<Long> good = new ArrayList<>();
                for (int row = 0; row < batch.samples().size(); row++) {
                    long own = order.at(position++);
                    if (!bad.contains(own)) {
                        good.add(own);
                    }
                }
                assertEquals(good, batch.samples().subList(0, batch.valid()));
                assertEquals(batch.samples().size() - good.size(), batch.replaced());
                assertTrue(batch.samples().stream().noneMatch(bad::contains));
            }
            assertEquals(windows.size(), position);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"REPLACE", "SKIP"})
    void aResumedRunWithOtherWorkersAndAnotherBatchSizeGivesTheSameSamplesTheSameFate(BadSamplePolicy policy) {
        Map<Long, Long> whole = new HashMap<>();
        Map<Long, Long> parts = new HashMap<>();
        LoaderState state;
        try (DataLoader loader = loader().onBadSample(policy).endEpoch(1).open()) {
            drain(loader).forEach(batch -> count(batch, whole));
        }
        try (DataLoader loader = loader().onBadSample(policy).workers(1).endEpoch(1).open()) {
            for (int i = 0; i < 20; i++) {
                try (Batch batch = loader.next()) {
                    count(Seen.of(batch), parts);
                }
            }
            state = loader.state();
        }
        for (int rank = 0; rank < 2; rank++) {
            try (DataLoader loader = loader().onBadSample(policy).batchSize(7).workers(3).resume(state).endEpoch(1)
                    .shard(new Shard(rank, 2, TailPolicy.EXACT)).open()) {
                drain(loader).forEach(batch -> count(batch, parts));
            }
        }
        assertEquals(whole, parts);
    }

    /** How often each sample was given with weight. */
    private static void count(Seen batch, Map<Long, Long> times) {
        batch.samples().subList(0, batch.valid()).forEach(sample -> times.merge(sample, 1L, Long::sum));
    }

    /** By the words of {@code docs/spec/bad-samples.md}, without the code under test. */
    private long substitute(long sample, long epoch, long position) {
        long step = 0xCBF29CE484222325L;
        for (byte letter : "penstock.substitute".getBytes(StandardCharsets.US_ASCII)) {
            step = (step ^ letter) * 0x100000001B3L;
        }
        long state = first(first(first(first(first(SEED) + epoch) + 0x44524157L) + position) + step);
        while (true) {
            long word = first(state);
            state += 0x9E3779B97F4A7C15L;
            long other = Math.unsignedMultiplyHigh(word, windows.size());
            if (other != sample && !bad.contains(other)) {
                return other;
            }
        }
    }

    private static long first(long state) {
        long z = state + 0x9E3779B97F4A7C15L;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }

    @Test
    void theVectorsOfThePageHold() throws IOException {
        Object vectors = Json.parse(Files.readAllBytes(Path.of("docs/spec/vectors/bad-samples.json")));
        List<Object> cases = Json.array(Json.object(vectors).get("substitutes"));
        assertTrue(cases.size() >= 8);
        for (Object each : cases) {
            Map<String, Object> one = Json.object(each);
            Set<Object> isBad = new HashSet<>(Json.array(one.get("bad")));
            long other = BadSamples.substitute(Long.parseUnsignedLong(one.get("seed").toString().substring(2), 16),
                    (long) one.get("epoch"), (long) one.get("position"), (long) one.get("size"),
                    (long) one.get("sample"),
                    draw -> !isBad.contains(draw));
            assertEquals(one.get("substitute"), other, one.toString());
        }
    }

    /** As many numbers as there are samples, some of which cannot be mapped. */
    private record Numbered(long size, MemorySegment numbers) implements Dataset {

        private static Dataset of(long size, Set<Object> bad, Arena arena) {
            MemorySegment numbers = arena.allocate(ValueLayout.JAVA_LONG, size);
            for (long i = 0; i < size; i++) {
                numbers.setAtIndex(ValueLayout.JAVA_LONG, i, i);
            }
            return new Numbered(size, numbers).map("number", new TensorSpec("number", DType.I64), "some bad",
                    (in, _, out) -> {
                        if (bad.contains(in.segment().get(ValueLayout.JAVA_LONG, 0))) {
                            throw new IOException("bad");
                        }
                        out.segment().copyFrom(in.segment());
                    });
        }

        @Override
        public List<TensorSpec> fields() {
            return List.of(new TensorSpec("number", DType.I64));
        }

        @Override
        public FieldSource source(int field) {
            return FieldSource.stored((sample, into) -> into.set(numbers, sample * Long.BYTES, Long.BYTES));
        }

        @Override
        public String fingerprint() {
            return "numbered";
        }
    }

    @Test
    void plansWithBadSamplesBecomeThoseOfThePage() throws IOException {
        Object vectors = Json.parse(Files.readAllBytes(Path.of("docs/spec/vectors/bad-samples.json")));
        for (String section : List.of("batches", "removals")) {
            List<Object> cases = Json.array(Json.object(vectors).get(section));
            assertTrue(cases.size() >= 12);
            for (Object each : cases) {
                repairs(Json.object(each), section.equals("removals"));
            }
        }
    }

    private static void repairs(Map<String, Object> one, boolean isWithoutPadding) {
        long[] samples = numbers(one.get("samples"));
        long[] positions = numbers(one.get("positions"));
        BatchPlan plan = ListedPlans.of((long) one.get("epoch"), positions[0],
                positions.length == 1 ? 1 : (int) (positions[1] - positions[0]), (int) (long) one.get("valid"),
                samples);
        var policy = BadSamplePolicy.valueOf(one.get("policy").toString().toUpperCase(Locale.ROOT));
        var badSamples = new BadSamples(policy, Long.parseUnsignedLong(one.get("seed").toString().substring(2), 16),
                (long) one.get("size"), false, isWithoutPadding);
        try (Arena arena = Arena.ofConfined(); var reader = new SampleReader(Numbered.of((long) one.get("size"),
                new HashSet<>(Json.array(one.get("bad"))), arena), ReadMode.MMAP)) {
            badSamples.repair(plan, reader, Set.of());
            BatchPlan again = ListedPlans.of((long) one.get("epoch"), positions[0],
                    positions.length == 1 ? 1 : (int) (positions[1] - positions[0]), (int) (long) one.get("valid"),
                    samples);
            assertEquals(!badSamples.met().isEmpty(), badSamples.hasKnown(again), one.toString());
            badSamples.repairKnown(again, reader);
            assertEquals(plan.valid(), again.valid());
            assertArrayEquals(IntStream.range(0, plan.count()).mapToLong(plan::sample).toArray(),
                    IntStream.range(0, again.count()).mapToLong(again::sample).toArray(), one.toString());
        }
        Map<String, Object> after = Json.object(one.get("after"));
        assertEquals(numbers(after.get("samples")).length, plan.count(), one.toString());
        for (int row = 0; row < plan.count(); row++) {
            assertEquals(numbers(after.get("samples"))[row], plan.sample(row), one.toString());
            assertEquals(numbers(after.get("positions"))[row], plan.position(row), one.toString());
        }
        assertEquals(after.get("valid"), (long) plan.valid());
    }

    private static long[] numbers(Object list) {
        return Json.array(list).stream().mapToLong(Long.class::cast).toArray();
    }

    @Test
    void aDatasetOfBadSamplesAloneIsAnErrorAndNoEndlessSearch() {
        assertThrows(IllegalStateException.class, () -> BadSamples.substitute(1, 0, 9, 1_000, 5, _ -> false));
        assertThrows(IllegalStateException.class, () -> BadSamples.substitute(1, 0, 9, 1, 0, _ -> true));
    }

    @Test
    void packedSequencesAreCheckedAsWindowsAre() {
        try (var packed = Packing.of(Documents.of(store), LENGTH).pack();
                DataLoader loader = DataLoader.builder(packed).collator(PackedLm.of(DType.I64)).batchSize(1)
                        .verify().endEpoch(1).open()) {
            Set<Long> found = new HashSet<>();
            for (long sample = 0; sample < windows.size(); sample++) {
                assertEquals(sample * LENGTH, packed.firstToken(sample, 0));
                try (Batch batch = loader.next()) {
                    assertEquals(sample, batch.sample(0));
                } catch (BatchException e) {
                    found.add(sample);
                }
            }
            assertEquals(new HashSet<>(bad), found);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"REPLACE", "SKIP"})
    void aPackedSequenceIsBadIfTheTokenAfterItsLastOneIs(BadSamplePolicy policy) {
        int capacity = BlockChecksums.DEFAULT_BLOCK_BYTES / 32;             // in bytes 2 * capacity: 16 a block
        try (var packed = Packing.of(Documents.of(store), capacity).pack();
                DataLoader loader = DataLoader.builder(packed).collator(PackedLm.of(DType.I64)).batchSize(8)
                        .shuffle(SEED).verify().onBadSample(policy).workers(1).endEpoch(2).open()) {
            Set<Long> wrong = new TreeSet<>();
            for (long sample = 0; sample < packed.size(); sample++) {
                long first = 2 * packed.firstToken(sample, 0) / BlockChecksums.DEFAULT_BLOCK_BYTES;
                long last = 2 * Math.min(TOKENS - 1, packed.firstToken(sample, 0) + capacity)
                        / BlockChecksums.DEFAULT_BLOCK_BYTES;
                for (int at : DAMAGED) {
                    if (first <= at / BlockChecksums.DEFAULT_BLOCK_BYTES
                            && at / BlockChecksums.DEFAULT_BLOCK_BYTES <= last) {
                        wrong.add(sample);
                    }
                }
            }
            assertEquals(DAMAGED.length * 17, wrong.size());
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    List<Long> found = new ArrayList<>();
                    for (int row = 0; row < batch.count(); row++) {
                        assertFalse(wrong.contains(batch.sample(row)));
                        found.add(batch.sample(row));
                    }
                    List<Long> expected = new ArrayList<>();
                    List<Long> fillers = new ArrayList<>();
                    Sampler order = Sampler.shuffled(packed.size(), SEED);
                    for (int i = 0; i < batch.count(); i++) {
                        long position = 8 * batch.indexInEpoch() + i;
                        long sample = order.epoch(batch.epoch()).at(position);
                        if (!wrong.contains(sample)) {
                            expected.add(sample);
                            continue;
                        }
                        long other = BadSamples.substitute(SEED, batch.epoch(), position, packed.size(), sample,
                                draw -> !wrong.contains(draw));
                        if (policy == BadSamplePolicy.REPLACE) {
                            expected.add(other);
                        } else {
                            fillers.addFirst(other);
                        }
                    }
                    expected.addAll(fillers);
                    assertEquals(expected, found);
                    assertEquals(batch.count() - fillers.size(), batch.valid());
                }
            }
            assertEquals(new ArrayList<>(wrong), loader.badSamples().stream().map(BadSample::sample).toList());
        }
    }

    @Test
    void aFileThatIsNotTheOneThatWasChecksummedFailsEveryBatchWhateverThePolicy() throws IOException {
        Path other = Files.write(folder.resolve("other.bin"), Arrays.copyOf(bytes, bytes.length / 2));
        Files.copy(BlockChecksums.pathFor(folder.resolve("corpus-" + TOKENS + "-7.bin")),
                BlockChecksums.pathFor(other));
        try (TokenStore half = TokenStore.open(other); DataLoader loader = DataLoader.builder(TokenWindows.of(half,
                LENGTH))
                .batchSize(BATCH).verify().onBadSample(BadSamplePolicy.SKIP).open()) {
            String message = assertThrows(BatchException.class, loader::next).getMessage();
            assertTrue(message.contains("600000 bytes, expected 1200000"), message);
        }
    }

    /** Numbers, of which some are stored so that their decoder refuses them. */
    private static final class Numbers implements Dataset, Decoder, Decoder.Session {

        private final MemorySegment stored = Arena.ofAuto().allocate(Long.BYTES * 100L);
        private final Function<String, Exception> refusal;
        private int decoded;

        Numbers(Function<String, Exception> refusal) {
            this.refusal = refusal;
            for (long i = 0; i < 100; i++) {
                stored.setAtIndex(ValueLayout.JAVA_LONG, i, i % 9 == 4 ? -i : i);
            }
        }

        @Override
        public long size() {
            return 100;
        }

        @Override
        public List<TensorSpec> fields() {
            return List.of(new TensorSpec("tokens", DType.I64));
        }

        @Override
        public FieldSource source(int field) {
            return new FieldSource.Decoded(
                    (sample, into) -> into.set(stored, Long.BYTES * sample, Long.BYTES), this);
        }

        @Override
        public String fingerprint() {
            return "numbers";
        }

        @Override
        public TensorSpec field(Column column) {
            return fields().getFirst();
        }

        @Override
        public Session open() {
            return this;
        }

        @Override
        public long byteSize(MemorySegment value, long storedBytes) {
            return Long.BYTES;
        }

        @Override
        public void decode(MemorySegment value, long storedBytes, MemorySegment target, long targetOffset, long bytes)
                throws IOException {
            decoded++;
            long number = value.get(ValueLayout.JAVA_LONG, 0);
            if (number < 0) {
                switch (refusal.apply("found " + number + ", expected a number")) {
                    case IOException unread -> throw unread;
                    case RuntimeException refused -> throw refused;
                    case Exception other -> throw new AssertionError(other);
                }
            }
            target.set(ValueLayout.JAVA_LONG, targetOffset, number);
        }

        @Override
        public void close() {
        }
    }

    @Test
    void aSampleThatCannotBeDecodedIsABadOneToo() {
        List<Seen> expected = null;
        for (int workers : new int[] {0, 1, 3}) {
            try (DataLoader loader = DataLoader.builder(new Numbers(IOException::new)).batchSize(8).shuffle(1)
                    .endEpoch(3)
                    .workers(workers).onBadSample(BadSamplePolicy.SKIP).open()) {
                List<Seen> seen = drain(loader);
                expected = expected == null ? seen : expected;
                assertEquals(expected, seen);
                assertEquals(3 * 11, loader.report().badSamples());
                assertEquals("sample 13, field 'tokens': found -13, expected a number",
                        loader.badSamples().get(1).reason());
            }
        }
        assertTrue(expected.stream().flatMap(batch -> batch.samples().stream()).noneMatch(s -> s % 9 == 4));
        assertEquals(3 * 89, expected.stream().mapToInt(Seen::valid).sum());
    }

    @ParameterizedTest
    @EnumSource(value = BadSamplePolicy.class, names = {"SKIP", "REPLACE"})
    void aBadSampleThatIsKnownCostsNoOtherSampleASecondDecoding(BadSamplePolicy policy) {
        var numbers = new Numbers(IOException::new);
        try (DataLoader loader = DataLoader.builder(numbers).batchSize(50).shuffle(1).endEpoch(3).workers(0)
                .onBadSample(policy).open()) {
            for (int epoch = 0; epoch < 3; epoch++) {
                numbers.decoded = 0;
                for (int batch = 0; batch < 2; batch++) {
                    loader.next().close();
                }
                // 11 bad ones, each with a substitute that may be bad, or known as bad, too: a few decodings for each
                assertTrue(epoch == 0 ? numbers.decoded > 200 : numbers.decoded < 150, () -> numbers.decoded + "");
            }
        }
    }

    @Test
    void aLibraryThatIsNotThereIsNoReasonToSkipASample() {
        try (DataLoader loader = DataLoader.builder(new Numbers(what -> LibraryException.missing("decoding", what,
                null)))
                .batchSize(100).onBadSample(BadSamplePolicy.SKIP).open()) {
            assertThrows(BatchException.class, loader::next);
        }
    }
}
