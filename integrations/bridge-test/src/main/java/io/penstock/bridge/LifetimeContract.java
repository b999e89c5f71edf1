// SPDX-License-Identifier: Apache-2.0
package io.penstock.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.bridge.Bridge.Taken;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.LeaseMode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Closing a batch returns its slot, once, in any order. */
public interface LifetimeContract {

    /** {@return the bridge under test} */
    Bridge bridge();

    /** Closing a batch makes its slot free for the loader. */
    @Test
    default void closingReturnsTheSlot() {
        try (DataLoader loader = loader(LeaseMode.CONFINED)) {
            for (int i = 0; i < 4 * loader.memory().hostSlots(); i++) {
                bridge().take(loader).close();
            }
            assertEquals(loader.memory().hostSlots(), freeSlots(loader));
        }
    }

    /**
     * Closing a batch twice does not end the lease on a later batch in its slot.
     *
     * @param leases the loader's leases
     */
    @ParameterizedTest
    @EnumSource(LeaseMode.class)
    default void closingTwiceEndsOneLease(LeaseMode leases) {
        try (DataLoader loader = loader(leases)) {
            Taken first = bridge().take(loader);
            first.close();
            first.close();
            assertEquals(loader.memory().hostSlots(), freeSlots(loader));
        }
    }

    /**
     * Batches that are open together keep their values, and may be closed in any order.
     *
     * @param leases the loader's leases
     */
    @ParameterizedTest
    @EnumSource(LeaseMode.class)
    default void batchesMayBeClosedInAnyOrder(LeaseMode leases) {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (DataLoader loader = loader(leases)) {
            long next = 0;
            for (int round = 0; round < 20; round++) {
                List<Taken> open = new ArrayList<>();
                List<Long> first = new ArrayList<>();
                for (int i = 0; i < 1 + random.nextInt(loader.memory().hostSlots()); i++) {
                    open.add(bridge().take(loader));
                    first.add(next);
                    next += 2;
                }
                List<Integer> order = new ArrayList<>();
                for (int i = 0; i < open.size(); i++) {
                    order.add(i);
                }
                Collections.shuffle(order, random);
                for (int i : order) {
                    ByteBuffer ids = ByteBuffer.wrap(open.get(i).bytes("id")).order(ByteOrder.LITTLE_ENDIAN);
                    assertEquals(first.get(i) % 40, ids.getLong(0), () -> "seed " + seed);
                    open.get(i).close();
                }
            }
            assertEquals(loader.memory().hostSlots(), freeSlots(loader));
        }
    }

    /** A loader may be closed while a batch is open, which may then be closed. */
    @Test
    default void aBatchMayBeClosedBehindItsLoader() {
        Taken taken;
        try (DataLoader loader = loader(LeaseMode.CONFINED)) {
            taken = bridge().take(loader);
        }
        taken.close();
    }

    /** {@code hasNext} and so on are the loader's: what a bridge takes, the loader counts. */
    @Test
    default void theLoadersStateFollowsWhatIsTaken() {
        try (DataLoader loader = loader(LeaseMode.CONFINED)) {
            for (int i = 1; i <= 3; i++) {
                bridge().take(loader).close();
                assertEquals(2L * i, loader.state().position());
            }
            assertTrue(loader.hasNext());
        }
    }

    private static DataLoader loader(LeaseMode leases) {
        return DataLoader.builder(Samples.rows(40, 4)).batchSize(2).prefetch(2).workers(1).leases(leases).open();
    }

    /** How many batches can be taken without a wait that never ends: all slots, if no lease is left over. */
    private static int freeSlots(DataLoader loader) {
        List<Batch> all = new ArrayList<>();
        for (int i = 0; i < loader.memory().hostSlots(); i++) {
            all.add(loader.next());
        }
        all.forEach(Batch::close);
        return all.size();
    }
}
