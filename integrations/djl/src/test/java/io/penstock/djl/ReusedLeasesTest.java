// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.LeaseMode;
import java.lang.foreign.ValueLayout;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** NDArrays that are lent again with their slot, under {@link LeaseMode#REUSED}. */
class ReusedLeasesTest {

    private static final int BATCH = 4;

    private NDManager manager;

    @BeforeEach
    void openManager() {
        manager = NDManager.newBaseManager();
    }

    @AfterEach
    void closeManager() {
        manager.close();
    }

    @Test
    void aSlotsNextBatchHasTheSameArraysWithItsOwnValues() throws Exception {
        try (DataLoader loader = points(); DataLoader plain = plain()) {
            Set<NDArray> arrays = identitySet();
            int slots = loader.memory().hostSlots();
            Iterator<Batch> batches = dataset(loader).getData(manager).iterator();
            for (int i = 0; i < 10 * slots; i++) {
                try (Batch batch = batches.next(); NDManager _ = batch.getManager().newSubManager()) {
                    check(plain, batch);
                    NDArray computed = batch.getData().head().add(1).sum();
                    assertEquals(batch.getData().head().sum().getFloat() + BATCH * 8, computed.getFloat(), 1e-3);
                    arrays.addAll(batch.getData());
                    arrays.addAll(batch.getLabels());
                }
                assertManagerIsEmpty();
            }
            assertEquals(2 * slots, arrays.size());
        }
    }

    @Test
    void whatWasComputedFromABatchEndsWithIt() throws Exception {
        try (DataLoader loader = points()) {
            for (Batch batch : dataset(loader).getData(manager)) {
                NDArray computed = batch.getData().head().add(1);
                NDManager below = batch.getManager().newSubManager();
                NDArray made = below.ones(computed.getShape());
                batch.close();
                assertTrue(computed.isReleased());
                assertTrue(made.isReleased());
                assertFalse(below.isOpen());
            }
        }
    }

    @Test
    void aClosedBatchAndItsArraysThrow() throws Exception {
        try (DataLoader loader = points()) {
            Batch batch = dataset(loader).getData(manager).iterator().next();
            NDArray point = batch.getData().head();
            assertEquals(batch, batch.split(new Device[] {Device.cpu()}, false)[0]);
            batch.close();
            batch.close();
            assertThrows(IllegalStateException.class, point::toFloatArray);
            assertTrue(assertThrows(IllegalStateException.class, batch::getData).getMessage()
                    .startsWith("the batch is closed, and under LeaseMode.REUSED its NDArrays are lent again"));
            assertThrows(IllegalStateException.class, batch::getLabels);
            assertThrows(IllegalStateException.class, batch::getManager);
            assertThrows(IllegalStateException.class, batch::getIndices);
            assertThrows(IllegalStateException.class, () -> batch.split(new Device[] {Device.cpu()}, false));
        }
    }

    @Test
    void anArrayThatIsKeptGetsMemoryOfItsOwnAndTheSlotOthers() throws Exception {
        for (Consumer<NDArray> keeping : Map.<String, Consumer<NDArray>>of("attach", array -> array.attach(manager),
                "detach", NDArray::detach).values()) {
            try (DataLoader loader = points(); DataLoader plain = plain()) {
                Iterator<Batch> batches = dataset(loader).getData(manager).iterator();
                NDArray kept;
                float[] values;
                try (Batch batch = batches.next()) {
                    kept = check(plain, batch);
                    values = kept.toFloatArray();
                    keeping.accept(kept);
                }
                for (int i = 0; i < 10; i++) {
                    try (Batch batch = batches.next()) {
                        check(plain, batch);
                    }
                }
                assertArrayEquals(values, kept.toFloatArray());
                kept.close();
            }
        }
    }

    @Test
    void whatIsDoneToAnArrayIsNotSeenInTheNextBatch() throws Exception {
        Map<String, Consumer<Batch>> deeds = new LinkedHashMap<>();
        deeds.put("close", batch -> batch.getData().head().close());
        deeds.put("gradient", batch -> batch.getData().head().setRequiresGradient(true));
        deeds.put("other memory", batch -> batch.getData().head().set(new float[BATCH * 8]));
        deeds.put("other array", batch -> batch.getData().head().intern(batch.getData().head().add(1)));
        deeds.put("other name", batch -> batch.getData().head().setName("mine"));
        deeds.put("other list", batch -> batch.getData().clear());
        deeds.put("other manager", batch -> batch.getData().head().attach(batch.getManager().newSubManager()));
        deeds.put("other manager for a time", batch -> batch.getData().head().tempAttach(
                batch.getManager().newSubManager()));
        deeds.put("closed manager", batch -> batch.getManager().close());
        for (var deed : deeds.entrySet()) {
            try (DataLoader loader = points(); DataLoader plain = plain()) {
                Iterator<Batch> batches = dataset(loader).getData(manager).iterator();
                for (int i = 0; i < 12; i++) {
                    try (Batch batch = batches.next()) {
                        NDArray point = check(plain, batch);
                        if (i % 4 == 2) {
                            deed.getValue().accept(batch);
                        } else if (deed.getKey().equals("gradient")) {
                            assertFalse(point.hasGradient());
                        }
                    }
                }
            }
        }
    }

    @Test
    void anArrayThatIsLentToTheBatchsManagerIsReturned() throws Exception {
        try (DataLoader loader = points()) {
            NDArray guest = manager.ones(new Shape(3));
            Iterator<Batch> batches = dataset(loader).getData(manager).iterator();
            for (int i = 0; i < 4; i++) {
                try (Batch batch = batches.next()) {
                    guest.tempAttach(batch.getManager());
                }
                assertSame(manager, guest.getManager());
                assertArrayEquals(new float[] {1, 1, 1}, guest.toFloatArray());
            }
        }
    }

    /** As where the scope is declared before the batch in one try statement: it closes its arrays behind the batch. */
    @Test
    void aScopeMayCloseItsArraysBehindTheBatch() throws Exception {
        try (DataLoader loader = points(); DataLoader plain = plain()) {
            Set<NDArray> arrays = identitySet();
            Iterator<Batch> batches = dataset(loader).getData(manager).iterator();
            for (int i = 0; i < 12; i++) {
                try (NDScope _ = new NDScope(); Batch batch = batches.next()) {
                    arrays.add(check(plain, batch));
                }
            }
            assertEquals(loader.memory().hostSlots(), arrays.size());
        }
    }

    @Test
    void closingAManagerAboveEndsTheBatchAndAnotherManagerGoesOn() throws Exception {
        try (DataLoader loader = points(); DataLoader plain = plain()) {
            NDManager above = manager.newSubManager();
            Iterator<Batch> batches = dataset(loader).getData(above).iterator();
            for (int i = 0; i < 2 * loader.memory().hostSlots(); i++) {
                try (Batch batch = batches.next()) {
                    check(plain, batch);
                }
            }
            Batch open = batches.next();
            NDArray point = check(plain, open);
            above.close();
            assertTrue(point.isReleased());
            open.close();
            int rest = 0;
            for (Batch batch : dataset(loader).getData(manager)) {
                try (batch) {
                    check(plain, batch);
                    rest++;
                }
            }
            assertEquals(loader.batchesPerEpoch() - 2 * loader.memory().hostSlots() - 1, rest);
            assertManagerIsEmpty();
        }
    }

    /** Fields that torch converts have memory of their own in each batch, whatever the lease. */
    @Test
    void convertedFieldsHaveTheirOwnArrays() throws Exception {
        try (DataLoader loader = points()) {
            Set<NDArray> arrays = identitySet();
            int batches = 0;
            for (Batch batch : dataset(loader).as("kind", DataType.FLOAT32).getData(manager)) {
                try (batch) {
                    for (int row = 0; row < BATCH; row++) {
                        assertEquals((Long) batch.getIndices().get(row) % 4,
                                batch.getLabels().head().toFloatArray()[row]);
                    }
                    arrays.addAll(batch.getLabels());
                    batches++;
                }
            }
            assertEquals(batches, arrays.size());
            assertManagerIsEmpty();
        }
    }

    // ---- support

    private static DataLoader points() throws Exception {
        return DataLoader.builder(Samples.ofPoints(200)).batchSize(BATCH).shuffle(3).prefetch(1).workers(1)
                .leases(LeaseMode.REUSED).open();
    }

    private static DataLoader plain() throws Exception {
        return DataLoader.builder(Samples.ofPoints(200)).batchSize(BATCH).shuffle(3).open();
    }

    private static PenstockDataset dataset(DataLoader loader) {
        return PenstockDataset.of(loader).data("point").labels("kind");
    }

    /** Compares a batch with the engine's own; returns its data. */
    private static NDArray check(DataLoader plain, Batch batch) {
        NDArray point = batch.getData().singletonOrThrow();
        try (io.penstock.loader.Batch expected = plain.next()) {
            assertArrayEquals(expected.tensor("point").segment().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED),
                    point.toFloatArray());
            assertArrayEquals(expected.tensor("kind").segment().toArray(ValueLayout.JAVA_LONG_UNALIGNED),
                    batch.getLabels().singletonOrThrow().toLongArray());
        }
        assertEquals("point", point.getName());
        assertTrue(batch.getManager().isOpen());
        return point;
    }

    /** An idle batch leaves nothing there, so an epoch that is broken off does not either. */
    private void assertManagerIsEmpty() {
        assertTrue(manager.toString().endsWith("isOpen: true Resource size: 0"), manager::toString);
    }

    private static Set<NDArray> identitySet() {
        return Collections.newSetFromMap(new IdentityHashMap<>());
    }
}
