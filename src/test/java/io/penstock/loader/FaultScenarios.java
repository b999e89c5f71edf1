// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.device.Device;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceStream;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.device.cuda.CudaSimulator.Kind;
import io.penstock.loader.slots.SpinGate;
import io.penstock.os.Uninterrupted;
import io.penstock.telemetry.Accounts;
import io.penstock.telemetry.Phase;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** Every call that fails, at every place: the error is told, nothing hangs, nothing stays. Run by {@link Scenarios}. */
final class FaultScenarios {

    private static final int FAULT = 719;

    private FaultScenarios() {
    }

    private static DataLoaderBuilder loader(Device device, int workers) {
        return DataLoader.builder(new ByteRows(200, 32)).batchSize(8).workers(workers).prefetch(1).deviceSlots(2)
                .device(device);
    }

    static void whateverFailsWhileOpeningLeavesNothingOpen() {
        for (String call : List.of("cudaHostAlloc", "cudaMalloc", "cudaEventCreateWithFlags",
                "cudaStreamCreateWithFlags", "cudaSetDevice", "cudaThreadExchangeStreamCaptureMode")) {
            int failures = 0;
            boolean failed = true;
            for (int skip = 0; failed; skip += 1 + skip / 8) {
                failed = false;
                CudaSimulator.reset();
                try (Device device = Device.cuda(0)) {
                    CudaSimulator.failAfter(call, FAULT, skip, 1);
                    try (DataLoader loader = loader(device, 1).withDeviceClock().open()) {
                        loader.next().close();
                    } catch (DeviceException e) {
                        assertEquals(call, e.call());
                        failed = true;
                    } catch (IllegalStateException e) {        // the copy thread's own
                        assertEquals(call, ((DeviceException) cause(e)).call());
                        failed = true;
                    }
                    Scenarios.checkNothingIsOpenOn(device);
                }
                failures += failed ? 1 : 0;
            }
            assertTrue(failures > 0, call);
        }
    }

    private static Throwable cause(Throwable error) {
        Throwable cause = error;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    static void whateverFailsWhileRunningEndsTheLoaderByItsName() {
        int ended = 0;
        for (String call : List.of("cudaMemcpyAsync", "cudaEventRecord", "cudaStreamWaitEvent", "cudaEventQuery",
                "cudaEventSynchronize", "cudaEventElapsedTime")) {
            for (int skip = 0; skip < 40; skip += 1 + skip / 2) {
                for (int workers : new int[] {0, 2}) {
                    for (long times : new long[] {1, Long.MAX_VALUE}) {
                        CudaSimulator.reset();
                        ended += runsOrEnds(call, skip, workers, times) ? 0 : 1;
                    }
                }
            }
        }
        assertTrue(ended > 80, ended + " runs ended by a fault");
    }

    /** Whether the run met no fault. */
    private static boolean runsOrEnds(String call, int skip, int workers, long times) {
        String run = call + " after " + skip + ", " + times + " times, " + workers + " workers";
        CudaSimulator.setSpeed(0, 30);
        try (Device device = Device.cuda(0); DeviceStream trainer = device.openStream("trainer")) {
            device.makeCurrent();
            CudaSimulator.failAfter(call, FAULT, skip, times);
            DataLoader loader = loader(device, workers).withDeviceClock().open();
            Accounts accounts = loader.accounts().orElseThrow();
            RuntimeException error = null;
            try (loader) {
                for (int i = 0; i < 24; i++) {
                    if (i == 12) {
                        loader.seek(3);
                    }
                    try (Batch batch = loader.next(i % 3 == 0 ? null : trainer)) {
                        assertEquals(i % 12, batch.number());
                        accounts.began(accounts.newest(), Phase.COMPUTE);
                    }
                }
            } catch (RuntimeException e) {
                error = e;
                assertTrue(e.getMessage().contains(call + ": cudaErrorLaunchFailure (719)"), run + ": " + e);
                assertEquals(FAULT, ((DeviceException) cause(e)).status());
                assertThrows(IllegalStateException.class, loader::next, run);
            }
            loader.close();
            trainer.synchronize();
            assertEquals(List.of(1, 0, 0, 0), open(), run);
            return error == null;
        }
    }

    /** Two devices whose loaders share a worker: one loader or both end, and nothing hangs or stays. */
    static void whateverFailsOfSeveralDevicesIsToldAndLeavesNothing() {
        CudaSimulator.reset();
        int ended = 0;
        for (String call : List.of("cudaHostAlloc", "cudaMalloc", "cudaEventCreateWithFlags",
                "cudaStreamCreateWithFlags", "cudaSetDevice", "cudaThreadExchangeStreamCaptureMode", "cudaMemcpyAsync",
                "cudaEventRecord", "cudaStreamWaitEvent", "cudaEventQuery", "cudaEventSynchronize",
                "cudaEventElapsedTime")) {
            for (int skip = 0; skip < 60; skip += 1 + skip / 3) {
                CudaSimulator.reset();
                CudaSimulator.setDevices(2);
                ended += together(call, skip) ? 0 : 1;
                Scenarios.checkNothingIsOpen();
            }
        }
        assertTrue(ended > 100, ended + " runs ended by a fault");
    }

    /** Whether the run met no fault. */
    private static boolean together(String call, int skip) {
        RuntimeException error = null;
        try (Device first = Device.cuda(0); Device second = Device.cuda(1)) {
            CudaSimulator.failAfter(call, FAULT, skip, 1);
            try (DeviceLoaders loaders = loader(first, 1).devices(first, second).withDeviceClock().openAll();
                    DeviceStream trainer = first.openStream("trainer")) {
                first.makeCurrent();
                for (int i = 0; i < 12; i++) {
                    loaders.get(0).next(trainer).close();
                    loaders.get(1).next().close();
                    if (i == 6) {
                        loaders.seek(2);
                    }
                }
            } catch (RuntimeException e) {
                error = e;
                assertEquals(FAULT, ((DeviceException) cause(e)).status(),
                        () -> call + " after " + skip + ": " + Scenarios.text(e));
            }
        }
        CudaSimulator.fail("", 0);
        return error == null;
    }

    static void whateverFailsWhileClosingIsToldAndEverythingIsReleased() {
        for (String call : List.of("cudaStreamSynchronize", "cudaEventSynchronize", "cudaEventDestroy", "cudaFree",
                "cudaFreeHost", "cudaStreamDestroy")) {
            for (int workers : new int[] {0, 1}) {
                CudaSimulator.reset();
                try (Device device = Device.cuda(0); DeviceStream trainer = device.openStream("trainer")) {
                    DataLoader loader = DataLoader.builder(new ByteRows(16, 32)).batchSize(8).workers(workers)
                            .deviceSlots(2).endEpoch(1).device(device).open();
                    loader.next(trainer).close();
                    loader.next(trainer).close();
                    CudaSimulator.failAfter(call, FAULT, 0, 1);
                    RuntimeException e = assertThrows(RuntimeException.class, loader::close, call);
                    assertEquals(call, ((DeviceException) cause(e)).call());
                    loader.close();
                    assertEquals(List.of(1, 0, 0, 0), open(), call);
                }
            }
        }
    }

    /** Of each kind. */
    private static List<Integer> open() {
        return Stream.of(Kind.values()).map(CudaSimulator::open).toList();
    }

    static void anErrorThatNoCallHasToldIsToldByClose() {
        try (Device device = Device.cuda(0)) {
            CudaSimulator.failAfter("cudaMemcpyAsync", FAULT, 1, 1);
            DataLoader loader = loader(device, 1).open();
            while (CudaSimulator.calls("cudaMemcpyAsync") < 2) {
                Thread.onSpinWait();
            }
            IllegalStateException e = assertThrows(IllegalStateException.class, loader::close);
            assertTrue(e.getMessage().contains("copying batch 1: cuda:0: cudaMemcpyAsync"), e.getMessage());
        }
    }

    static void aKernelThatFailsEndsTheLoaderAndNothingHangs() {
        for (int workers : new int[] {0, 2}) {
            for (int at : new int[] {0, 1, 5}) {
                for (boolean own : new boolean[] {false, true}) {
                    CudaSimulator.reset();
                    dies(workers, at, own);
                }
            }
        }
    }

    private static void dies(int workers, int at, boolean ownStream) {
        Device device = Device.cuda(0);
        device.makeCurrent();
        DeviceStream trainer = device.openStream("trainer");
        DataLoader loader = loader(device, workers).open();
        RuntimeException error = assertThrows(RuntimeException.class, () -> {
            for (int i = 0; i < 100_000; i++) {
                try (Batch batch = loader.next(ownStream ? trainer : null)) {
                    if (i == at) {
                        CudaSimulator.launchFault(trainer.handle(), 700);
                    }
                    assertEquals(i, batch.number());
                }
            }
        });
        assertEquals(700, ((DeviceException) cause(error)).status(), () -> Scenarios.text(error));
        assertThrows(IllegalStateException.class, loader::next);
        assertThrows(IllegalStateException.class, () -> loader.seek(3));
        loader.close();
        assertThrows(DeviceException.class, trainer::close);
        device.close();
        Scenarios.checkNothingIsOpen();
    }

    static void aPinThatFailsIsAnErrorAndLeavesNothing() {
        CudaSimulator.setPinnedBytes(3 * 8 * 32);
        try (Device device = Device.cuda(0)) {
            DeviceException e = assertThrows(DeviceException.class, () -> loader(device, 2).open());
            assertEquals("cudaHostAlloc", e.call());
            assertEquals("cudaErrorMemoryAllocation", e.errorName());
            Scenarios.checkNothingIsOpenOn(device);
            try (DataLoader smaller = loader(device, 0).batchSize(1).open()) {
                smaller.next().close();
            }
        }
    }

    static void aDeviceWithoutRoomIsAnErrorAndLeavesNothing() {
        CudaSimulator.setDeviceBytes(8 * 32 + 100);
        try (Device device = Device.cuda(0)) {
            DeviceException e = assertThrows(DeviceException.class, () -> loader(device, 2).open());
            assertEquals("cudaMalloc", e.call());
            assertEquals("cudaErrorMemoryAllocation", e.errorName());
            Scenarios.checkNothingIsOpenOn(device);
        }
    }

    static void aStreamThatIsClosedBeforeItsBatchEndsTheLoaderAndFreesItsSlot() {
        try (Device device = Device.cuda(0); DataLoader loader = loader(device, 1).open()) {
            DeviceStream trainer = device.openStream("trainer");
            Batch batch = loader.next(trainer);
            trainer.close();
            assertThrows(IllegalStateException.class, batch::close);
            batch.close();
            IllegalStateException e = assertThrows(IllegalStateException.class, loader::next);
            assertTrue(e.getMessage().contains("closing batch 0: stream 'trainer' is closed"), e.getMessage());
        }
    }

    /** Takes batches whose copies are held back, until the one thread that there is waits for a host slot. */
    private static void takeUntilItWaits(DataLoader loader, DeviceStream trainer, Runnable whileItWaits) {
        Thread waiting = Thread.currentThread();
        var taken = new AtomicInteger();
        Thread other = Thread.ofPlatform().start(() -> {
            // All are taken, and the next one waits for a slot.
            while (taken.get() < loader.memory().hostSlots() || !(LockSupport.getBlocker(waiting) instanceof SpinGate)
                    || CudaSimulator.calls("cudaEventRecord") < 3 * loader.memory().hostSlots()) {
                Thread.yield();
            }
            whileItWaits.run();
        });
        try {
            for (int i = 0; i < loader.memory().hostSlots() + 1; i++) {
                loader.next(trainer).close();
                taken.incrementAndGet();
            }
        } finally {
            Uninterrupted.join(List.of(other));
            CudaSimulator.holdCopies(false);
        }
    }

    static void aFailureWakesATrainerThatCollatesForItself() {
        CudaSimulator.holdCopies(true);
        try (Device device = Device.cuda(0); DeviceStream trainer = device.openStream("trainer");
                DataLoader loader = loader(device, 0).deviceSlots(8).open()) {
            IllegalStateException e = assertThrows(IllegalStateException.class, () -> takeUntilItWaits(loader, trainer,
                    () -> CudaSimulator.fail("cudaEventQuery", FAULT)));
            assertTrue(e.getMessage().contains("copying batch 0: cuda:0: cudaEventQuery"), e.getMessage());
        }
    }

    static void anInterruptOfATrainerThatCollatesForItselfIsKept() {
        CudaSimulator.holdCopies(true);
        try (Device device = Device.cuda(0); DeviceStream trainer = device.openStream("trainer");
                DataLoader loader = loader(device, 0).deviceSlots(8).open()) {
            Thread thread = Thread.currentThread();
            try {
                takeUntilItWaits(loader, trainer, () -> {
                    thread.interrupt();
                    CudaSimulator.holdCopies(false);
                });
            } catch (LoaderInterruptedException _) {
                // That is one way to tell it.
            }
            assertTrue(Thread.interrupted(), "the interrupt is still set");
            try (Batch batch = loader.next()) {
                assertTrue(batch.number() >= loader.memory().hostSlots());
            }
        }
    }
}
