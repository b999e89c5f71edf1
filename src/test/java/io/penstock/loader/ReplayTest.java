// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.device.DeviceStream;
import io.penstock.dlpack.DLPackCapsule;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.testing.MemoryTokenStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ReplayTest {

    private final MemoryTokenStore store = new MemoryTokenStore(DType.U16, 20_000);

    @AfterEach
    void closeStore() {
        store.close();
    }

    private DataLoaderBuilder settings() {
        return DataLoader.builder(TokenWindows.of(store, 16)).batchSize(4).shuffle(3).workers(2).prefetch(2);
    }

    @ParameterizedTest
    @EnumSource(LeaseMode.class)
    void itIsTheSameBatchAgainAndAgainAndTheLoaderGoesOnBehindIt(LeaseMode mode) {
        for (TransferMode transfer : new TransferMode[] {TransferMode.IN_PLACE, TransferMode.COPY}) {
            try (DataLoader loader = settings().leases(mode).transfer(transfer).open();
                    DataLoader expected = settings().open()) {
                loader.next().close();
                expected.next().close();
                long[] second = first4(expected.next());
                try (Replay replay = loader.replay()) {
                    for (int i = 0; i < 50; i++) {
                        assertArray(second, first4(replay.next()));
                    }
                }
                long[] third = first4(expected.next());
                assertArray(third, first4(loader.next()));
                assertNotEquals(second[0], third[0]);
                assertEquals(3, loader.report().batches());
            }
        }
    }

    private static long[] first4(Batch batch) {
        try (batch) {
            Tensor tokens = batch.tensor("tokens");
            return new long[] {tokens.getLong(0), tokens.getLong(1), tokens.getLong(2), tokens.getLong(3)};
        }
    }

    private static void assertArray(long[] expected, long[] found) {
        org.junit.jupiter.api.Assertions.assertArrayEquals(expected, found);
    }

    @Test
    void whatIsReadAfterALeaseIsClosedThrowsThoughTheBatchIsStillThere() {
        try (DataLoader loader = settings().open(); Replay replay = loader.replay()) {
            Batch batch = replay.next();
            Tensor tokens = batch.tensor("tokens");
            batch.close();
            assertThrows(IllegalStateException.class, () -> tokens.getLong(0));
            assertThrows(IllegalStateException.class, () -> batch.tensor("tokens"));
        }
    }

    @Test
    void itCannotBeClosedUnderALeaseOrADLPackTensorOfOne() {
        try (DataLoader loader = settings().open()) {
            Replay replay = loader.replay();
            Batch batch = replay.next();
            DLPackCapsule capsule = batch.toDLPack("tokens");
            assertThrows(IllegalStateException.class, replay::close);
            batch.close();
            assertThrows(IllegalStateException.class, replay::close);
            capsule.close();
            replay.close();
            assertThrows(IllegalStateException.class, replay::next);
            replay.close();
        }
    }

    @Test
    void streamsOfEveryLeaseHoldTheSlotUntilTheyHaveReadIt() {
        try (Device device = Device.host(); DeviceStream stream = device.openStream("trainer");
                DataLoader loader = settings().device(device).transfer(TransferMode.COPY).open()) {
            try (Replay replay = loader.replay()) {
                for (int i = 0; i < 20; i++) {
                    try (Batch batch = replay.next(stream)) {
                        assertEquals(4, batch.count());
                    }
                }
            }
            stream.synchronize();
            loader.next(stream).close();
        }
    }
}
