// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.host;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceEvent.EventWait;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.testing.HeapUse;
import io.penstock.testing.Thorough;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("slow")
@Timeout(value = 1200, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostDeviceStressTest {
    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final int STREAMS = 4;
    private static final int BUFFERS = 5;
    private static final int BUFFER_BYTES = 4096;

    /**
     * Random copies over several streams give what they give one after the other, if every copy waits for the last
     * use of what it touches. Every such wait is made with events, and only where the last use was on another stream,
     * so a stream that ran out of order, an event that let go early and a wait that was lost would all change the
     * bytes.
     */
    @Test
    void orderedByEventsStreamsComputeWhatOneStreamDoes() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        for (int program = 0; program < 60; program++) {
            runProgram(new Random(seed + program), "seed " + seed + ", program " + program);
        }
    }

    private static void runProgram(Random random, String message) {
        byte[][] expectedHost = new byte[BUFFERS][BUFFER_BYTES];
        byte[][] expectedDevice = new byte[BUFFERS][BUFFER_BYTES];
        try (Device device = Device.host()) {
            List<DeviceStream> streams = new ArrayList<>();
            List<PinnedBuffer> host = new ArrayList<>();
            List<DeviceBuffer> memory = new ArrayList<>();
            for (int i = 0; i < STREAMS; i++) {
                streams.add(device.openStream("stress-" + i));
            }
            LastUse[] hostUse = new LastUse[BUFFERS];
            LastUse[] memoryUse = new LastUse[BUFFERS];
            for (int i = 0; i < BUFFERS; i++) {
                host.add(device.allocatePinned(BUFFER_BYTES));
                memory.add(device.allocate(BUFFER_BYTES));
                hostUse[i] = new LastUse(device.openEvent(EventWait.BLOCK));
                memoryUse[i] = new LastUse(device.openEvent(EventWait.SPIN));
                random.nextBytes(expectedHost[i]);
                MemorySegment.copy(expectedHost[i], 0, host.get(i).segment(), BYTE, 0, BUFFER_BYTES);
            }
            int steps = 200 + random.nextInt(2_000);
            for (int step = 0; step < steps; step++) {
                int stream = random.nextInt(STREAMS);
                int h = random.nextInt(BUFFERS);
                int m = random.nextInt(BUFFERS);
                int bytes = random.nextInt(BUFFER_BYTES + 1);
                int from = random.nextInt(BUFFER_BYTES - bytes + 1);
                int to = random.nextInt(BUFFER_BYTES - bytes + 1);
                DeviceStream on = streams.get(stream);
                hostUse[h].awaitOn(stream, on);
                memoryUse[m].awaitOn(stream, on);
                if (random.nextBoolean()) {
                    on.copyToDevice(memory.get(m), to, host.get(h), from, bytes);
                    System.arraycopy(expectedHost[h], from, expectedDevice[m], to, bytes);
                } else {
                    on.copyToHost(host.get(h), to, memory.get(m), from, bytes);
                    System.arraycopy(expectedDevice[m], from, expectedHost[h], to, bytes);
                }
                hostUse[h].mark(stream, on);
                memoryUse[m].mark(stream, on);
                if (random.nextInt(50) == 0) {
                    hostUse[h].event.synchronize();
                    assertTrue(hostUse[h].event.isComplete(), message);
                    assertEquals(-1, host.get(h).segment().mismatch(MemorySegment.ofArray(expectedHost[h])), message);
                    random.nextBytes(expectedHost[h]);
                    MemorySegment.copy(expectedHost[h], 0, host.get(h).segment(), BYTE, 0, BUFFER_BYTES);
                }
            }
            streams.forEach(DeviceStream::close);
            for (int i = 0; i < BUFFERS; i++) {
                assertArrayEquals(expectedHost[i], host.get(i).segment().toArray(BYTE), message);
                assertArrayEquals(expectedDevice[i], memory.get(i).segment().toArray(BYTE), message);
                hostUse[i].event.close();
                memoryUse[i].event.close();
            }
            host.forEach(PinnedBuffer::close);
            memory.forEach(DeviceBuffer::close);
        }
    }

    /** The stream that used a buffer last, and the event behind that use. */
    private static final class LastUse {
        final DeviceEvent event;
        private int stream = -1;

        LastUse(DeviceEvent event) {
            this.event = event;
        }

        void awaitOn(int other, DeviceStream on) {
            if (stream != other) {
                on.waitFor(event);
            }
        }

        void mark(int by, DeviceStream on) {
            stream = by;
            on.record(event);
        }
    }

    @Test
    void aStreamTakesCommandsFromManyThreadsAndRunsEachThreadsInOrder() throws InterruptedException {
        int threads = 4;
        int copies = 3 * CommandQueue.CAPACITY;
        try (Device device = Device.host();
                DeviceStream stream = device.openStream("shared");
                PinnedBuffer source = device.allocatePinned(copies * 4L);
                DeviceBuffer target = device.allocate(threads * 4L)) {
            for (int i = 0; i < copies; i++) {
                source.segment().setAtIndex(ValueLayout.JAVA_INT, i, i);
            }
            List<Thread> producers = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                long slot = t * 4L;
                producers.add(Thread.ofPlatform().start(() -> {
                    for (int i = 0; i < copies; i++) {
                        stream.copyToDevice(target, slot, source, i * 4L, 4);
                    }
                }));
            }
            for (Thread producer : producers) {
                producer.join();
            }
            stream.synchronize();
            for (int t = 0; t < threads; t++) {
                assertEquals(copies - 1, target.segment().getAtIndex(ValueLayout.JAVA_INT, t), "thread " + t);
            }
        }
    }

    /** Whoever sees an event complete sees the bytes of the copy before it, however often threads park and wake. */
    @Test
    void aCompletedEventMeansThatTheBytesAreThere() {
        try (Device device = Device.host();
                DeviceStream there = device.openStream("there");
                DeviceStream back = device.openStream("back");
                DeviceEvent arrived = device.openEvent(EventWait.BLOCK);
                DeviceEvent returned = device.openEvent(EventWait.BLOCK);
                PinnedBuffer from = device.allocatePinned(8);
                PinnedBuffer to = device.allocatePinned(8);
                DeviceBuffer middle = device.allocate(8)) {
            for (long value = 1; value <= 4_000; value++) {
                from.segment().set(ValueLayout.JAVA_LONG, 0, value);
                there.waitFor(returned);
                there.copyToDevice(middle, 0, from, 0, 8);
                there.record(arrived);
                back.waitFor(arrived);
                back.copyToHost(to, 0, middle, 0, 8);
                back.record(returned);
                if (value % 3 == 0) {
                    while (!returned.isComplete()) {
                        Thread.onSpinWait();
                    }
                } else {
                    returned.synchronize();
                }
                assertEquals(value, to.segment().get(ValueLayout.JAVA_LONG, 0));
            }
        }
    }

    @Test
    void theSteadyStateAllocatesNothing() {
        try (Device device = Device.host();
                DeviceStream copies = device.openStream("quiet-copies");
                DeviceStream trainer = device.openStream("quiet-trainer");
                DeviceEvent copied = device.openEvent(EventWait.BLOCK);
                DeviceEvent used = device.openEvent(EventWait.SPIN);
                PinnedBuffer pinned = device.allocatePinned(1 << 16);
                DeviceBuffer buffer = device.allocate(1 << 16)) {
            Runnable batch = () -> {
                copies.waitFor(used);
                copies.copyToDevice(buffer, 0, pinned, 0, 1 << 16);
                copies.record(copied);
                trainer.waitFor(copied);
                trainer.copyToHost(pinned, 0, buffer, 0, 8);
                trainer.record(used);
                copied.synchronize();
                used.synchronize();
                copied.isComplete();
                copies.isIdle();
                trainer.synchronize();
            };
            long[] ids = Thread.getAllStackTraces().keySet().stream()
                    .filter(t -> t == Thread.currentThread() || t.getName().contains("stream quiet-"))
                    .mapToLong(Thread::threadId).toArray();
            assertEquals(3, ids.length);
            int batches = 2_000;
            Runnable round = () -> {
                for (int i = 0; i < batches; i++) {
                    batch.run();
                }
            };
            for (long id : ids) {
                double bytesPerBatch = (double) HeapUse.fewest(batches - 1, round, id) / batches;
                assertTrue(bytesPerBatch < 1, "thread " + id + ": " + bytesPerBatch + " bytes a batch");
            }
        }
    }

    /** Closing beside enqueueing loses nothing that was accepted. */
    @Test
    void whatWasEnqueuedBeforeTheCloseIsRun() throws InterruptedException {
        for (int round = 0; round < Thorough.times(100, 300); round++) {
            try (Device device = Device.host();
                    PinnedBuffer source = device.allocatePinned(8);
                    DeviceBuffer target = device.allocate(8 * 1000)) {
                DeviceStream stream = device.openStream("closing");
                source.segment().set(ValueLayout.JAVA_LONG, 0, -1L);
                AtomicLong accepted = new AtomicLong();
                Thread producer = Thread.ofPlatform().start(() -> {
                    try {
                        for (int i = 0; i < 1000; i++) {
                            stream.copyToDevice(target, 8L * i, source, 0, 8);
                            accepted.incrementAndGet();
                        }
                    } catch (IllegalStateException _) {
                        // The stream is closed: accepted says how many copies came before.
                    }
                });
                while (accepted.get() < round % 50) {
                    Thread.onSpinWait();
                }
                stream.close();
                producer.join();
                long copied = 0;
                while (copied < 1000 && target.segment().getAtIndex(ValueLayout.JAVA_LONG, copied) == -1) {
                    copied++;
                }
                assertEquals(accepted.get(), copied);
            }
        }
    }
}
