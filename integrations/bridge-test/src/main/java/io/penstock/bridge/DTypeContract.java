// SPDX-License-Identifier: Apache-2.0
package io.penstock.bridge;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.bridge.Bridge.Taken;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every dtype arrives with its values, or is refused by name; shapes and strides are those of the batch. */
public interface DTypeContract {

    /** {@return the bridge under test} */
    Bridge bridge();

    /**
     * A dtype that the framework has arrives bit for bit; another has the same values, or is refused by a message that
     * names field and dtype.
     *
     * @param dtype the dtype
     */
    @ParameterizedTest
    @EnumSource(DType.class)
    default void everyDTypeArrivesOrIsRefusedByName(DType dtype) {
        try (DataLoader plain = loader(dtype); DataLoader loader = loader(dtype)) {
            if (bridge().refused().contains(dtype)) {
                String refusal = String.valueOf(assertThrows(RuntimeException.class,
                        () -> bridge().takeRefused(loader)).getMessage());
                assertTrue(refusal.contains("field x") && refusal.contains(dtype.toString()), refusal);
                return;
            }
            for (int i = 0; i < 3; i++) {
                try (Batch expected = plain.next(); Taken taken = bridge().take(loader)) {
                    assertArrayEquals(new long[] {2, 3, 5}, taken.shape("x"));
                    Tensor x = expected.tensor("x");
                    if (bridge().exact().contains(dtype)) {
                        assertArrayEquals(x.segment().toArray(ValueLayout.JAVA_BYTE), taken.bytes("x"));
                    } else {
                        assertArrayEquals(values(x), taken.values("x"));
                    }
                }
            }
        }
    }

    /** A batch that is shorter than others, as at an epoch's end, has its own shape. */
    @Test
    default void aShorterBatchHasItsOwnShape() {
        try (DataLoader loader = DataLoader.builder(Samples.rows(5, 3)).batchSize(2).open()) {
            for (long rows : new long[] {2, 2, 1, 2}) {
                try (Taken taken = bridge().take(loader)) {
                    assertArrayEquals(new long[] {rows, 3}, taken.shape("row"));
                    assertEquals(rows * 3 * Float.BYTES, taken.bytes("row").length);
                }
            }
        }
    }

    private static DataLoader loader(DType dtype) {
        return DataLoader.builder(Samples.of(6, dtype, 3, 5)).batchSize(2).open();
    }

    private static double[] values(Tensor tensor) {
        double[] values = new double[Math.toIntExact(tensor.elementCount())];
        for (int i = 0; i < values.length; i++) {
            values[i] = tensor.dtype().isInteger() ? tensor.getLong(i) : tensor.getDouble(i);
        }
        return values;
    }
}
