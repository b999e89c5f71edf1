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
import io.penstock.collate.StackAndPad;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.Lengths;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.dataset.source.SampleGenerator;
import io.penstock.dataset.source.SampleMap;
import io.penstock.io.ReadMode;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.sampling.Sampler;
import io.penstock.state.LoaderState;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Samples that code of a user makes. */
class GeneratedSamplesTest {

    private static final int SIZE = 200;
    private static final long SEED = 42;
    private static final String NAME = "numbers v1";
    private static final List<TensorSpec> FIELDS = List.of(new TensorSpec("index", DType.I64),
            new TensorSpec("draw", DType.I64), new TensorSpec("odd", DType.BOOL));
    private static final SampleGenerator NUMBERS = (sample, random, out) -> {
        out.tensor(0).segment().set(ValueLayout.JAVA_LONG, 0, sample);
        out.tensor("draw").segment().set(ValueLayout.JAVA_LONG, 0, random.nextLong());
        if (sample % 2 == 1) {
            out.tensor("odd").segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 77);
        }
    };

    private static Dataset numbers() {
        return Dataset.generate(SIZE, FIELDS, NAME, NUMBERS);
    }

    private static void check(Batch batch) {
        var random = new KeyedRandom(SEED, batch.epoch());
        for (int row = 0; row < batch.count(); row++) {
            random.select(batch.position(row), KeyedRandom.step(NAME));
            assertEquals(batch.sample(row), batch.tensor("index").getLong(row));
            assertEquals(random.nextLong(), batch.tensor("draw").getLong(row));
            assertEquals(batch.sample(row) % 2, batch.tensor("odd").segment().get(ValueLayout.JAVA_BYTE, row));
        }
    }

    @Test
    void samplesAreOfTheirIndexAndTheRandomNumbersOfTheirPositionWhateverTheWorkersAndWhereverARunIsResumed() {
        for (Collator collator : List.of(Stack.fields(), StackAndPad.fields())) {
            for (int workers = 0; workers < 4; workers++) {
                LoaderState state = null;
                long seen = 0;
                for (int stop = 5; seen < 3L * SIZE; stop += 7) {
                    DataLoaderBuilder settings = DataLoader.builder(numbers()).collator(collator).shuffle(SEED)
                            .batchSize(3 + workers + stop % 5).workers(workers).endEpoch(3);
                    try (DataLoader loader = (state == null ? settings : settings.resume(state)).open()) {
                        for (int n = 0; n < stop && loader.hasNext(); n++) {
                            try (Batch batch = loader.next()) {
                                check(batch);
                                seen += batch.valid();
                            }
                        }
                        state = loader.state();
                    }
                }
                assertEquals(3L * SIZE, seen);
            }
        }
    }

    @Test
    void aSampleOfSeveralFieldsIsMadeOnceABatch() {
        var made = new AtomicLong();
        Dataset counted = Dataset.generate(SIZE, FIELDS, NAME, (sample, random, out) -> {
            made.incrementAndGet();
            NUMBERS.generate(sample, random, out);
        });
        try (DataLoader loader = DataLoader.builder(counted).shuffle(SEED).batchSize(8).workers(0).endEpoch(2).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    check(batch);
                }
            }
        }
        assertEquals(2 * SIZE, made.get());
    }

    @Test
    void aSampleThatAnOrderGivesTwiceDrawsTwice() {
        try (DataLoader loader = DataLoader.builder(numbers()).sampler(Sampler.withReplacement(SIZE, 4 * SIZE, SEED))
                .batchSize(16).workers(2).endEpoch(1).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    check(batch);
                }
            }
        }
    }

    @Test
    void generatedTokensArePaddedWidenedAndLabelled() {
        int length = 9;
        Dataset tokens = Dataset.generate(SIZE, List.of(new TensorSpec("tokens", DType.U16, length)), "tokens",
                (sample, _, out) -> {
                    for (int t = 0; t < length; t++) {
                        out.tensor(0).segment().setAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, t,
                                (short) (sample * length + t));
                    }
                });
        for (Collator collator : List.of(CausalLm.narrow(), CausalLm.widened(DType.I32),
                CausalLm.widened(DType.I64), Pad.toLongest(0),
                Pad.toLongest(DType.I64, 0))) {
            try (DataLoader loader = DataLoader.builder(tokens).collator(collator).shuffle(SEED).batchSize(7).workers(2)
                    .endEpoch(1).open()) {
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        var ids = batch.tensor(collator.toString().equals("causal-lm(store)") ? "tokens"
                                : "input_ids");
                        int width = (int) ids.dim(1);
                        for (int row = 0; row < batch.count(); row++) {
                            for (int t = 0; t < width; t++) {
                                assertEquals(batch.sample(row) * length + t, ids.getLong((long) row * width + t));
                            }
                        }
                    }
                }
            }
        }
    }

    /** Sample n has n % 50 ids, drawn at random, and as many flags as its last draw says. */
    private static Dataset ragged() {
        return Dataset.generate(SIZE, List.of(new TensorSpec("ids", DType.I32, TensorSpec.VARIABLE),
                new TensorSpec("index", DType.I64), new TensorSpec("flags", DType.BOOL, TensorSpec.VARIABLE)), 50,
                "ragged v1", (sample, random, out) -> {
                    Tensor ids = out.tensor("ids", sample % 50);
                    for (long t = 0; t < ids.dim(0); t++) {
                        ids.set(random.nextInt(1000), t);
                    }
                    out.tensor("index").set(sample);
                    Tensor flags = out.tensor("flags", random.nextInt(51));
                    flags.segment().fill((byte) 7);
                });
    }

    @Test
    void lengthsVaryFromSampleToSampleAndMayBeDrawn() {
        for (int workers = 0; workers < 3; workers++) {
            long seen = 0;
            try (DataLoader loader = DataLoader.builder(ragged()).collator(StackAndPad.fields()).shuffle(SEED)
                    .batchSize(9).workers(workers).endEpoch(2).open()) {
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        checkRagged(batch);
                        seen += batch.valid();
                    }
                }
            }
            assertEquals(2 * SIZE, seen);
        }
    }

    private static void checkRagged(Batch batch) {
        var random = new KeyedRandom(SEED, batch.epoch());
        long longest = 0;
        for (int row = 0; row < batch.count(); row++) {
            random.select(batch.position(row), KeyedRandom.step("ragged v1"));
            Tensor ids = batch.tensor("ids").row(row);
            Tensor flags = batch.tensor("flags").row(row);
            long length = batch.sample(row) % 50;
            assertEquals(length, batch.tensor("ids_lengths").getLong(row));
            assertEquals(batch.sample(row), batch.tensor("index").getLong(row));
            for (long t = 0; t < ids.dim(0); t++) {
                assertEquals(t < length ? random.nextInt(1000) : 0, ids.getLong(t));
            }
            int flagged = random.nextInt(51);
            assertEquals(flagged, batch.tensor("flags_lengths").getLong(row));
            for (long t = 0; t < flags.dim(0); t++) {
                assertEquals(t < flagged ? 1 : 0, flags.segment().get(ValueLayout.JAVA_BYTE, t));
            }
            longest = Math.max(longest, length);
        }
        assertEquals(longest, batch.tensor("ids").dim(1));
    }

    /** Their lengths cannot be measured: to draw them takes a position. */
    @Test
    void partsOfSamplesWhoseLengthsAreDrawnAreLoaded() {
        Dataset ragged = ragged();
        TensorSpec ids = ragged.fields().getFirst();
        Dataset mapped = ragged.map("ids", ids, "same", (in, _, out) -> out.segment().copyFrom(in.segment()));
        for (Dataset part : List.of(ragged.filter("some", sample -> sample.index() % 3 == 0), mapped.select(7, 3, 180),
                ragged.concat(mapped).filter("most", sample -> sample.index() > 5), mapped.split(0.5, 1).train())) {
            try (DataLoader loader = DataLoader.builder(part).collator(StackAndPad.fields()).shuffle(SEED).batchSize(9)
                    .endEpoch(1).open()) {
                long seen = 0;
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        seen += batch.valid();
                        for (int row = 0; row < batch.count(); row++) {
                            assertEquals(batch.tensor("index").getLong(row) % 50,
                                    batch.tensor("ids_lengths").getLong(row));
                        }
                    }
                }
                assertEquals(part.size(), seen);
            }
        }
    }

    @Test
    void ofVaryingLengthsEachSampleIsGeneratedOnceABatchAlsoIfItHasOneField() {
        var made = new AtomicLong();
        Dataset one = Dataset.generate(SIZE, List.of(new TensorSpec("ids", DType.U16, TensorSpec.VARIABLE)), 9, "one",
                (sample, _, out) -> {
                    made.incrementAndGet();
                    Tensor ids = out.tensor("ids", sample % 10);
                    for (long t = 0; t < ids.dim(0); t++) {
                        ids.set(sample, t);
                    }
                });
        for (Collator collator : List.of(Pad.toLongest(DType.I64, 0), StackAndPad.fields())) {
            made.set(0);
            try (DataLoader loader = DataLoader.builder(one).collator(collator).shuffle(SEED).batchSize(8).workers(0)
                    .endEpoch(1).open()) {
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        Tensor ids = batch.tensors().values().iterator().next();
                        for (int row = 0; row < batch.count(); row++) {
                            for (long t = 0; t < ids.dim(1); t++) {
                                assertEquals(t < batch.sample(row) % 10 ? batch.sample(row) : 0,
                                        ids.row(row).getLong(t));
                            }
                        }
                    }
                }
            }
            assertEquals(SIZE, made.get(), collator.toString());
        }
        assertEquals(9, Lengths.of(one, 0).applyAsLong(19));
    }

    @Test
    void aLengthBeyondTheGreatestAndATensorWithoutALengthAreRefused() {
        record Case(SampleGenerator generator, String message) {
        }
        for (Case wrong : List.of(
                new Case((_, _, out) -> out.tensor("ids", 51), "ids: i32[*]: found length 51, expected 0 to 50"),
                new Case((_, _, out) -> out.tensor("ids", -1), "ids: i32[*]: found length -1, expected 0 to 50"),
                new Case((_, _, out) -> out.tensor("ids"),
                        "ids: i32[*]: its length varies, say it by tensor(field, length)"),
                new Case((_, _, out) -> out.tensor("one", 1),
                        "one: i32[]: found length 1, expected a field whose length varies"))) {
            Dataset broken = Dataset.generate(4, List.of(new TensorSpec("ids", DType.I32, TensorSpec.VARIABLE),
                    new TensorSpec("one", DType.I32)), 50, "broken", wrong.generator);
            try (DataLoader loader = DataLoader.builder(broken).collator(StackAndPad.fields()).batchSize(4).open()) {
                String message = assertThrows(BatchException.class, loader::next).getCause().getMessage();
                assertEquals("sample 0: the generator 'broken' failed: java.lang.IllegalArgumentException: "
                        + wrong.message, message);
            }
        }
        assertThrows(IllegalArgumentException.class, () -> Dataset.generate(4, FIELDS, 50, NAME, NUMBERS));
        assertThrows(IllegalArgumentException.class, () -> Dataset.generate(4, List.of(
                new TensorSpec("ids", DType.I32, TensorSpec.VARIABLE)), NAME, NUMBERS));
    }

    @Test
    void anErrorOfTheGeneratorNamesTheSampleAndABadOneIsSkippedByThePolicy() {
        Dataset broken = Dataset.generate(SIZE, FIELDS, "broken", (_, _, _) -> {
            throw new ArithmeticException("of the generator's own");
        });
        try (DataLoader loader = DataLoader.builder(broken).batchSize(4).workers(1).open()) {
            String message = assertThrows(BatchException.class, loader::next).getCause().getMessage();
            assertEquals("sample 0: the generator 'broken' failed: java.lang.ArithmeticException: "
                    + "of the generator's own", message);
        }
        Dataset bad = Dataset.generate(SIZE, FIELDS, NAME, (sample, random, out) -> {
            NUMBERS.generate(sample, random, out);
            if (sample % 10 == 3) {
                throw new IOException("not this one");
            }
        });
        for (int workers = 0; workers < 3; workers++) {
            try (DataLoader loader = DataLoader.builder(bad).shuffle(SEED).batchSize(8).workers(workers).endEpoch(1)
                    .onBadSample(BadSamplePolicy.REPLACE).open()) {
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        check(batch);
                    }
                }
                assertEquals("sample 3: not this one", loader.badSamples().getFirst().reason());
                assertEquals(SIZE / 10, loader.badSamples().size());
            }
        }
    }

    @Test
    void whatIsFilteredMappedAndSelectedKeepsTheIndexThatTheGeneratorKnows() {
        Dataset even = Dataset.generate(SIZE, FIELDS.subList(0, 1), "index",
                (sample, _, out) -> out.tensor(0).segment().set(ValueLayout.JAVA_LONG, 0, sample))
                .filter("even", sample -> sample.tensor("index").getLong(0) % 2 == 0)
                .select(5, 5, 0)
                .map("index", FIELDS.getFirst(), "plus one", (in, _, out) -> out.segment()
                        .set(ValueLayout.JAVA_LONG, 0, in.getLong(0) + 1));
        try (DataLoader loader = DataLoader.builder(even).batchSize(3).workers(1).open(); Batch batch = loader.next()) {
            assertEquals(11, batch.tensor("index").getLong(0));
            assertEquals(11, batch.tensor("index").getLong(1));
            assertEquals(1, batch.tensor("index").getLong(2));
        }
    }

    @Test
    void aMapThatWritesOverItsInputChangesNoOtherFieldOfTheSample() {
        TensorSpec spec = FIELDS.getFirst();
        SampleMap negated = (in, _, out) -> {
            in.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, 0, -in.getLong(0));
            out.segment().copyFrom(in.segment());
        };
        Dataset copies = numbers().duplicate("index", "index", "other").map("index", spec, "negated", negated);
        try (DataLoader loader = DataLoader.builder(copies).shuffle(SEED).batchSize(8).workers(1).endEpoch(1).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        assertEquals(-batch.sample(row), batch.tensor("index").getLong(row));
                        assertEquals(batch.sample(row), batch.tensor("other").getLong(row));
                    }
                }
            }
        }
    }

    @Test
    void whatCannotBeGeneratedIsRefusedAndTheFingerprintIsOfSizeNameAndFields() {
        TensorSpec varies = new TensorSpec("x", DType.U8, TensorSpec.VARIABLE);
        for (List<TensorSpec> fields : List.of(List.<TensorSpec>of(), List.of(varies),
                List.of(FIELDS.getFirst(), FIELDS.getFirst()))) {
            assertThrows(IllegalArgumentException.class, () -> Dataset.generate(1, fields, NAME, NUMBERS));
        }
        assertThrows(IllegalArgumentException.class, () -> Dataset.generate(-1, FIELDS, NAME, NUMBERS));
        assertEquals("generated:numbers v1:samples=200:[index: i64[], draw: i64[], odd: bool[]]",
                numbers().fingerprint());
        assertNotEquals(numbers().fingerprint(), Dataset.generate(SIZE, FIELDS, "numbers v2", NUMBERS).fingerprint());
        var again = assertThrows(IllegalArgumentException.class,
                () -> numbers().map("draw", FIELDS.get(1), NAME, (_, _, _) -> { }));
        assertTrue(again.getMessage().contains("step 'numbers v1'"), again.getMessage());
        try (var reader = new SampleReader(numbers(), ReadMode.AUTO)) {
            assertThrows(IllegalStateException.class, () -> reader.locate(0, 0));
            assertThrows(IndexOutOfBoundsException.class, () -> reader.locate(SIZE, 0));
        }
    }
}
