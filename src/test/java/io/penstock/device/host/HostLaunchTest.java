// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.host;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceEvent.EventWait;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.PinnedBuffer;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Kernels on a host stream run beside the caller, in order with copies and events. */
class HostLaunchTest {
    private static StructLayout words(int count) {
        return MemoryLayout.structLayout(MemoryLayout.sequenceLayout(count, JAVA_LONG));
    }

    private static MemorySegment arguments(int words) {
        return MemorySegment.ofArray(new long[words]);
    }

    @Test
    void kernelsRunInOrderOnTheStreamsThreadWithTheWordsOfTheirLaunch() {
        List<Long> seen = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = Collections.synchronizedList(new ArrayList<>());
        var kernel = new Kernel("note", words(2), words -> {
            seen.add(words.get(JAVA_LONG, 0) + words.get(JAVA_LONG, 8));
            threads.add(Thread.currentThread());
        });
        int launches = 3 * CommandQueue.CAPACITY;
        try (Device device = Device.host(); DeviceStream stream = device.openStream("s")) {
            long[] words = new long[5];
            for (int i = 0; i < launches; i++) {
                words[0] = 10L * i;
                words[1] = 1;
                stream.launch(kernel, 1, MemorySegment.ofArray(words));
                words[0] = -1;                              // the words are the caller's again
            }
            stream.synchronize();
        }
        assertEquals(LongStream.range(0, launches).map(i -> 10 * i + 1).boxed().toList(), seen);
        assertEquals(1, threads.stream().distinct().count());
        assertTrue(threads.getFirst() != Thread.currentThread());
    }

    @Test
    void aKernelComesBehindTheCopyBeforeItAndBeforeTheOneBehindIt() {
        try (Device device = Device.host(); DeviceStream stream = device.openStream("s");
                DeviceBuffer buffer = device.allocate(1 << 20); PinnedBuffer pinned = device.allocatePinned(1 << 20)) {
            var increment = new Kernel("increment", words(1), _ -> {
                for (long i = 0; i < 1 << 20; i++) {
                    buffer.segment().set(ValueLayout.JAVA_BYTE, i,
                            (byte) (buffer.segment().get(ValueLayout.JAVA_BYTE, i) + 1));
                }
            });
            for (int round = 0; round < 20; round++) {
                pinned.segment().fill((byte) round);
                stream.copyToDevice(buffer, 0, pinned, 0, 1 << 20);
                stream.launch(increment, 1, arguments(1));
                stream.launch(increment, 1, arguments(1));
                stream.copyToHost(pinned, 0, buffer, 0, 1 << 20);
                stream.synchronize();
                for (long i = 0; i < 1 << 20; i += 4099) {
                    assertEquals(round + 2, pinned.segment().get(ValueLayout.JAVA_BYTE, i));
                }
            }
        }
    }

    @Test
    void anEventMarksTheKernelsBeforeIt() {
        var gate = new CountDownLatch(1);
        var ran = new AtomicLong();
        var wait = new Kernel("wait", words(1), _ -> {
            try {
                gate.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        var count = new Kernel("count", words(1), _ -> ran.incrementAndGet());
        try (Device device = Device.host(); DeviceStream first = device.openStream("first");
                DeviceStream second = device.openStream("second");
                DeviceEvent event = device.openEvent(EventWait.BLOCK)) {
            first.launch(wait, 1, arguments(1));
            first.launch(count, 1, arguments(1));
            first.record(event);
            second.waitFor(event);
            second.launch(count, 1, arguments(1));
            assertEquals(false, event.isComplete());
            assertEquals(0, ran.get());
            gate.countDown();
            second.synchronize();
            assertTrue(event.isComplete());
            assertEquals(2, ran.get());
        }
    }

    @Test
    void aKernelThatFailsEndsTheDevicesWork() {
        var fails = new Kernel("fails", words(1), _ -> {
            throw new IndexOutOfBoundsException("beyond");
        });
        Device device = Device.host();
        DeviceStream stream = device.openStream("s");
        stream.launch(fails, 1, arguments(1));
        DeviceException e = assertThrows(DeviceException.class, stream::synchronize);
        assertEquals("cudaErrorIllegalAddress", e.errorName());
        assertTrue(e.getMessage().contains("beyond"), e.getMessage());
        assertThrows(DeviceException.class, () -> stream.launch(fails, 1, arguments(1)));
        assertThrows(DeviceException.class, stream::close);
        device.close();
    }

    @Test
    void whatIsWrongIsRefusedAtTheCall() {
        var kernel = new Kernel("two words", words(2), _ -> { });
        try (Device device = Device.host()) {
            DeviceStream stream = device.openStream("s");
            assertThrows(IllegalArgumentException.class, () -> stream.launch(kernel, 1, arguments(1)));
            assertThrows(IllegalArgumentException.class, () -> stream.launch(kernel, 0, arguments(2)));
            stream.close();
            assertThrows(IllegalStateException.class, () -> stream.launch(kernel, 1, arguments(2)));
        }
        assertThrows(IllegalArgumentException.class, () -> new Kernel("none", words(0), _ -> { }));
        int most = Kernel.MAX_ARGUMENT_BYTES / Long.BYTES;
        assertThrows(IllegalArgumentException.class, () -> new Kernel("many", words(most + 1), _ -> { }));
    }

    @Test
    void launchingAllocatesNothing() {
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        var kernel = new Kernel("nothing", words(8), _ -> { });
        try (Device device = Device.host(); DeviceStream stream = device.openStream("s")) {
            MemorySegment words = arguments(8);
            long fewest = Long.MAX_VALUE;
            for (int round = 0; round < 1_000 && fewest >= 200; round++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < 2 * CommandQueue.CAPACITY; i++) {
                    stream.launch(kernel, 1, words);
                }
                stream.synchronize();
                fewest = Math.min(fewest, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertTrue(fewest < 200, fewest + " bytes in " + 2 * CommandQueue.CAPACITY + " launches");
        }
    }
}
