// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceEvent.EventWait;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.device.cuda.CudaSimulator.Kind;
import io.penstock.os.Uninterrupted;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

/** The loader's end from another thread, on a GPU that is simulated. Run by {@link Scenarios}. */
final class CloseScenarios {

    private static final ByteRows ROWS = new ByteRows(200, 32);

    private CloseScenarios() {
    }

    private static DataLoaderBuilder loader(Device device, HeldMap map) {
        return DataLoader.builder(map.of(ROWS)).batchSize(8).workers(2).prefetch(2).deviceSlots(3).device(device)
                .patience(Duration.ZERO);
    }

    private static void awaitEnd() {
        while (CudaSimulator.open(Kind.PINNED_MEMORY) > 0) {
            Thread.yield();
        }
        HeldMap.awaitNoThreads("penstock");
    }

    static void pagesThatAMapMayStillTouchStayPinnedUntilItReturns() {
        var map = new HeldMap(0, false);
        try (Device device = Device.cuda(0)) {
            DataLoader loader = loader(device, map).open();
            map.awaitEntered();
            loader.close();
            assertEquals(loader.memory().hostSlots(), CudaSimulator.open(Kind.PINNED_MEMORY));
            map.release();
            map.awaitFreed();
            awaitEnd();
            assertNull(map.afterwards);
            assertEquals(0, CudaSimulator.open(Kind.PINNED_MEMORY));
            assertEquals(0, CudaSimulator.open(Kind.DEVICE_MEMORY));
        }
    }

    /** A stream that is closed waits for its work, on the device's thread. */
    static void nobodyWaitsForAStreamThatAnotherThreadCloses() {
        try (Device device = Device.cuda(0); PinnedBuffer source = device.allocatePinned(64);
                DeviceBuffer target = device.allocate(64)) {
            DeviceStream stream = device.openStream("held");
            CudaSimulator.holdCopies(true);
            stream.copyToDevice(target, 0, source, 0, 64);
            CudaSimulator.awaitCopies(1, false);
            Thread closer = Thread.ofPlatform().name("closer").start(stream::close);
            while (closer.getState() != Thread.State.WAITING) {
                Thread.yield();
            }
            device.openEvent(EventWait.SPIN).close();
            assertTrue(closer.isAlive());
            CudaSimulator.holdCopies(false);
            Uninterrupted.join(closer);
        }
    }

    static void aWaitForACopyThatIsHeldBackEndsWhenTheLoaderIsClosed() {
        CudaSimulator.holdCopies(true);
        var map = new HeldMap(0, false);
        try (Device device = Device.cuda(0); DeviceStream trainer = device.openStream("trainer")) {
            DataLoader loader = loader(device, map).open();
            map.awaitEntered();
            Thread closer = Thread.ofPlatform().name("closer").start(loader::close);
            String message = assertThrows(IllegalStateException.class, () -> loader.next(trainer)).getMessage();
            assertEquals("the loader is closed", message);
            CudaSimulator.holdCopies(false);
            Uninterrupted.join(List.of(closer));
            map.release();
            awaitEnd();
        }
    }

    static void closingAtAnyMomentLeavesNothingOnceMapsHaveEnded() {
        long seed = 97;
        var random = new SplittableRandom(seed);
        for (int round = 0; round < 60; round++) {
            CudaSimulator.setSpeed(0, random.nextInt(60));
            var map = new HeldMap(random.nextInt(-1, 60), random.nextBoolean());
            try (Device device = Device.cuda(0); DeviceStream trainer = device.openStream("trainer")) {
                device.makeCurrent();
                DataLoader loader = loader(device, map).open();
                int closeAt = random.nextInt(10);
                Thread closer = Thread.ofPlatform().name("closer").start(() -> {
                    while (loader.report().batches() < closeAt && map.entered.getCount() > 0) {
                        Thread.yield();
                    }
                    loader.close();
                });
                int taken = 0;
                try {
                    for (; taken < 10_000; taken++) {
                        try (Batch batch = loader.next(taken % 2 == 0 ? trainer : null)) {
                            assertEquals(taken, batch.number(), "seed " + seed);
                        }
                    }
                } catch (IllegalStateException e) {
                    assertTrue(e.getMessage().contains("closed"), () -> Scenarios.text(e));
                }
                Uninterrupted.join(List.of(closer));
                map.release();
                awaitEnd();
            }
            Scenarios.checkNothingIsOpen();
        }
    }
}
