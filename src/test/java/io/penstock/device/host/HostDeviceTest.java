// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.host;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceEvent.EventWait;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostDeviceTest {
    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final long LARGE = 4 << 20;

    @Test
    void copiesBytesToTheDeviceAndBack() {
        try (Device device = Device.host();
                DeviceStream stream = device.openStream("s");
                PinnedBuffer from = device.allocatePinned(100);
                PinnedBuffer to = device.allocatePinned(100);
                DeviceBuffer middle = device.allocate(200)) {
            assertEquals("host", device.toString());
            for (int i = 0; i < 100; i++) {
                from.segment().set(BYTE, i, (byte) (i + 1));
            }
            stream.copyToDevice(middle, 50, from, 10, 80);
            stream.copyToHost(to, 5, middle, 50, 80);
            stream.synchronize();
            for (int i = 0; i < 100; i++) {
                int expected = i >= 5 && i < 85 ? i + 6 : 0;
                assertEquals(expected, to.segment().get(BYTE, i), "byte " + i);
            }
            assertEquals(11, middle.segment().get(BYTE, 50));
            assertEquals(0, middle.segment().get(BYTE, 49));
        }
    }

    @Test
    void alignsDeviceMemoryTo256AndPinnedMemoryTo4096Bytes() {
        try (Device device = Device.host()) {
            for (int bytes = 1; bytes <= 65; bytes += 8) {
                try (DeviceBuffer buffer = device.allocate(bytes); PinnedBuffer pinned = device.allocatePinned(bytes)) {
                    assertEquals(0, buffer.address() % 256);
                    assertEquals(buffer.address(), buffer.segment().address());
                    assertEquals(bytes, buffer.byteSize());
                    assertEquals(0, pinned.segment().address() % 4096);
                    assertEquals(bytes, pinned.segment().byteSize());
                }
            }
        }
    }

    @Test
    void anEventThatWasNeverRecordedIsCompleteAndHoldsNothing() {
        for (EventWait wait : EventWait.values()) {
            try (Device device = Device.host();
                    DeviceStream stream = device.openStream("s");
                    DeviceEvent event = device.openEvent(wait)) {
                assertTrue(event.isComplete());
                event.synchronize();
                stream.waitFor(event);
                stream.synchronize();
                assertTrue(stream.isIdle());
            }
        }
    }

    @Test
    void anEventIsIncompleteUntilTheWorkBeforeItHasEnded() {
        for (EventWait wait : EventWait.values()) {
            try (Busy busy = new Busy(); DeviceEvent event = busy.device.openEvent(wait)) {
                busy.start();
                busy.stream.record(event);
                assertFalse(event.isComplete());
                assertFalse(busy.stream.isIdle());
                busy.releaseSoon();
                event.synchronize();
                assertTrue(event.isComplete());
                assertTrue(busy.isDone());
            }
        }
    }

    @Test
    void anEventDoesNotWaitForWorkBehindIt() {
        try (Busy busy = new Busy(); DeviceEvent event = busy.device.openEvent(EventWait.BLOCK)) {
            busy.stream.record(event);
            busy.start();
            event.synchronize();
            assertTrue(event.isComplete());
            assertFalse(busy.stream.isIdle());
        }
    }

    @Test
    void recordingAgainForgetsTheMarkBefore() {
        try (Busy busy = new Busy();
                DeviceStream idle = busy.device.openStream("idle");
                DeviceEvent event = busy.device.openEvent(EventWait.BLOCK)) {
            busy.start();
            busy.stream.record(event);
            assertFalse(event.isComplete());
            idle.record(event);
            assertTrue(event.isComplete());
            assertFalse(busy.stream.isIdle());
        }
    }

    @Test
    void aTimeIsOfTwoTimedEventsThatHaveEnded() {
        try (Busy busy = new Busy();
                DeviceEvent begin = busy.device.openTimedEvent(EventWait.SPIN);
                DeviceEvent end = busy.device.openTimedEvent(EventWait.BLOCK);
                DeviceEvent untimed = busy.device.openEvent(EventWait.SPIN)) {
            assertEquals(400, assertThrows(DeviceException.class, () -> end.nanosSince(begin)).status());
            busy.stream.record(begin);
            busy.start();
            busy.stream.record(end);
            busy.stream.record(untimed);
            assertEquals(600, assertThrows(DeviceException.class, () -> end.nanosSince(begin)).status());
            long held = System.nanoTime();
            while (System.nanoTime() == held) {
                Thread.onSpinWait();
            }
            busy.releaseSoon();
            end.synchronize();
            assertTrue(end.nanosSince(begin) > 0);
            assertEquals(0, begin.nanosSince(end), "the other one is later");
            assertEquals(400, assertThrows(DeviceException.class, () -> untimed.nanosSince(begin)).status());
        }
    }

    @Test
    void aWaitHoldsForTheMarkAtTheTimeOfTheCall() {
        try (Busy busy = new Busy();
                DeviceStream waiter = busy.device.openStream("waiter");
                DeviceStream idle = busy.device.openStream("idle");
                DeviceEvent event = busy.device.openEvent(EventWait.BLOCK)) {
            busy.start();
            busy.stream.record(event);
            waiter.waitFor(event);
            idle.record(event);
            busy.releaseSoon();
            waiter.synchronize();
            assertTrue(busy.isDone(), "the wait was for the first mark, not for the second");
        }
    }

    @Test
    void aMarkThatIsMadeAfterTheWaitDoesNotHoldIt() {
        try (Busy busy = new Busy();
                DeviceStream waiter = busy.device.openStream("waiter");
                DeviceEvent event = busy.device.openEvent(EventWait.BLOCK)) {
            busy.start();
            waiter.waitFor(event);
            busy.stream.record(event);
            waiter.synchronize();
            assertFalse(busy.stream.isIdle());
        }
    }

    @Test
    void aStreamStillWaitsForAnEventThatIsClosedMeanwhile() {
        try (Busy busy = new Busy(); DeviceStream waiter = busy.device.openStream("waiter")) {
            busy.start();
            try (DeviceEvent event = busy.device.openEvent(EventWait.BLOCK)) {
                busy.stream.record(event);
                waiter.waitFor(event);
            }
            busy.releaseSoon();
            waiter.synchronize();
            assertTrue(busy.isDone());
        }
    }

    @Test
    void closingAStreamWaitsForItsWork() {
        try (Busy busy = new Busy(); DeviceEvent event = busy.device.openEvent(EventWait.SPIN)) {
            busy.start();
            busy.stream.record(event);
            busy.releaseSoon();
            busy.stream.close();
            assertTrue(busy.isDone());
            assertTrue(event.isComplete());
        }
    }

    @Test
    void anInterruptDoesNotEndAWaitAndIsKept() {
        for (EventWait wait : EventWait.values()) {
            try (Busy busy = new Busy(); DeviceEvent event = busy.device.openEvent(wait)) {
                busy.start();
                busy.stream.record(event);
                busy.releaseSoon();
                Thread.currentThread().interrupt();
                event.synchronize();
                assertTrue(Thread.interrupted());
                assertTrue(busy.isDone());
            }
        }
    }

    @Test
    void aViewUsesTheStreamAndLeavesItOpen() {
        try (Device device = Device.host();
                DeviceStream stream = device.openStream("trainer");
                PinnedBuffer pinned = device.allocatePinned(1);
                DeviceBuffer buffer = device.allocate(1)) {
            DeviceStream view = device.stream(stream.handle());
            assertEquals("trainer", view.name());
            assertEquals(stream.handle(), view.handle());
            pinned.segment().set(BYTE, 0, (byte) 7);
            view.copyToDevice(buffer, 0, pinned, 0, 1);
            stream.synchronize();
            assertEquals(7, buffer.segment().get(BYTE, 0));
            view.close();
            closed(view::isIdle);
            assertTrue(stream.isIdle());
        }
    }

    @Test
    void aViewEndsWithItsStream() {
        try (Device device = Device.host()) {
            DeviceStream stream = device.openStream("trainer");
            DeviceStream view = device.stream(stream.handle());
            stream.close();
            closed(view::isIdle);
            closed(view::synchronize);
        }
    }

    @Test
    void aViewOfAnEventShowsEachMarkAndLeavesTheEventOpen() {
        try (Device device = Device.host();
                DeviceStream stream = device.openStream("producer");
                DeviceStream waiter = device.openStream("waiter");
                DeviceEvent event = device.openEvent(EventWait.BLOCK);
                PinnedBuffer pinned = device.allocatePinned(LARGE);
                PinnedBuffer seen = device.allocatePinned(1);
                DeviceBuffer buffer = device.allocate(LARGE)) {
            DeviceEvent view = device.event(event.handle());
            assertEquals(event.handle(), view.handle());
            for (int round = 1; round <= 20; round++) {
                pinned.segment().set(BYTE, LARGE - 1, (byte) round);
                stream.copyToDevice(buffer, 0, pinned, 0, LARGE);
                stream.record(event);
                waiter.waitFor(view);
                waiter.copyToHost(seen, 0, buffer, LARGE - 1, 1);
                waiter.synchronize();
                assertTrue(view.isComplete());
                assertEquals(round, seen.segment().get(BYTE, 0));
            }
            stream.record(view);
            view.synchronize();
            view.close();
            closed(view::isComplete);
            closed(() -> waiter.waitFor(view));
            assertTrue(event.isComplete());
        }
    }

    @Test
    void aViewOfAnEventEndsWithIt() {
        try (Device device = Device.host(); DeviceStream stream = device.openStream("s")) {
            DeviceEvent event = device.openEvent(EventWait.SPIN);
            long handle = event.handle();
            DeviceEvent view = device.event(handle);
            event.close();
            closed(view::isComplete);
            closed(() -> stream.waitFor(view));
            for (long wrong : new long[] {0, -1, handle, stream.handle()}) {
                assertThrows(IllegalArgumentException.class, () -> device.event(wrong), "handle " + wrong);
            }
        }
    }

    @Test
    void refusesHandlesThatAreNotOfItsOpenStreams() {
        try (Device device = Device.host();
                Device other = Device.host();
                DeviceStream foreign = other.openStream("f")) {
            DeviceStream closed = device.openStream("closed");
            long closedHandle = closed.handle();
            closed.close();
            for (long handle : new long[] {0, 1, 2, -1, foreign.handle(), closedHandle}) {
                assertThrows(IllegalArgumentException.class, () -> device.stream(handle), "handle " + handle);
            }
        }
    }

    @Test
    void refusesWhatBelongsToAnotherDevice() {
        try (Device device = Device.host();
                Device other = Device.host();
                DeviceStream stream = device.openStream("s");
                PinnedBuffer pinned = device.allocatePinned(1);
                DeviceBuffer buffer = device.allocate(1);
                PinnedBuffer otherPinned = other.allocatePinned(1);
                DeviceBuffer otherBuffer = other.allocate(1);
                DeviceEvent otherEvent = other.openEvent(EventWait.SPIN)) {
            refused(() -> stream.copyToDevice(otherBuffer, 0, pinned, 0, 1));
            refused(() -> stream.copyToDevice(buffer, 0, otherPinned, 0, 1));
            refused(() -> stream.copyToHost(pinned, 0, otherBuffer, 0, 1));
            refused(() -> stream.copyToHost(otherPinned, 0, buffer, 0, 1));
            refused(() -> stream.record(otherEvent));
            refused(() -> stream.waitFor(otherEvent));
            stream.synchronize();
        }
    }

    private static void refused(Executable call) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, call);
        assertTrue(e.getMessage().endsWith("belongs to another device"), e.getMessage());
    }

    @Test
    void refusesRangesOutsideABuffer() {
        try (Device device = Device.host();
                DeviceStream stream = device.openStream("s");
                PinnedBuffer pinned = device.allocatePinned(10);
                DeviceBuffer buffer = device.allocate(10)) {
            for (long[] range : new long[][] {{1, 0, 10}, {0, 1, 10}, {-1, 0, 1}, {0, -1, 1}, {0, 0, -1},
                {Long.MAX_VALUE, 0, 2}, {0, 0, 11}, {11, 0, 0}}) {
                assertThrows(IndexOutOfBoundsException.class,
                        () -> stream.copyToDevice(buffer, range[0], pinned, range[1], range[2]));
                assertThrows(IndexOutOfBoundsException.class,
                        () -> stream.copyToHost(pinned, range[0], buffer, range[1], range[2]));
            }
            stream.copyToDevice(buffer, 10, pinned, 10, 0);
            stream.synchronize();
        }
    }

    @Test
    void refusesAllocationsOfLessThanAByteAndOfMoreThanThereIs() {
        try (Device device = Device.host()) {
            for (long bytes : new long[] {0, -1, Long.MIN_VALUE}) {
                assertThrows(IllegalArgumentException.class, () -> device.allocate(bytes));
                assertThrows(IllegalArgumentException.class, () -> device.allocatePinned(bytes));
            }
            for (long bytes : new long[] {1L << 50, Long.MAX_VALUE}) {
                DeviceException e = assertThrows(DeviceException.class, () -> device.allocatePinned(bytes));
                assertEquals(2, e.status());
                assertEquals("cudaErrorMemoryAllocation", e.errorName());
                assertEquals("allocatePinned", e.call());
            }
        }
    }

    @Test
    void refusesUseAfterClose() {
        try (Device device = Device.host();
                DeviceStream open = device.openStream("open");
                PinnedBuffer pinned = device.allocatePinned(1);
                DeviceBuffer buffer = device.allocate(1);
                DeviceEvent event = device.openEvent(EventWait.SPIN)) {
            DeviceStream stream = device.openStream("s");
            stream.close();
            stream.close();
            assertEquals("s", stream.name());
            closed(stream::handle);
            closed(() -> stream.copyToDevice(buffer, 0, pinned, 0, 1));
            closed(() -> stream.copyToHost(pinned, 0, buffer, 0, 1));
            closed(() -> stream.record(event));
            closed(() -> stream.waitFor(event));
            closed(stream::isIdle);
            closed(stream::synchronize);

            DeviceEvent closedEvent = device.openEvent(EventWait.BLOCK);
            closedEvent.close();
            closedEvent.close();
            closed(closedEvent::handle);
            closed(closedEvent::isComplete);
            closed(closedEvent::synchronize);
            closed(() -> open.record(closedEvent));
            closed(() -> open.waitFor(closedEvent));

            PinnedBuffer closedPinned = device.allocatePinned(1);
            closedPinned.close();
            closedPinned.close();
            closed(() -> open.copyToDevice(buffer, 0, closedPinned, 0, 1));
            closed(() -> open.copyToHost(closedPinned, 0, buffer, 0, 1));
            closed(() -> closedPinned.segment().get(BYTE, 0));

            DeviceBuffer closedBuffer = device.allocate(1);
            closedBuffer.close();
            closedBuffer.close();
            closed(closedBuffer::address);
            closed(() -> open.copyToDevice(closedBuffer, 0, pinned, 0, 1));
            closed(() -> closedBuffer.segment().get(BYTE, 0));
            open.synchronize();
        }
    }

    private static void closed(Executable call) {
        IllegalStateException e = assertThrows(IllegalStateException.class, call);
        assertTrue(e.getMessage().endsWith("closed"), e.getMessage());
    }

    @Test
    void aClosedDeviceOpensNothing() {
        Device device = Device.host();
        device.close();
        device.close();
        closed(device::makeCurrent);
        closed(() -> device.openStream("s"));
        closed(() -> device.openEvent(EventWait.SPIN));
        closed(() -> device.allocate(1));
        closed(() -> device.allocatePinned(1));
        closed(() -> device.stream(1));
        closed(() -> device.event(1));
    }

    @Test
    void closingADeviceClosesWhatWasLeftOpen() {
        Device device = Device.host();
        DeviceStream stream = device.openStream("left open");
        DeviceEvent event = device.openEvent(EventWait.SPIN);
        PinnedBuffer pinned = device.allocatePinned(1);
        DeviceBuffer buffer = device.allocate(1);
        MemorySegment pinnedSegment = pinned.segment();
        MemorySegment bufferSegment = buffer.segment();
        assertEquals(1, threads("left open"));
        device.close();
        assertEquals(0, threads("left open"));
        closed(stream::synchronize);
        closed(event::isComplete);
        assertFalse(pinnedSegment.scope().isAlive());
        assertFalse(bufferSegment.scope().isAlive());
    }

    @Test
    void aCopyThatMeetsAClosedBufferIsAStickyFaultOfTheDevice() {
        Busy busy = new Busy();
        Device device = busy.device;
        DeviceStream stream = busy.stream;
        DeviceStream beside = device.openStream("beside");
        DeviceEvent event = device.openEvent(EventWait.BLOCK);
        DeviceBuffer target = device.allocate(1);
        PinnedBuffer source = device.allocatePinned(1);
        PinnedBuffer closedEarly = device.allocatePinned(1);
        busy.start();
        stream.copyToDevice(target, 0, closedEarly, 0, 1);
        stream.copyToDevice(target, 0, source, 0, 1);
        stream.record(event);
        source.segment().set(BYTE, 0, (byte) 9);
        closedEarly.close();
        busy.release();
        illegalAddress("synchronize", event::synchronize);
        for (int i = 0; i < 2; i++) {
            illegalAddress("isComplete", event::isComplete);
            illegalAddress("synchronize", stream::synchronize);
            illegalAddress("isIdle", stream::isIdle);
            illegalAddress("record", () -> stream.record(event));
            illegalAddress("waitFor", () -> beside.waitFor(event));
            illegalAddress("copyToDevice", () -> beside.copyToDevice(target, 0, source, 0, 1));
        }
        assertEquals(0, target.segment().get(BYTE, 0), "nothing runs after a fault");
        busy.gate.end();
        illegalAddress("close", stream::close);
        stream.close();
        illegalAddress("close", device::close);
        assertEquals(0, threads("beside"));
        assertFalse(source.segment().scope().isAlive());
    }

    private static void illegalAddress(String call, Executable executable) {
        DeviceException e = assertThrows(DeviceException.class, executable);
        assertEquals(700, e.status());
        assertEquals("cudaErrorIllegalAddress", e.errorName());
        assertEquals(call, e.call());
    }

    @Test
    void leavesNoThreadBehind() {
        for (int round = 0; round < 20; round++) {
            try (Device device = Device.host();
                    DeviceStream a = device.openStream("leak-a");
                    DeviceStream b = device.openStream("leak-b")) {
                assertNotEquals(a.handle(), b.handle());
                assertEquals(2, threads("leak-"));
            }
            assertEquals(0, threads("leak-"));
        }
    }

    @Test
    void namesDevices() {
        try (Device host = Device.open("host")) {
            assertEquals("host", host.name());
            assertTrue(host.hostAccessible());
        }
        for (String name : List.of("", "gpu", "cuda:", "cuda:-1", "cuda:x", "HOST", "cuda:99999999999")) {
            assertThrows(IllegalArgumentException.class, () -> Device.open(name), name);
        }
    }

    private static long threads(String namePart) {
        return Thread.getAllStackTraces().keySet().stream().filter(t -> t.getName().contains(namePart)).count();
    }

    /** A stream that stands still until {@link #release()}, then runs a copy that shows whether it has got on. */
    private static final class Busy implements AutoCloseable {
        final Device device = Device.host();
        final DeviceStream stream = device.openStream("busy");
        private final CommandQueue gate = new CommandQueue((HostDevice) device, "gate", 0);
        private final PinnedBuffer source = device.allocatePinned(1);
        private final DeviceBuffer target = device.allocate(1);

        void start() {
            ((HostStream) stream).queue().enqueueWait(gate, 1);
            source.segment().set(BYTE, 0, (byte) 1);
            stream.copyToDevice(target, 0, source, 0, 1);
        }

        void release() {
            gate.enqueueWait(gate, 0);
        }

        /** Releases while the caller is most likely waiting already. */
        void releaseSoon() {
            Thread.ofPlatform().daemon().start(() -> {
                LockSupport.parkNanos(20_000_000);
                release();
            });
        }

        boolean isDone() {
            return target.segment().get(BYTE, 0) == 1;
        }

        @Override
        public void close() {
            release();
            stream.close();
            gate.end();
            target.close();
            source.close();
            device.close();
        }
    }
}
