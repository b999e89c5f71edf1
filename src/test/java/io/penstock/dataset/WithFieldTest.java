// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.testing.MemoryTensorStore;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Datasets to which a generated field is added. */
class WithFieldTest {

    private static final TensorSpec LEVEL = new TensorSpec("level", DType.F64);
    private static final TensorSpec NUMBER = new TensorSpec("number", DType.I64);
    private static final long SEED = 11;

    private final MemoryTensorStore pixels = new MemoryTensorStore(1, new TensorSpec("", DType.F64, 30, 2));

    @AfterEach
    void close() {
        pixels.close();
    }

    private Dataset rows() {
        return TensorRows.of("image", pixels);
    }

    private static Dataset levels(Dataset of) {
        return of.with(LEVEL, "levels", (_, random, out) -> out.tensor("level").set(random.nextDouble()));
    }

    private static Dataset numbers(Dataset of) {
        return of.with(NUMBER, "numbers", (sample, _, out) -> out.tensor(0).set(sample));
    }

    private static List<Object> epoch(Dataset dataset, int workers, String field) {
        List<Object> values = new ArrayList<>();
        try (DataLoader loader = DataLoader.builder(dataset).batchSize(4).shuffle(SEED).workers(workers).endEpoch(1)
                .open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        var value = batch.tensor(field).row(row);
                        values.add(value.dtype() == DType.I64 ? (Object) value.segment().get(ValueLayout.JAVA_LONG, 0)
                                : (Object) value.segment().get(ValueLayout.JAVA_DOUBLE, 0));
                    }
                }
            }
        }
        return values;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void itsRandomNumbersAreKeyedByThePosition(int workers) {
        List<Object> expected = new ArrayList<>();
        var random = new KeyedRandom(SEED, 0);
        for (int position = 0; position < 30; position++) {
            random.select(position, KeyedRandom.step("levels"));
            expected.add(random.nextDouble());
        }
        assertEquals(expected, epoch(levels(rows()), workers, "level"));
    }

    @Test
    void itBelongsToTheSampleWhateverChoosesThose() {
        Dataset chosen = numbers(rows()).concat(numbers(rows())).select(31, 4, 29).filter("odd",
                sample -> sample.tensor("number").segment().get(ValueLayout.JAVA_LONG, 0) % 2 == 1);
        assertEquals(2, chosen.size());
        assertEquals(List.of(1L, 29L), inOrder(chosen));
        assertEquals(List.of("image", "number", "level"),
                levels(numbers(rows())).fields().stream().map(TensorSpec::name).toList());
    }

    private static List<Long> inOrder(Dataset dataset) {
        List<Long> values = new ArrayList<>();
        try (DataLoader loader = DataLoader.builder(dataset).batchSize(1).endEpoch(1).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    values.add(batch.tensor("number").segment().get(ValueLayout.JAVA_LONG, 0));
                }
            }
        }
        return values;
    }

    @Test
    void aMapOfTheSameStepDrawsTheSameNumbers() {
        Dataset drawn = rows().map("image", new TensorSpec("image", DType.F64, 2), "draws", "shared",
                (_, random, out) -> out.segment().set(ValueLayout.JAVA_DOUBLE, 0, random.nextDouble()))
                .with(LEVEL, "levels", "shared", (_, random, out) -> out.tensor(0).set(random.nextDouble()));
        assertEquals(epoch(drawn, 1, "image"), epoch(drawn, 1, "level"));
    }

    @Test
    void theFingerprintNamesTheFieldItsGeneratorAndWhatKeysItsNumbers() {
        String fingerprint = levels(rows()).fingerprint();
        assertNotEquals(rows().fingerprint(), fingerprint);
        assertEquals("with:levels->level: f64[]:step=levels|" + rows().fingerprint(), fingerprint);
        assertNotEquals(fingerprint, rows().with(LEVEL, "levels v2", "levels", (_, _, _) -> { }).fingerprint());
        assertNotEquals(fingerprint, rows().with(LEVEL, "levels", "other numbers", (_, _, _) -> { }).fingerprint());
    }

    @Test
    void anotherFieldOfThatNameOrOfAVaryingLengthIsRefused() {
        var same = assertThrows(IllegalArgumentException.class,
                () -> rows().with(new TensorSpec("image", DType.F32), "g", (_, _, _) -> { }));
        assertEquals("two fields are named 'image'", same.getMessage());
        assertThrows(IllegalArgumentException.class,
                () -> rows().with(new TensorSpec("ids", DType.I32, TensorSpec.VARIABLE), "g", (_, _, _) -> { }));
        assertThrows(NullPointerException.class, () -> rows().with(LEVEL, "g", null));
    }
}
