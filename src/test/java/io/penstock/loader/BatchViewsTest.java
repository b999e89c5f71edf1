// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.CausalLm;
import io.penstock.dataset.TokenWindows;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.testing.MemoryTokenStore;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The ways to read a batch: tensors by name, buffers, arrays, copies. */
class BatchViewsTest {

    private final MemoryTokenStore store = new MemoryTokenStore(DType.U16, 20_000);

    @AfterEach
    void closeStore() {
        store.close();
    }

    private DataLoader open(TransferMode transfer, LeaseMode leases) {
        return DataLoader.builder(TokenWindows.of(store, 16)).collator(CausalLm.widened(DType.I64)).batchSize(4)
                .shuffle(3).workers(2).prefetch(2).transfer(transfer).leases(leases).open();
    }

    private void check(Map<String, Tensor> tensors, long[] samples) {
        assertEquals(List.of("input_ids", "labels"), List.copyOf(tensors.keySet()));
        for (int row = 0; row < samples.length; row++) {
            for (int t = 0; t < 16; t++) {
                long at = samples[row] * 16 + t;
                assertEquals(store.token(at), tensors.get("input_ids").row(row).getLong(t));
                assertEquals(store.token(at + 1), tensors.get("labels").row(row).getLong(t));
            }
        }
    }

    private static long[] samples(Batch batch) {
        long[] samples = new long[batch.count()];
        for (int row = 0; row < samples.length; row++) {
            samples[row] = batch.sample(row);
        }
        return samples;
    }

    @ParameterizedTest
    @EnumSource(LeaseMode.class)
    void aBatchGivesItsFieldsInOrderByNameUntilItIsClosed(LeaseMode leases) {
        try (DataLoader loader = open(TransferMode.IN_PLACE, leases)) {
            for (int i = 0; i < 30; i++) {
                Batch batch = loader.next();
                check(batch.tensors(), samples(batch));
                assertThrows(UnsupportedOperationException.class, () -> batch.tensors().clear());
                batch.close();
                assertThrows(IllegalStateException.class, batch::tensors);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(LeaseMode.class)
    void aBufferIsAReadOnlyLittleEndianViewAtTheFieldsAddress(LeaseMode leases) {
        try (DataLoader loader = open(TransferMode.IN_PLACE, leases)) {
            Batch batch = loader.next();
            ByteBuffer labels = batch.buffer("labels");
            assertTrue(labels.isDirect() && labels.isReadOnly() && labels.order() == ByteOrder.LITTLE_ENDIAN);
            assertEquals(4 * 16 * 8, labels.capacity());
            assertEquals(store.token(batch.sample(2) * 16 + 6), labels.getLong((2 * 16 + 5) * 8));
            assertEquals(batch.address("labels"), MemorySegment.ofBuffer(labels).address());
            assertThrows(ReadOnlyBufferException.class, () -> labels.put(0, (byte) 1));
            batch.close();
            assertThrows(IllegalStateException.class, () -> batch.buffer("labels"));
            if (leases != LeaseMode.REUSED) {
                assertThrows(IllegalStateException.class, () -> labels.get(0));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void aCopyOnTheHostOutlivesTheBatchAndTheLoader(TransferMode transfer) {
        Map<String, Tensor> copy;
        long[] samples;
        try (Arena arena = Arena.ofConfined()) {
            Map<String, Tensor> other;
            long[] otherSamples;
            try (DataLoader loader = open(transfer, LeaseMode.CONFINED)) {
                try (Batch batch = loader.next()) {
                    copy = batch.toHost();
                    samples = samples(batch);
                }
                try (Batch batch = loader.next()) {
                    other = batch.toHost(arena);
                    otherSamples = samples(batch);
                }
                for (int i = 0; i < 20; i++) {
                    loader.next().close();
                }
            }
            check(copy, samples);
            check(other, otherSamples);
        }
    }

    @ParameterizedTest
    @EnumSource(LeaseMode.class)
    void aLeaseSaysThatAnAddressInItWasGivenAway(LeaseMode leases) {
        try (DataLoader loader = open(TransferMode.IN_PLACE, leases)) {
            for (int i = 0; i < 30; i++) {
                try (Batch batch = loader.next()) {
                    batch.tensor("labels").getLong(0);
                    assertFalse(batch.isGivenToNativeCode());
                    switch (i % 3) {
                        case 0 -> batch.address("labels");
                        case 1 -> batch.buffer("labels");
                        default -> batch.toDLPack("labels").close();
                    }
                    assertTrue(batch.isGivenToNativeCode());
                    assertTrue(batch.toString().endsWith("of epoch 0, given to native code"), batch.toString());
                }
            }
        }
    }
}
