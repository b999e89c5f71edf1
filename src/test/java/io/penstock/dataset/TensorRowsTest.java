// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.TensorStore;
import io.penstock.testing.Fields;
import io.penstock.testing.MemoryTensorStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TensorRowsTest {

    private final TensorStore pixels = new MemoryTensorStore(1, new TensorSpec("", DType.U8, 5, 3, 2));
    private final TensorStore labels = new MemoryTensorStore(2, new TensorSpec("", DType.I64, 5));
    private final TensorStore both = new MemoryTensorStore(3, new TensorSpec("x", DType.F32, 5, 4),
            new TensorSpec("y", DType.BF16, 5));

    @AfterEach
    void close() {
        pixels.close();
        labels.close();
        both.close();
    }

    private static String refusal(Runnable made) {
        return assertThrows(IllegalArgumentException.class, made::run).getMessage();
    }

    @Test
    void aFieldIsATensorWithoutItsFirstDimension() {
        var rows = TensorRows.of("image", pixels).and("label", labels).and("x", both, 0);
        assertEquals("[image: u8[3,2], label: i64[], x: f32[4]]", rows.fields().toString());
        assertEquals(5, rows.size());
        assertEquals(3, rows.maxLength(0));
        assertEquals(1, rows.maxLength(1));
    }

    @Test
    void aSampleIsTheRowOfItsIndexInEveryTensor() {
        var rows = TensorRows.of("image", pixels).and("label", labels).and("y", both, 1);
        List<Tensor> tensors = List.of(pixels.tensor(0), labels.tensor(0), both.tensor(1));
        Span span = new Span();
        for (int f = 0; f < 3; f++) {
            for (long sample = 0; sample < 5; sample++) {
                Fields.locate(rows, sample, f, span);
                assertEquals(-1, tensors.get(f).row(sample).segment().mismatch(span.slice()));
            }
            int field = f;
            assertThrows(IndexOutOfBoundsException.class, () -> Fields.locate(rows, 5, field, span));
            assertThrows(IndexOutOfBoundsException.class, () -> Fields.locate(rows, -1, field, span));
        }
    }

    @ParameterizedTest
    @CsvSource({"grid_le_f4_3d_C.npy, false", "grid_le_f4_3d_F.npy, true", "le_u4_2d_C.npy, false",
        "be_i2_2d_C.npy, true"})
    void rowsOfAFileAreItsTensorsRowsHoweverItIsStored(String name, boolean converted) throws IOException {
        try (TensorStore file = TensorStore.open(Path.of("src/test/resources/fixtures/npy", name))) {
            assertEquals(converted, file.isConverted(0));
            var rows = TensorRows.of("rows", file);
            assertEquals(file.tensors().getFirst().dim(0), rows.size());
            Span span = new Span();
            for (long sample = 0; sample < rows.size(); sample++) {
                Fields.locate(rows, sample, 0, span);
                assertEquals(-1, file.tensor(0).row(sample).segment().mismatch(span.slice()));
            }
        }
    }

    @Test
    void allTensorsOfAStoreKeepTheirNames() {
        assertEquals("[x: f32[4], y: bf16[]]", TensorRows.of(both).fields().toString());
    }

    @Test
    void tensorsThatDoNotStandSideBySideAreRefused() {
        try (var six = new MemoryTensorStore(1, new TensorSpec("", DType.U8, 6));
                var scalar = new MemoryTensorStore(1, new TensorSpec("", DType.F64));
                var uneven = new MemoryTensorStore(1, new TensorSpec("a", DType.U8, 6), new TensorSpec("b", DType.U8));
                var none = new MemoryTensorStore(1)) {
            var rows = TensorRows.of("image", pixels);
            assertEquals("six: 6 rows, expected 5, as the other tensors have (choose tensors of one length)",
                    refusal(() -> rows.and("six", six)));
            assertEquals("two fields are named 'image'", refusal(() -> rows.and("image", labels)));
            assertEquals("s: a scalar has no rows", refusal(() -> TensorRows.of("s", scalar)));
            assertEquals("b: a scalar has no rows", refusal(() -> TensorRows.of(uneven)));
            assertEquals("z: the store has 2 tensors, name the one by its index",
                    refusal(() -> TensorRows.of("z", both)));
            assertEquals("the store has no tensors, expected 1 or more", refusal(() -> TensorRows.of(none)));
        }
    }

    @Test
    void theFingerprintNamesEveryFieldAndStore() {
        var rows = TensorRows.of("image", pixels).and("label", labels);
        assertTrue(rows.fingerprint().contains(pixels.fingerprint()));
        assertTrue(rows.fingerprint().contains(labels.fingerprint()));
        assertNotEquals(rows.fingerprint(), TensorRows.of("picture", pixels).and("label", labels).fingerprint());
        assertNotEquals(TensorRows.of("a", both, 0).fingerprint(), TensorRows.of("a", both, 1).fingerprint());
    }
}
