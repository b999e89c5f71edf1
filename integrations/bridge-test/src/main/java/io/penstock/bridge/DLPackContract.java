// SPDX-License-Identifier: Apache-2.0
package io.penstock.bridge;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.bridge.Bridge.Taken;
import io.penstock.dlpack.DLPackCapsule;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A tensor that the framework takes by DLPack has the batch's values, and outlives the batch and the loader. */
public interface DLPackContract {

    /** {@return the bridge under test} */
    Bridge bridge();

    /**
     * Takes a capsule as a tensor of the framework.
     *
     * @param capsule the capsule, to be handed over
     * @return the tensor, as a batch whose only field is {@code x}; closing it frees the tensor
     */
    Taken take(DLPackCapsule capsule);

    /**
     * A tensor by DLPack has the values of the batch.
     *
     * @param dtype the dtype
     */
    @ParameterizedTest
    @EnumSource(DType.class)
    default void everyDTypeCrosses(DType dtype) {
        if (!bridge().exact().contains(dtype)) {
            return;
        }
        int before = DLPackCapsule.live();
        try (DataLoader loader = DataLoader.builder(Samples.of(4, dtype, 3)).batchSize(2).open();
                Batch batch = loader.next(); Taken taken = take(batch.toDLPack("x"))) {
            assertArrayEquals(new long[] {2, 3}, taken.shape("x"));
            assertArrayEquals(batch.tensor("x").segment().toArray(ValueLayout.JAVA_BYTE), taken.bytes("x"));
        }
        assertEquals(before, DLPackCapsule.live());
    }

    /** The tensor may be used behind its batch and its loader; freeing it returns the memory. */
    @Test
    default void aTensorOutlivesItsBatchAndItsLoader() {
        int before = DLPackCapsule.live();
        Taken taken;
        byte[] expected;
        try (DataLoader loader = DataLoader.builder(Samples.of(100, DType.F32, 3)).batchSize(2).open()) {
            try (Batch batch = loader.next()) {
                expected = batch.tensor("x").segment().toArray(ValueLayout.JAVA_BYTE);
                taken = take(batch.toDLPack("x"));
            }
            for (int i = 0; i < 10; i++) {
                loader.next().close();
            }
            assertArrayEquals(expected, taken.bytes("x"));
        }
        assertArrayEquals(expected, taken.bytes("x"));
        assertEquals(before + 1, DLPackCapsule.live());
        taken.close();
        taken.close();
        assertEquals(before, DLPackCapsule.live());
    }
}
