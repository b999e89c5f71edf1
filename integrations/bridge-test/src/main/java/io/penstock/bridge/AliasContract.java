// SPDX-License-Identifier: Apache-2.0
package io.penstock.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.bridge.Bridge.Alias;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.LeaseMode;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The framework's tensors are the loader's memory, and end with the batch. */
public interface AliasContract {

    /** {@return the bridge under test} */
    Bridge bridge();

    /** {@return whether a view of a closed batch throws too, rather than showing the slot's next batch} */
    default boolean viewsEnd() {
        return true;
    }

    /**
     * A tensor has the address of a slot: no byte is copied.
     *
     * @param leases the loader's leases
     */
    @ParameterizedTest
    @EnumSource(LeaseMode.class)
    default void aTensorHasTheAddressOfTheSlot(LeaseMode leases) {
        try (DataLoader loader = loader(leases)) {
            Set<Long> slots = new HashSet<>();
            Batch[] lent = new Batch[loader.memory().hostSlots()];
            for (int i = 0; i < lent.length; i++) {
                lent[i] = loader.next();
                slots.add(lent[i].address("row"));
            }
            for (Batch batch : lent) {
                batch.close();
            }
            for (int i = 0; i < 3 * lent.length; i++) {
                try (Alias alias = take(loader)) {
                    assertTrue(slots.contains(alias.address("row")));
                }
            }
        }
    }

    /** A tensor of a closed batch throws, and so does a view of it, and later batches in the slot are not seen. */
    @Test
    default void aTensorOfAClosedBatchThrows() {
        try (DataLoader loader = loader(LeaseMode.CONFINED)) {
            Alias alias = take(loader);
            Runnable view = alias.view("row");
            view.run();
            alias.close();
            assertThrows(RuntimeException.class, () -> alias.bytes("row"));
            if (viewsEnd()) {
                assertThrows(RuntimeException.class, view::run);
            }
            for (int i = 0; i < 2 * loader.memory().hostSlots(); i++) {
                take(loader).close();
            }
            assertThrows(RuntimeException.class, () -> alias.bytes("row"));
            if (viewsEnd()) {
                assertThrows(RuntimeException.class, view::run);
            }
        }
    }

    /** A view that is kept does no harm to later batches in the slot. */
    @Test
    default void aViewThatIsKeptLeavesLaterBatchesAlone() {
        try (DataLoader loader = loader(LeaseMode.REUSED)) {
            for (int i = 0; i < 4 * loader.memory().hostSlots(); i++) {
                Runnable view;
                try (Alias alias = take(loader)) {
                    view = alias.view("row");
                    view.run();
                    assertEquals(2 * 4 * Float.BYTES, alias.bytes("row").length);
                }
                if (viewsEnd()) {
                    assertThrows(RuntimeException.class, view::run);
                }
            }
        }
    }

    private Alias take(DataLoader loader) {
        return (Alias) bridge().take(loader);
    }

    private static DataLoader loader(LeaseMode leases) {
        return DataLoader.builder(Samples.rows(1000, 4)).batchSize(2).prefetch(2).workers(1).leases(leases).open();
    }
}
