// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.cuda.bindings.CudaRuntime;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.FieldSource;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceEvent.EventWait;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceInventory;
import io.penstock.device.DeviceInventory.DeviceInfo;
import io.penstock.device.DeviceStream;
import io.penstock.device.DeviceUnavailableException;
import io.penstock.device.DeviceUnavailableException.Reason;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.cuda.CudaSimulator.Kind;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.testing.HeapUse;
import java.io.File;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.function.Executable;

/** What runs in a {@link ChildJvm}: each method is a check, named on the command line. */
public final class CudaChecks {
    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

    private CudaChecks() {
    }

    /**
     * Runs a check.
     *
     * @param arguments the name of the method
     * @throws Throwable if the check fails
     */
    public static void main(String[] arguments) throws Throwable {
        CudaChecks.class.getDeclaredMethod(arguments[0]).invoke(null);
    }

    /** Prints why there is no CUDA device, or its name. */
    static void open() {
        try (Device device = Device.cuda(0)) {
            System.out.println("opened " + device.name());
        } catch (DeviceUnavailableException e) {
            System.out.println(e.reason() + " " + e.getMessage());
        }
    }

    /** Where other libraries of the process have functions of the same names, as JavaCPP's runtime has. */
    @SuppressWarnings("restricted")
    static void openBesideOthers() {
        for (String library : System.getProperty("others").split(File.pathSeparator)) {
            System.load(library);
        }
        try (Device device = Device.cuda(0); DeviceStream stream = device.openStream("work");
                DeviceBuffer buffer = device.allocate(64)) {
            stream.synchronize();
            assertTrue(device.functions().find("sim_calls").isPresent(), "functions of another library");
            assertTrue(device.functions().find("cudaNothing").isEmpty());
            System.out.println("opened " + device.name() + ", " + buffer.byteSize() + " bytes");
        }
    }

    static void bestDevice() {
        try (Device device = Device.best()) {
            System.out.println("best is " + device.name());
        }
    }

    static void inventory() {
        DeviceInventory inventory = DeviceInventory.take();
        System.out.println(inventory.kind("cuda"));
        inventory.devices().forEach(System.out::println);
    }

    /** Over the real library, which without a driver answers every call but those of its table of errors with 35. */
    static void errorsAreNamedByTheLibrary() {
        CudaLibrary.load();
        Map.of(2, "cudaErrorMemoryAllocation", 4, "cudaErrorCudartUnloading", 35, "cudaErrorInsufficientDriver",
                100, "cudaErrorNoDevice", 600, "cudaErrorNotReady", 700, "cudaErrorIllegalAddress",
                999, "cudaErrorUnknown").forEach((status, name) -> {
                    assertEquals(name, CudaError.name(status));
                    assertFalse(CudaError.text(status).isBlank());
                });
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            Map<String, IntSupplier> calls = Map.of(
                    "cudaGetDeviceCount", () -> CudaRuntime.cudaGetDeviceCount(out),
                    "cudaSetDevice", () -> CudaRuntime.cudaSetDevice(0),
                    "cudaMalloc", () -> CudaRuntime.cudaMalloc(out, 1),
                    "cudaHostAlloc", () -> CudaRuntime.cudaHostAlloc(out, 1, 0),
                    "cudaStreamCreateWithFlags", () -> CudaRuntime.cudaStreamCreateWithFlags(out, 1),
                    "cudaEventCreateWithFlags", () -> CudaRuntime.cudaEventCreateWithFlags(out, 2));
            calls.forEach((call, made) -> {
                DeviceException e = assertThrows(DeviceException.class,
                        () -> CudaError.check(made.getAsInt(), "cuda:0", call));
                assertEquals(35, e.status());
                assertEquals(call, e.call());
                assertEquals("cuda:0: " + call + ": cudaErrorInsufficientDriver (35): "
                        + "CUDA driver version is insufficient for CUDA runtime version", e.getMessage());
            });
        }
    }

    static void everyStatusOfTheProbeHasItsReason() throws Throwable {
        try (Device device = Device.cuda(0)) {
            assertEquals("cuda:0", device.name());
            assertEquals("cuda:0", device.toString());
        }
        unavailable(Reason.NO_SUCH_DEVICE, "cuda:0 is the only device", 1);
        CudaSimulator.setDevices(2);
        unavailable(Reason.NO_SUCH_DEVICE, "cuda:0 to cuda:1", 7);
        CudaSimulator.setDevices(0);
        unavailable(Reason.NO_DEVICE, "nvidia-smi", 0);
        CudaSimulator.setDevices(1);
        CudaSimulator.setDriver(12080);
        unavailable(Reason.DRIVER_TOO_OLD, "supports CUDA 12.8", 0);
        CudaSimulator.setDriver(0);
        unavailable(Reason.NO_DRIVER, "580 or newer", 0);
        CudaSimulator.setDriver(13000);
        CudaSimulator.fail("cudaDriverGetVersion", 999);
        unavailable(Reason.INITIALIZATION_FAILED, "driver does not report its version", 0);
        CudaSimulator.fail("cudaGetDeviceCount", 999);
        unavailable(Reason.INITIALIZATION_FAILED, "999", 0);
        CudaSimulator.fail("cudaSetDevice", 46);
        unavailable(Reason.INITIALIZATION_FAILED, "cudaErrorDevicesUnavailable (46)", 0);
        CudaSimulator.fail("", 0);
        Device.cuda(0).close();
        assertThrows(IllegalArgumentException.class, () -> Device.cuda(-1));
    }

    static void noDeviceNamesTheVariableThatHidesIt() {
        unavailable(Reason.NO_DEVICE, "CUDA_VISIBLE_DEVICES is 'none'", 0);
    }

    private static void unavailable(Reason reason, String text, int ordinal) {
        DeviceUnavailableException e = assertThrows(DeviceUnavailableException.class, () -> Device.cuda(ordinal));
        assertEquals(reason, e.reason(), e.getMessage());
        assertTrue(e.getMessage().contains(text), e.getMessage());
        assertFalse(e.getMessage().contains("\n"), e.getMessage());
    }

    static void bytesGoThroughTheDeviceAndBack() {
        try (Device device = Device.cuda(0);
                DeviceStream copies = device.openStream("copies");
                DeviceStream trainer = device.openStream("trainer");
                DeviceEvent copied = device.openEvent(EventWait.BLOCK);
                DeviceEvent used = device.openEvent(EventWait.SPIN);
                PinnedBuffer from = device.allocatePinned(10_000);
                PinnedBuffer to = device.allocatePinned(10_000);
                DeviceBuffer middle = device.allocate(10_000)) {
            device.makeCurrent();
            long seed = System.nanoTime();
            System.out.println("seed " + seed);
            Random random = new Random(seed);
            for (int round = 0; round < 100; round++) {
                byte[] content = new byte[10_000];
                random.nextBytes(content);
                MemorySegment.copy(content, 0, from.segment(), BYTE, 0, content.length);
                int start = random.nextInt(9_000);
                int length = random.nextInt(1_000);
                copies.waitFor(used);
                copies.copyToDevice(middle, start, from, start / 2, length);
                copies.record(copied);
                DeviceStream view = device.stream(trainer.handle());
                view.waitFor(device.event(copied.handle()));
                view.copyToHost(to, 7, middle, start, length);
                view.record(used);
                copied.synchronize();
                used.synchronize();
                assertTrue(copied.isComplete() && used.isComplete());
                trainer.synchronize();
                assertTrue(trainer.isIdle());
                assertEquals(-1, from.segment().asSlice(start / 2, length)
                        .mismatch(to.segment().asSlice(7, length)), "round " + round);
            }
        }
    }

    static void whatIsOpenedIsMadeAsCudaWantsItAndIsReleased() throws Throwable {
        try (Device device = Device.cuda(0)) {
            DeviceStream stream = device.openStream("s");
            DeviceEvent spin = device.openEvent(EventWait.SPIN);
            DeviceEvent block = device.openEvent(EventWait.BLOCK);
            DeviceBuffer buffer = device.allocate(3);
            PinnedBuffer pinned = device.allocatePinned(5);
            assertEquals(1, CudaSimulator.flags(stream.handle()), "cudaStreamNonBlocking");
            assertEquals(2, CudaSimulator.flags(spin.handle()), "cudaEventDisableTiming");
            assertEquals(3, CudaSimulator.flags(block.handle()), "cudaEventDisableTiming | cudaEventBlockingSync");
            assertEquals(0, CudaSimulator.flags(pinned.segment().address()), "cudaHostAllocDefault");
            assertEquals(0, buffer.address() % 256);
            assertEquals(3, buffer.byteSize());
            assertEquals(5, pinned.segment().byteSize());
            assertFalse(device.hostAccessible());
            assertThrows(UnsupportedOperationException.class, buffer::segment);
            stillOpen(1, 2, 1, 1);
            device.stream(stream.handle()).close();
            device.event(spin.handle()).close();
            stillOpen(1, 2, 1, 1);
            for (int i = 0; i < 2; i++) {
                stream.close();
                spin.close();
                block.close();
                buffer.close();
                pinned.close();
            }
            stillOpen(0, 0, 0, 0);
            assertThrows(IllegalStateException.class, stream::isIdle);
            assertThrows(IllegalStateException.class, stream::handle);
            assertThrows(IllegalStateException.class, spin::isComplete);
            assertThrows(IllegalStateException.class, block::synchronize);
            assertThrows(IllegalStateException.class, buffer::address);
            assertThrows(IllegalStateException.class, () -> pinned.segment().get(BYTE, 0));
        }
    }

    static void closingADeviceClosesWhatWasLeftOpen() throws Throwable {
        Device device = Device.cuda(0);
        DeviceStream stream = device.openStream("s");
        device.openEvent(EventWait.SPIN);
        device.allocate(1);
        PinnedBuffer pinned = device.allocatePinned(1);
        device.close();
        device.close();
        stillOpen(0, 0, 0, 0);
        assertThrows(IllegalStateException.class, stream::synchronize);
        assertThrows(IllegalStateException.class, () -> pinned.segment().get(BYTE, 0));
        assertThrows(IllegalStateException.class, device::makeCurrent);
        assertThrows(IllegalStateException.class, () -> device.stream(0));
        assertThrows(IllegalStateException.class, () -> device.event(1));
        assertThrows(IllegalStateException.class, () -> device.allocate(1));
    }

    private static void stillOpen(int streams, int events, int buffers, int pinned) throws Throwable {
        assertEquals(streams, CudaSimulator.open(Kind.STREAM), "streams");
        assertEquals(events, CudaSimulator.open(Kind.EVENT), "events");
        assertEquals(buffers, CudaSimulator.open(Kind.DEVICE_MEMORY), "device memory");
        assertEquals(pinned, CudaSimulator.open(Kind.PINNED_MEMORY), "pinned memory");
    }

    static void aFailedCallIsReportedByNameAndStatus() throws Throwable {
        try (Device device = Device.cuda(0);
                DeviceStream stream = device.openStream("s");
                DeviceEvent event = device.openEvent(EventWait.SPIN);
                PinnedBuffer pinned = device.allocatePinned(8);
                DeviceBuffer buffer = device.allocate(8)) {
            Map<String, List<Executable>> calls = Map.of(
                    "cudaSetDevice", List.of(device::makeCurrent, () -> device.allocate(1)),
                    "cudaStreamCreateWithFlags", List.of(() -> device.openStream("t")),
                    "cudaEventCreateWithFlags", List.of(() -> device.openEvent(EventWait.BLOCK)),
                    "cudaMalloc", List.of(() -> device.allocate(1)),
                    "cudaHostAlloc", List.of(() -> device.allocatePinned(1)),
                    "cudaMemcpyAsync", List.of(() -> stream.copyToDevice(buffer, 0, pinned, 0, 1),
                            () -> stream.copyToHost(pinned, 0, buffer, 0, 1)),
                    "cudaEventRecord", List.of(() -> stream.record(event)),
                    "cudaStreamWaitEvent", List.of(() -> stream.waitFor(event)),
                    "cudaEventQuery", List.of(event::isComplete),
                    "cudaStreamQuery", List.of(stream::isIdle));
            calls.forEach((call, attempts) -> attempts.forEach(attempt -> reports(call, attempt)));
            reports("cudaEventSynchronize", event::synchronize);
            reports("cudaStreamSynchronize", stream::synchronize);
            stillOpen(1, 1, 1, 1);
        }
        stillOpen(0, 0, 0, 0);
    }

    private static void reports(String call, Executable attempt) {
        try {
            CudaSimulator.fail(call, 700);
            DeviceException e = assertThrows(DeviceException.class, attempt, call);
            assertEquals(call, e.call());
            assertEquals(700, e.status());
            assertEquals("cudaErrorIllegalAddress", e.errorName());
            assertEquals("cuda:0: " + call + ": cudaErrorIllegalAddress (700): as the simulation has it",
                    e.getMessage());
            CudaSimulator.fail("", 0);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    static void aTimeIsOfTwoTimedEventsThatHaveEnded() throws Throwable {
        Device.cuda(0).close();                         // loads the library
        CudaSimulator.setNow(0);
        CudaSimulator.setSpeed(0, 250);
        try (Device device = Device.cuda(0);
                DeviceStream stream = device.openStream("s");
                DeviceEvent begin = device.openTimedEvent(EventWait.SPIN);
                DeviceEvent end = device.openTimedEvent(EventWait.BLOCK);
                DeviceEvent untimed = device.openEvent(EventWait.SPIN);
                PinnedBuffer pinned = device.allocatePinned(8);
                DeviceBuffer buffer = device.allocate(8)) {
            device.makeCurrent();
            notTimed(400, () -> end.nanosSince(begin));
            stream.record(begin);
            stream.record(untimed);
            stream.copyToDevice(buffer, 0, pinned, 0, 8);
            stream.record(end);
            stream.synchronize();
            assertEquals(250_000, end.nanosSince(begin));
            assertEquals(0, begin.nanosSince(begin));
            notTimed(400, () -> end.nanosSince(untimed));
            notTimed(400, () -> untimed.nanosSince(begin));
            reports("cudaEventElapsedTime", () -> end.nanosSince(begin));
        }
    }

    private static void notTimed(int status, Executable attempt) {
        DeviceException e = assertThrows(DeviceException.class, attempt);
        assertEquals("cudaEventElapsedTime", e.call());
        assertEquals(status, e.status());
    }

    static void notReadyMeansIncompleteAndIsNoError() throws Throwable {
        try (Device device = Device.cuda(0);
                DeviceStream stream = device.openStream("s");
                DeviceEvent event = device.openEvent(EventWait.SPIN)) {
            CudaSimulator.fail("cudaEventQuery", 600);
            assertFalse(event.isComplete());
            CudaSimulator.fail("cudaStreamQuery", 600);
            assertFalse(stream.isIdle());
            CudaSimulator.fail("", 0);
            assertTrue(event.isComplete() && stream.isIdle());
        }
    }

    static void aRuntimeThatIsUnloadingIsNoErrorOnCloseAndOneElsewhere() throws Throwable {
        Device device = Device.cuda(0);
        DeviceStream stream = device.openStream("s");
        DeviceEvent event = device.openEvent(EventWait.SPIN);
        CudaSimulator.fail("cudaEventQuery", 4);
        assertThrows(DeviceException.class, event::isComplete);
        CudaSimulator.fail("cudaEventDestroy", 4);
        event.close();
        CudaSimulator.fail("cudaStreamDestroy", 4);
        stream.close();
        device.close();
    }

    static void aCloseThatFailsSaysSoAndReleasesTheRest() throws Throwable {
        Device device = Device.cuda(0);
        device.allocate(1);
        device.openEvent(EventWait.SPIN);
        DeviceStream stream = device.openStream("s");
        CudaSimulator.fail("cudaStreamSynchronize", 700);
        DeviceException e = assertThrows(DeviceException.class, device::close);
        assertEquals("cudaStreamSynchronize", e.call());
        stillOpen(0, 0, 0, 0);
        stream.close();
        device.close();
    }

    static void creatingLeavesTheCallersCurrentDeviceAlone() throws Throwable {
        CudaLibrary.load();
        CudaSimulator.setDevices(2);
        try (Device device = Device.cuda(1);
                DeviceStream stream = device.openStream("s");
                DeviceEvent event = device.openEvent(EventWait.SPIN);
                PinnedBuffer pinned = device.allocatePinned(1);
                DeviceBuffer buffer = device.allocate(1)) {
            assertEquals(0, CudaSimulator.currentDevice());
            assertEquals(1, CudaSimulator.device(stream.handle()));
            assertEquals(1, CudaSimulator.device(event.handle()));
            assertEquals(1, CudaSimulator.device(pinned.segment().address()));
            assertEquals(1, CudaSimulator.device(buffer.address()));
            device.makeCurrent();
            assertEquals(1, CudaSimulator.currentDevice());
        }
    }

    /** On a thread that never chose a device, CUDA would start a context on device 0 to release something. */
    static void whatIsReleasedIsReleasedOnItsOwnDevice() throws Throwable {
        CudaLibrary.load();
        CudaSimulator.setDevices(2);
        Device device = Device.cuda(1);
        device.openStream("s").close();
        device.openEvent(EventWait.SPIN).close();
        device.openTimedEvent(EventWait.SPIN).close();
        device.allocatePinned(1).close();
        device.allocate(1).close();
        device.allocate(1);                             // left for the device to close
        device.close();
        stillOpen(0, 0, 0, 0);
        assertEquals(0, CudaSimulator.currentDevice());
        assertEquals(0, CudaSimulator.violations(), CudaSimulator.violationText());
    }

    /** On a thread that never chose a device, CUDA would start a context on device 0 to wait. */
    static void aLoaderThatIsClosedWaitsOnAThreadOfItsDevice() throws Throwable {
        CudaLibrary.load();
        CudaSimulator.setDevices(2);
        try (Device device = Device.cuda(1)) {
            DataLoader loader = DataLoader.builder(new Squares()).batchSize(7).device(device).open();
            loader.next().close();
            long before = CudaSimulator.foreignWaits();
            loader.close();
            assertEquals(before, CudaSimulator.foreignWaits());
        }
        assertEquals(0, CudaSimulator.currentDevice());
        assertEquals(0, CudaSimulator.violations(), CudaSimulator.violationText());
    }

    static void virtualThreadsAreRefused() throws Throwable {
        try (Device device = Device.cuda(0);
                DeviceStream stream = device.openStream("s");
                DeviceEvent event = device.openEvent(EventWait.SPIN);
                PinnedBuffer pinned = device.allocatePinned(1);
                DeviceBuffer buffer = device.allocate(1)) {
            for (Executable call : List.<Executable>of(device::makeCurrent, stream::isIdle, stream::synchronize,
                    event::isComplete, event::synchronize, () -> stream.record(event), () -> stream.waitFor(event),
                    () -> stream.copyToDevice(buffer, 0, pinned, 0, 1),
                    () -> stream.copyToHost(pinned, 0, buffer, 0, 1))) {
                AtomicReference<Throwable> thrown = new AtomicReference<>();
                Thread.ofVirtual().start(() -> {
                    try {
                        call.execute();
                    } catch (Throwable t) {
                        thrown.set(t);
                    }
                }).join();
                assertEquals(IllegalStateException.class, thrown.get().getClass());
                assertTrue(thrown.get().getMessage().startsWith(
                        "CUDA calls need a platform thread, and this is a virtual one: VirtualThread["));
            }
        }
    }

    static void whatBelongsElsewhereAndWhatIsOutsideIsRefused() {
        try (Device device = Device.cuda(0);
                Device host = Device.host();
                DeviceStream stream = device.openStream("s");
                DeviceStream hostStream = host.openStream("h");
                PinnedBuffer pinned = device.allocatePinned(10);
                DeviceBuffer buffer = device.allocate(10);
                PinnedBuffer hostPinned = host.allocatePinned(10);
                DeviceBuffer hostBuffer = host.allocate(10);
                DeviceEvent event = device.openEvent(EventWait.SPIN);
                DeviceEvent hostEvent = host.openEvent(EventWait.SPIN)) {
            for (Executable call : List.<Executable>of(
                    () -> stream.copyToDevice(hostBuffer, 0, pinned, 0, 1),
                    () -> stream.copyToDevice(buffer, 0, hostPinned, 0, 1),
                    () -> stream.copyToHost(hostPinned, 0, buffer, 0, 1),
                    () -> stream.record(hostEvent),
                    () -> stream.waitFor(hostEvent),
                    () -> hostStream.record(event),
                    () -> hostStream.copyToDevice(buffer, 0, hostPinned, 0, 1))) {
                assertThrows(IllegalArgumentException.class, call);
            }
            for (long[] range : new long[][] {{1, 0, 10}, {0, 1, 10}, {-1, 0, 1}, {0, -1, 1}, {0, 0, -1}, {0, 0, 11}}) {
                assertThrows(IndexOutOfBoundsException.class,
                        () -> stream.copyToDevice(buffer, range[0], pinned, range[1], range[2]));
                assertThrows(IndexOutOfBoundsException.class,
                        () -> stream.copyToHost(pinned, range[0], buffer, range[1], range[2]));
            }
            stream.copyToDevice(buffer, 10, pinned, 10, 0);
            DeviceException e = assertThrows(DeviceException.class, () -> device.allocate(1L << 50));
            assertEquals("cudaMalloc", e.call());
            assertEquals("cudaErrorMemoryAllocation", e.errorName());
            assertThrows(IllegalArgumentException.class, () -> device.event(0));
            assertThrows(IllegalArgumentException.class, () -> device.allocate(0));
            assertThrows(IllegalArgumentException.class, () -> device.allocatePinned(-1));
        }
    }

    static void theSteadyStateAllocatesNothing() {
        try (Device device = Device.cuda(0);
                DeviceStream stream = device.openStream("s");
                DeviceEvent event = device.openEvent(EventWait.SPIN);
                DeviceEvent begin = device.openTimedEvent(EventWait.SPIN);
                DeviceEvent end = device.openTimedEvent(EventWait.BLOCK);
                PinnedBuffer pinned = device.allocatePinned(64);
                DeviceBuffer buffer = device.allocate(64)) {
            device.makeCurrent();
            Runnable batch = () -> {
                stream.record(begin);
                stream.waitFor(event);
                stream.copyToDevice(buffer, 16, pinned, 8, 32);
                stream.record(event);
                event.isComplete();
                event.synchronize();
                stream.copyToHost(pinned, 16, buffer, 8, 32);
                stream.isIdle();
                stream.record(end);
                stream.synchronize();
                end.nanosSince(begin);
            };
            int batches = 20_000;
            double bytesPerBatch = (double) HeapUse.fewest(batches - 1, () -> {
                for (int i = 0; i < batches; i++) {
                    batch.run();
                }
            }) / batches;
            System.out.println(bytesPerBatch + " bytes a batch");
            assertTrue(bytesPerBatch < 1, bytesPerBatch + " bytes a batch");
        }
    }

    static void theInventoryDescribesEachDevice() throws Throwable {
        CudaLibrary.load();
        CudaSimulator.setDevices(2);
        DeviceInventory inventory = DeviceInventory.take();
        assertTrue(inventory.kind("cuda").isUsable());
        assertEquals("13.0", inventory.kind("cuda").runtimeVersion());
        assertEquals("13.0", inventory.kind("cuda").driverVersion());
        assertEquals("host", inventory.devices().getFirst().name());
        assertTrue(inventory.devices().getFirst().memoryTotalBytes() > 0);
        assertEquals(new DeviceInfo("cuda:0", "Simulated GPU 0", "9.0", 80L << 30, 60L << 30, 3, 0, "0000:1B:00.0", ""),
                inventory.devices().get(1));
        assertEquals(new DeviceInfo("cuda:1", "Simulated GPU 1", "9.0", 80L << 30, (60L << 30) + 1, 3, 1,
                "0000:1C:00.0", ""), inventory.devices().get(2));
        CudaSimulator.fail("cudaMemGetInfo", 46);
        DeviceInfo busy = DeviceInventory.take().devices().get(1);
        assertEquals("Simulated GPU 0", busy.model());
        assertEquals(-1, busy.memoryFreeBytes());
        assertTrue(busy.problem().contains("cudaErrorDevicesUnavailable"), busy.problem());
        for (String call : List.of("cudaGetDeviceProperties", "cudaDeviceGetAttribute", "cudaDeviceGetPCIBusId",
                "cudaSetDevice")) {
            CudaSimulator.fail(call, 46);
            DeviceInfo unknown = DeviceInventory.take().devices().get(1);
            assertEquals("cuda:0", unknown.name());
            assertTrue(unknown.problem().contains(call + ": cudaErrorDevicesUnavailable"), unknown.problem());
        }
    }

    static void theLoaderDeliversTheBatchesOfTheDatasetInOrder() throws Throwable {
        try (Device device = Device.cuda(0);
                DeviceStream trainer = device.openStream("trainer");
                PinnedBuffer result = device.allocatePinned(4096);
                DataLoader loader = DataLoader.builder(new Squares()).batchSize(7).shuffle(5).workers(2).endEpoch(3)
                        .device(device).open()) {
            device.makeCurrent();
            int batches = 0;
            while (loader.hasNext()) {
                DeviceStream stream = batches % 3 == 0 ? null : device.stream(trainer.handle());
                try (Batch batch = stream == null ? loader.next() : loader.next(stream)) {
                    batch.copyToHost(trainer, result);
                    trainer.synchronize();
                    MemorySegment rows = result.segment();
                    for (int row = 0; row < batch.count(); row++) {
                        assertEquals(Squares.of(batch.sample(row)), rows.getAtIndex(ValueLayout.JAVA_LONG, row));
                    }
                }
                batches++;
            }
            assertEquals(3 * loader.batchesPerEpoch(), batches);
        }
        stillOpen(0, 0, 0, 0);
    }

    static void aCopyThatFailsEndsTheLoaderWithCudasErrorAndLeavesNothingOpen() throws Throwable {
        try (Device device = Device.cuda(0);
                DataLoader loader = DataLoader.builder(new Squares()).batchSize(7).device(device).open()) {
            loader.next().close();
            CudaSimulator.fail("cudaMemcpyAsync", 700);
            RuntimeException e = assertThrows(RuntimeException.class, () -> {
                while (true) {
                    loader.next().close();
                }
            });
            CudaSimulator.fail("", 0);
            String cause = "cuda:0: cudaMemcpyAsync: cudaErrorIllegalAddress (700)";
            assertTrue(e.getMessage().contains(cause), e.getMessage());
        }
        stillOpen(0, 0, 0, 0);
    }

    /** Sample n is n times n. */
    private static final class Squares implements Dataset {
        private static final int SIZE = 1_000;
        private final MemorySegment squares = Arena.global().allocate(ValueLayout.JAVA_LONG, SIZE);

        Squares() {
            for (long n = 0; n < SIZE; n++) {
                squares.setAtIndex(ValueLayout.JAVA_LONG, n, of(n));
            }
        }

        static long of(long n) {
            return n * n;
        }

        @Override
        public long size() {
            return SIZE;
        }

        @Override
        public List<TensorSpec> fields() {
            return List.of(new TensorSpec("square", DType.I64));
        }

        @Override
        public FieldSource source(int field) {
            return FieldSource.stored((sample, into) -> into.set(squares, 8 * sample, 8));
        }

        @Override
        public String fingerprint() {
            return "squares";
        }
    }
}
