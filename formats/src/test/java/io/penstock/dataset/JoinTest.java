// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.StackAndPad;
import io.penstock.dataset.source.FieldSource;
import io.penstock.decode.Decoder;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.webdataset.WebDatasetWriter;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Samples of several stores, matched by key. */
class JoinTest {

    private static final int SAMPLES = 300;

    @TempDir
    Path folder;
    private RecordStore pictures;
    private RecordStore captions;
    private RecordStore scores;

    /** Captions of all but every seventh, scores of those below 200, each in an order of its own. */
    @BeforeEach
    void write() throws IOException {
        pictures = store("pictures", "jpg", IntStream.range(0, SAMPLES).boxed().toList(), i -> "picture of " + i);
        captions = store("captions", "txt", IntStream.range(0, SAMPLES).filter(i -> i % 7 != 3).boxed().toList(),
                i -> "c".repeat(i % 11) + i);
        scores = store("scores", "cls", IntStream.range(0, 200).boxed().toList(), i -> Integer.toString(1000 + i));
    }

    @AfterEach
    void close() {
        pictures.close();
        captions.close();
        scores.close();
    }

    private RecordStore store(String name, String suffix, List<Integer> numbers,
            IntFunction<String> text) throws IOException {
        List<Integer> order = new ArrayList<>(numbers);
        Collections.shuffle(order, new Random(name.hashCode()));
        try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve(name + ".tar"), 10_000, 1 << 30)) {
            for (int i : order) {
                writer.write("sample-" + i, Map.of(suffix,
                        MemorySegment.ofArray(text.apply(i).getBytes(StandardCharsets.UTF_8))));
            }
            writer.commit();
        }
        return RecordStore.open(folder.resolve(name + ".tar"));
    }

    private Dataset jpg() {
        return RecordFields.of(pictures).and("jpg");
    }

    private Dataset txt() {
        return RecordFields.of(captions).and("txt");
    }

    private Dataset cls() {
        return RecordFields.of(scores).and("cls", Decoder.decimal(DType.I64));
    }

    /** What a loader gives, by the sample's key. */
    private static Map<String, String> read(Dataset joined, int workers) {
        var all = new TreeMap<String, String>();
        try (DataLoader loader = DataLoader.builder(joined).batchSize(7).workers(workers).shuffle(3).endEpoch(1)
                .collator(StackAndPad.fields()).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        all.put(joined.key(batch.sample(row)), text(batch, "jpg", row) + "|" + text(batch, "txt", row)
                                + "|" + batch.tensor("cls").segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 8L * row));
                    }
                }
            }
        }
        return all;
    }

    private static String text(Batch batch, String field, int row) {
        int length = batch.tensor(field + "_lengths").segment().get(ValueLayout.JAVA_INT_UNALIGNED, 4L * row);
        return new String(batch.tensor(field).row(row).segment().asSlice(0, length).toArray(ValueLayout.JAVA_BYTE),
                StandardCharsets.UTF_8);
    }

    private static Map<String, String> expected(boolean hasAllCaptions, boolean hasAllScores) {
        var all = new TreeMap<String, String>();
        for (int i = 0; i < SAMPLES; i++) {
            boolean isCaptioned = i % 7 != 3;
            if ((isCaptioned || hasAllCaptions) && (i < 200 || hasAllScores)) {
                all.put("sample-" + i, "picture of " + i + "|" + (isCaptioned ? "c".repeat(i % 11) + i : "") + "|"
                        + (i < 200 ? 1000 + i : 0));
            }
        }
        return all;
    }

    @Test
    void aSampleWithoutAPartnerIsLeftOutOrEmpty() throws IOException {
        for (int workers : new int[] {0, 2}) {
            assertEquals(expected(false, false), read(Join.of(jpg()).with(txt(), Join.Missing.LEAVE_OUT)
                    .with(cls(), Join.Missing.LEAVE_OUT).open(), workers));
            assertEquals(expected(true, true), read(Join.of(jpg()).with(txt(), Join.Missing.EMPTY)
                    .with(cls(), Join.Missing.EMPTY).open(), workers));
            assertEquals(expected(false, true), read(Join.of(jpg()).with(cls(), Join.Missing.EMPTY)
                    .with(txt(), Join.Missing.LEAVE_OUT).open(), workers));
        }
    }

    @Test
    void aMissingPartnerIsAnErrorThatNamesSamples() {
        String message = assertThrows(IllegalArgumentException.class,
                () -> Join.of(jpg()).with(cls(), Join.Missing.ERROR).open()).getMessage();
        assertTrue(message.contains("lacks the keys of 100 samples") && message.contains("'sample-2"), message);
        assertThrows(IllegalArgumentException.class,
                () -> Join.of(jpg()).with(jpg(), Join.Missing.ERROR).open(), "two fields of one name");
    }

    @Test
    void twoSamplesOfOneKeyAreRefused() {
        Dataset twice = txt().select(0, 5, 0);
        String message = assertThrows(IllegalArgumentException.class,
                () -> Join.of(jpg()).with(twice, Join.Missing.EMPTY).open()).getMessage();
        assertTrue(message.contains("two samples of the key"), message);
    }

    /** Counts how often keys are asked for. */
    private record Counted(Dataset of, AtomicLong keys) implements Dataset {

        @Override
        public long size() {
            return of.size();
        }

        @Override
        public List<TensorSpec> fields() {
            return of.fields();
        }

        @Override
        public FieldSource source(int field) {
            return of.source(field);
        }

        @Override
        public String key(long sample) {
            keys.incrementAndGet();
            return of.key(sample);
        }

        @Override
        public String fingerprint() {
            return of.fingerprint();
        }
    }

    @Test
    void aKeptIndexIsReadWithoutKeysAndOnlyForTheSameDatasets() throws IOException {
        Path file = folder.resolve("pairs.join");
        var keys = new AtomicLong();
        Join join = Join.of(new Counted(jpg(), keys)).with(new Counted(txt(), keys), Join.Missing.LEAVE_OUT)
                .with(cls(), Join.Missing.EMPTY).index(file);
        Dataset made = join.open();
        assertTrue(keys.get() >= SAMPLES);
        keys.set(0);
        Dataset kept = join.open();
        assertEquals(0, keys.get());
        assertEquals(made.fingerprint(), kept.fingerprint());
        assertEquals(expected(false, true), read(kept, 1));
        assertEquals(expected(true, true), read(Join.of(jpg()).with(txt(), Join.Missing.EMPTY)
                .with(cls(), Join.Missing.EMPTY).index(file).open(), 1), "the file has no policy");
        String message = assertThrows(MalformedStoreException.class, () -> Join.of(jpg())
                .with(RecordFields.of(captions).and("txt").select(0, 1), Join.Missing.EMPTY)
                .with(cls(), Join.Missing.EMPTY).index(file).open()).getMessage();
        assertTrue(message.contains("the join of other datasets"), message);
        byte[] bytes = Files.readAllBytes(file);
        for (int at : new int[] {0, 20, bytes.length - 1, bytes.length - 4 * SAMPLES}) {
            byte[] damaged = bytes.clone();
            damaged[at] ^= 1;
            Files.write(file, damaged);
            assertThrows(MalformedStoreException.class, join::open, "byte " + at);
        }
        Files.write(file, Arrays.copyOf(bytes, bytes.length - 3));
        assertThrows(MalformedStoreException.class, join::open);
        Files.delete(file);
        assertFalse(made.fingerprint().equals(Join.of(jpg()).with(txt(), Join.Missing.EMPTY)
                .with(cls(), Join.Missing.EMPTY).open().fingerprint()));
    }

    /** Some keys share hashes of their upper or lower bits: all are found. */
    @Test
    void manyKeysAreFound() throws IOException {
        int count = 200_000;
        Dataset numbers = Dataset.generate(count, List.of(new TensorSpec("a", DType.I64)), "a",
                (sample, _, out) -> out.tensor(0).segment().set(ValueLayout.JAVA_LONG_UNALIGNED, 0, sample));
        long[] backwards = IntStream.range(0, count).mapToLong(i -> count - 1 - i).toArray();
        Dataset others = Dataset.generate(count, List.of(new TensorSpec("b", DType.I64)), "b",
                (sample, _, out) -> out.tensor(0).segment().set(ValueLayout.JAVA_LONG_UNALIGNED, 0, 2 * sample))
                .select(backwards);
        Dataset joined = Join.of(numbers).with(others, Join.Missing.ERROR).open();
        try (DataLoader loader = DataLoader.builder(joined).batchSize(1000).endEpoch(1).open()) {
            for (Batch batch : loader.epoch()) {
                try (batch) {
                    for (int row = 0; row < batch.count(); row++) {
                        assertEquals(2 * batch.tensor("a").segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 8L * row),
                                batch.tensor("b").segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 8L * row));
                    }
                }
            }
        }
    }
}
