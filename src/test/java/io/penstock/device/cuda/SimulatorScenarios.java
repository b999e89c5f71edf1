// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.cuda.bindings.CudaRuntime;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceEvent.EventWait;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What the simulated runtime simulates, and that it says so when its rules are broken: a check that counts no
 * violations is worth what these are. Run in a JVM of its own.
 */
public final class SimulatorScenarios {

    private static final int BYTES = 4096;

    private SimulatorScenarios() {
    }

    /** Two streams, an event and a buffer of each kind. */
    private record Rig(Device device, DeviceStream copies, DeviceStream trainer, DeviceEvent event, PinnedBuffer pinned,
            PinnedBuffer result, DeviceBuffer buffer) implements AutoCloseable {

        static Rig open() {
            Device device = Device.cuda(0);
            device.makeCurrent();
            return new Rig(device, device.openStream("copies"), device.openStream("trainer"),
                    device.openEvent(EventWait.BLOCK), device.allocatePinned(BYTES), device.allocatePinned(BYTES),
                    device.allocate(BYTES));
        }

        void copy() {
            copies.copyToDevice(buffer, 0, pinned, 0, BYTES);
        }

        void compute(long micros) {
            CudaSimulator.launchReader(trainer.handle(), buffer.address(), BYTES, micros);
        }

        @Override
        public void close() {
            CudaSimulator.holdCopies(false);
            copies.synchronize();
            trainer.synchronize();
            buffer.close();
            result.close();
            pinned.close();
            event.close();
            trainer.close();
            copies.close();
            device.close();
        }
    }

    /** Exactly these violations, which are forgotten. */
    private static void seen(String... texts) {
        String seen = CudaSimulator.violationText();
        assertEquals(texts.length, CudaSimulator.violations(), seen);
        for (String text : texts) {
            assertTrue(seen.contains(text), () -> "expected '" + text + "' in: " + seen);
        }
        CudaSimulator.reset();
    }

    // ---- events

    static void anEventThatWasNeverRecordedIsCompleteAndHoldsNothing() {
        try (Rig rig = Rig.open()) {
            assertTrue(rig.event.isComplete());
            rig.event.synchronize();
            rig.trainer.waitFor(rig.event);
            rig.trainer.synchronize();
        }
    }

    static void aWaitHoldsForTheMarkAtItsCallAndNotForALaterOne() {
        try (Rig rig = Rig.open()) {
            rig.copies.record(rig.event);
            rig.trainer.waitFor(rig.event);
            CudaSimulator.holdCopies(true);
            rig.copy();
            rig.copies.record(rig.event);
            rig.trainer.synchronize();                  // would hang for ever
            assertFalse(rig.event.isComplete());
            assertFalse(rig.copies.isIdle());
            CudaSimulator.holdCopies(false);
            rig.event.synchronize();
            assertTrue(rig.event.isComplete());
        }
    }

    static void aWaitBeforeTheRecordDoesNotOrder() {
        try (Rig rig = Rig.open()) {
            CudaSimulator.holdCopies(true);
            rig.copy();
            rig.trainer.waitFor(rig.event);
            rig.copies.record(rig.event);
            rig.compute(0);
            seen("is not ordered behind its writing by stream");
        }
    }

    static void recordingAgainForgetsTheMarkBefore() {
        try (Rig rig = Rig.open()) {
            CudaSimulator.holdCopies(true);
            rig.copy();
            rig.copies.record(rig.event);
            assertFalse(rig.event.isComplete());
            rig.trainer.record(rig.event);
            rig.event.synchronize();
            assertTrue(rig.event.isComplete());
        }
    }

    static void orderPassesThroughAThirdStreamAndThroughTheHost() {
        try (Rig rig = Rig.open();
                DeviceStream third = rig.device.openStream("third");
                DeviceEvent second = rig.device.openEvent(EventWait.SPIN)) {
            rig.copy();
            rig.copies.record(rig.event);
            third.waitFor(rig.event);
            third.record(second);
            rig.trainer.waitFor(second);
            rig.compute(200);
            rig.trainer.record(rig.event);
            rig.event.synchronize();
            rig.copy();
            seen();
        }
    }

    // ---- what a GPU lets pass

    static void aSourceThatChangesUnderItsCopyIsSeen() {
        try (Rig rig = Rig.open()) {
            CudaSimulator.holdCopies(true);
            rig.copy();
            CudaSimulator.awaitCopies(1, false);
            rig.pinned.segment().set(ValueLayout.JAVA_BYTE, 17, (byte) 3);
            CudaSimulator.holdCopies(false);
            rig.copies.synchronize();
            seen("4096 bytes of pinned memory changed while work");
        }
    }

    static void anAnnouncedWriteBeforeTheHostHasSeenTheEndIsSeenEvenIfTheCopyIsDone() {
        try (Rig rig = Rig.open()) {
            rig.copy();
            rig.copies.record(rig.event);
            CudaSimulator.awaitCopies(1, true);
            CudaSimulator.hostUses(rig.pinned.segment().asSlice(4000), true);
            seen("written by the host, which has not seen the end of reading");
            rig.event.synchronize();
            CudaSimulator.hostUses(rig.pinned.segment(), true);
            seen();
        }
    }

    static void aResultThatIsReadBeforeItIsThereIsSeen() {
        try (Rig rig = Rig.open()) {
            rig.trainer.copyToHost(rig.result, 0, rig.buffer, 0, BYTES);
            CudaSimulator.hostUses(rig.result.segment(), false);
            seen("read by the host, which has not seen the end of writing");
        }
    }

    static void aCopyOverWhatAReaderStillReadsIsSeen() {
        try (Rig rig = Rig.open()) {
            rig.compute(1_000);
            rig.copy();
            seen("written by stream 0 is not ordered behind its reading by stream 1");
        }
    }

    static void aReaderThatDoesNotWaitForTheCopyIsSeen() {
        try (Rig rig = Rig.open()) {
            rig.copy();
            rig.compute(0);
            seen("read by stream 1 is not ordered behind its writing by stream 0");
            rig.copies.record(rig.event);
            rig.trainer.waitFor(rig.event);
            rig.compute(0);
            seen();
        }
    }

    static void rangesThatDoNotMeetDoNotDisturbEachOther() {
        try (Rig rig = Rig.open()) {
            rig.copies.copyToDevice(rig.buffer, 0, rig.pinned, 0, 100);
            rig.trainer.copyToDevice(rig.buffer, 100, rig.pinned, 100, 100);
            rig.trainer.copyToDevice(rig.buffer, 50, rig.pinned, 50, 0);
            seen();
        }
    }

    static void aCopyFromMemoryThatIsNotPinnedIsSeen() {
        try (Rig rig = Rig.open(); Arena arena = Arena.ofConfined()) {
            assertEquals(1, CudaCalls.cudaMemcpyAsync(rig.buffer.address(), arena.allocate(8).address(), 8, 1,
                    rig.copies.handle()));
            seen("not in pinned memory that is allocated");
        }
    }

    static void freedMemoryAndClosedHandlesAreSeen() {
        try (Rig rig = Rig.open()) {
            DeviceEvent event = rig.device.openEvent(EventWait.SPIN);
            DeviceBuffer buffer = rig.device.allocate(64);
            MemorySegment handle = MemorySegment.ofAddress(event.handle());
            long address = buffer.address();
            event.close();
            buffer.close();
            assertEquals(400, CudaRuntime.cudaEventQuery(handle));
            assertEquals(400, CudaRuntime.cudaStreamSynchronize(handle));
            assertEquals(1, CudaRuntime.cudaFree(MemorySegment.ofAddress(address)));
            assertEquals(1, CudaCalls.cudaMemcpyAsync(address, rig.pinned.segment().address(), 8, 1,
                    rig.copies.handle()));
            seen("cudaEventQuery: ", "cudaStreamSynchronize: ", "cudaFree: ", "not in device memory that is allocated");
        }
    }

    static void memoryThatIsFreedUnderWorkIsSeen() {
        try (Rig rig = Rig.open()) {
            PinnedBuffer pinned = rig.device.allocatePinned(BYTES);
            DeviceBuffer buffer = rig.device.allocate(BYTES);
            CudaSimulator.setSpeed(0, 2_000);
            rig.copies.copyToDevice(buffer, 0, pinned, 0, BYTES);
            pinned.close();
            buffer.close();
            seen("cudaFreeHost: the host has not seen the end", "cudaFree: the host has not seen the end");
        }
    }

    static void aStreamThatIsDestroyedWithWorkOnItIsSeen() {
        try (Rig rig = Rig.open(); Arena arena = Arena.ofConfined()) {
            MemorySegment created = arena.allocate(ValueLayout.ADDRESS);
            assertEquals(0, CudaRuntime.cudaStreamCreateWithFlags(created, 1));
            MemorySegment stream = created.get(ValueLayout.ADDRESS, 0);
            assertEquals(0, CudaRuntime.cudaEventRecord(MemorySegment.ofAddress(rig.event.handle()), stream));
            assertEquals(0, CudaRuntime.cudaStreamDestroy(stream));
            seen("cudaStreamDestroy: the host has not seen the end of stream");
            rig.event.synchronize();
        }
    }

    static void theWrongCurrentDeviceAndForeignMemoryAreSeen() {
        CudaSimulator.setDevices(2);
        try (Rig rig = Rig.open(); Device other = Device.cuda(1); DeviceBuffer foreign = other.allocate(64);
                DeviceEvent foreignEvent = other.openEvent(EventWait.SPIN); Arena arena = Arena.ofConfined()) {
            other.makeCurrent();
            MemorySegment made = arena.allocate(ValueLayout.ADDRESS);
            assertEquals(0, CudaRuntime.cudaEventCreateWithFlags(made, 2));
            rig.copy();
            String current = CudaSimulator.violationText();
            assertTrue(current.contains("on a stream of device 0, and current is device 1"), current);
            rig.device.makeCurrent();
            CudaCalls.cudaMemcpyAsync(foreign.address(), rig.pinned.segment().address(), 8, 1, rig.copies.handle());
            assertEquals(400, CudaRuntime.cudaEventRecord(MemorySegment.ofAddress(foreignEvent.handle()),
                    MemorySegment.ofAddress(rig.copies.handle())));
            rig.copies.synchronize();
            seen("current is device 1", "memory of device 1 on a stream of device 0", "an event of device 1");
            assertEquals(0, CudaRuntime.cudaEventDestroy(made.get(ValueLayout.ADDRESS, 0)));
            seen("cudaEventDestroy: of device 1, and current is device 0");
            CudaSimulator.setDevices(2);                // for what is closed
        }
    }

    static void theCpuCannotTouchDeviceMemory() throws IOException {
        try (Rig rig = Rig.open()) {
            String start = Long.toHexString(rig.buffer.address()) + "-";
            assertTrue(Files.readAllLines(Path.of("/proc/self/maps")).stream()
                    .anyMatch(line -> covers(line, rig.buffer.address()) && line.contains(" ---p ")), start);
        }
    }

    private static boolean covers(String line, long address) {
        String[] range = line.substring(0, line.indexOf(' ')).split("-");
        return Long.parseUnsignedLong(range[0], 16) <= address && address < Long.parseUnsignedLong(range[1], 16);
    }

    // ---- faults

    static void aStickyErrorIsToldByEveryCallAndEndsTheWork() {
        Rig rig = Rig.open();
        CudaSimulator.holdCopies(true);
        rig.copy();
        CudaSimulator.launchFault(rig.trainer.handle(), 700);
        for (Runnable call : new Runnable[] {rig.trainer::synchronize, rig.copies::synchronize, rig.copies::isIdle,
            rig.event::isComplete, rig::copy, () -> rig.copies.record(rig.event), () -> rig.device.allocate(1),
            rig.event::close, rig.buffer::close, rig.pinned::close, rig.result::close, rig.copies::close,
            rig.trainer::close}) {
            try {
                call.run();
                throw new AssertionError("no error");
            } catch (DeviceException e) {
                assertEquals(700, e.status());
            }
        }
        rig.device.close();
        seen();
    }

    static void aFaultComesAfterItsNumberOfCallsAndAsOftenAsOrdered() {
        try (Rig rig = Rig.open()) {
            CudaSimulator.failAfter("cudaEventQuery", 719, 2, 2);
            String outcomes = "";
            for (int i = 0; i < 6; i++) {
                try {
                    outcomes += rig.event.isComplete() ? "." : "?";
                } catch (DeviceException e) {
                    outcomes += e.status();
                }
            }
            assertEquals("..719719..", outcomes);
            assertEquals(6, CudaSimulator.calls("cudaEventQuery"));
            CudaSimulator.reset();
        }
    }

    static void copiesTakeTheirTime() {
        try (Rig rig = Rig.open()) {
            CudaSimulator.setSpeed(1, 5_000);
            long begin = System.nanoTime();
            rig.copy();
            rig.copies.synchronize();
            assertTrue(System.nanoTime() - begin >= 9_000_000, "4096 bytes at 1 a microsecond, 5 ms before");
        }
    }

    static void whatACaptureForbids() {
        try (Rig rig = Rig.open()) {
            CudaSimulator.beginCapture(rig.trainer.handle(), true);
            assertEquals(905, assertThrows(DeviceException.class, () -> rig.trainer.record(rig.event)).status());
            assertEquals(905, assertThrows(DeviceException.class, () -> rig.trainer.waitFor(rig.event)).status());
            assertEquals(900, assertThrows(DeviceException.class, rig.event::isComplete).status());
            seen("cudaEventRecord: stream", "cudaStreamWaitEvent: stream", "cudaEventQuery: forbidden");
            rig.copy();
            rig.copies.record(rig.event);
            rig.device.dedicateThread();
            rig.event.synchronize();
            CudaSimulator.freeGraph(CudaSimulator.endCapture(rig.trainer.handle()));
            CudaSimulator.beginCapture(rig.trainer.handle(), false);
            assertTrue(rig.event.isComplete());
            CudaSimulator.freeGraph(CudaSimulator.endCapture(rig.trainer.handle()));
        }
    }

    static void aTimeThatIsReadTooEarlyOrBackwards() {
        try (Rig rig = Rig.open();
                DeviceEvent begin = rig.device.openTimedEvent(EventWait.SPIN);
                DeviceEvent end = rig.device.openTimedEvent(EventWait.SPIN)) {
            rig.copies.record(begin);
            rig.copy();
            rig.copies.record(end);
            assertEquals(600, assertThrows(DeviceException.class, () -> end.nanosSince(begin)).status());
            seen("the host has not seen both events reached");
            rig.copies.synchronize();
            assertTrue(end.nanosSince(begin) >= 0);
            assertEquals(0, begin.nanosSince(end));
            seen("recorded behind the second");
        }
    }
}
