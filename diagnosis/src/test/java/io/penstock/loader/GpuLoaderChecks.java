// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.device.Device;
import io.penstock.device.DeviceInventory;
import io.penstock.device.DeviceInventory.DeviceInfo;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.SplittableRandom;

/** What runs in a JVM of its own over a GPU: each method is a check, named on the command line. */
public final class GpuLoaderChecks {
    private static final int BATCH_SIZE = 5;
    /** What the driver takes at a time, for itself too. */
    private static final long DRIVER_PIECE_BYTES = 2 << 20;

    private GpuLoaderChecks() {
    }

    /**
     * Runs a check.
     *
     * @param arguments the name of the method
     * @throws Throwable if the check fails
     */
    public static void main(String[] arguments) throws Throwable {
        GpuLoaderChecks.class.getDeclaredMethod(arguments[0]).invoke(null);
    }

    /** Widths whose slabs are a byte a row, odd, a page and more, and too big for a GPU's small-copy path. */
    static void everyBatchOnTheDeviceHasTheBytesOfItsSamples() {
        for (int width : new int[] {1, 7, 255, 4096, 65_537, 1_000_003}) {
            ByteRows rows = new ByteRows(23, width);
            try (Device device = Device.cuda(0);
                    DeviceStream stream = device.openStream("trainer");
                    PinnedBuffer result = device.allocatePinned((long) BATCH_SIZE * width);
                    DataLoader loader = DataLoader.builder(rows).batchSize(BATCH_SIZE).shuffle(width).workers(2)
                            .endEpoch(8)
                            .device(device).open()) {
                device.makeCurrent();
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        verify(batch, stream, result, width);
                    }
                    if (loader.hasNext()) {
                        try (Batch batch = loader.next(stream)) {
                            verify(batch, stream, result, width);
                        }
                    }
                }
            }
        }
    }

    static void aBatchThatIsHeldKeepsItsBytesWhileOthersArrive() {
        int width = 300_001;
        int held = 4;
        try (Device device = Device.cuda(0);
                DeviceStream stream = device.openStream("trainer");
                PinnedBuffer result = device.allocatePinned((long) BATCH_SIZE * width);
                DataLoader loader = DataLoader.builder(new ByteRows(64, width)).batchSize(BATCH_SIZE).shuffle(3)
                        .workers(2)
                        .deviceSlots(held + 2).device(device).open()) {
            device.makeCurrent();
            Deque<Batch> batches = new ArrayDeque<>();
            for (int i = 0; i < 300; i++) {
                batches.add(loader.next(stream));
                if (batches.size() > held) {
                    try (Batch oldest = batches.remove()) {
                        verify(oldest, stream, result, width);
                    }
                }
            }
            batches.forEach(Batch::close);
            stream.synchronize();
        }
    }

    /**
     * Batches are closed with the reading of them no more than enqueued, on two streams by turns: copies back, as long
     * as the copies to the device. The next copy into a slot has to wait for them.
     */
    static void batchesAreOrderedBehindTheTrainersOwnStreams() {
        int width = 400_003;
        int lap = 12;
        try (Device device = Device.cuda(0);
                DeviceStream first = device.openStream("first");
                DeviceStream second = device.openStream("second");
                DataLoader loader = DataLoader.builder(new ByteRows(60, width)).batchSize(BATCH_SIZE).shuffle(9)
                        .workers(2)
                        .device(device).open()) {
            device.makeCurrent();
            DeviceStream foreign = device.stream(second.handle());
            PinnedBuffer[] results = new PinnedBuffer[lap];
            Arrays.setAll(results, _ -> device.allocatePinned((long) BATCH_SIZE * width));
            for (int lapNumber = 0; lapNumber < 20; lapNumber++) {
                long[][] samples = new long[lap][];
                for (int i = 0; i < lap; i++) {
                    try (Batch batch = loader.next(first)) {
                        samples[i] = samplesOf(batch);
                        batch.copyToHost(i % 2 == 0 ? first : foreign, results[i]);
                    }
                }
                first.synchronize();
                foreign.synchronize();
                for (int i = 0; i < lap; i++) {
                    verify(results[i].segment(), samples[i], width);
                }
            }
            for (PinnedBuffer result : results) {
                result.close();
            }
        }
    }

    static void leavingHalfwayGivesTheDevicesMemoryBack() {
        int width = 1 << 20;
        Device device = Device.cuda(0);
        long before = freeBytes();
        for (int i = 0; i < 8; i++) {
            try (DataLoader loader = DataLoader.builder(new ByteRows(32, width)).batchSize(16).workers(2).device(device)
                    .open()) {
                for (int taken = 0; taken < i; taken++) {
                    loader.next().close();
                }
            }
        }
        device.close();
        long after = freeBytes();
        assertTrue(after >= before - (16L << 20), before + " bytes were free, " + after + " are after 8 loaders");
    }

    /** Whatever creates something with CUDA starts a thread for it. */
    static void theSteadyStateCreatesNothing() {
        try (Device device = Device.cuda(0);
                DeviceStream stream = device.openStream("trainer");
                DataLoader loader = DataLoader.builder(new ByteRows(64, 4096)).batchSize(8).workers(2).device(device)
                        .open()) {
            device.makeCurrent();
            for (int i = 0; i < 100; i++) {
                loader.next(stream).close();
            }
            long free = freeBytes();
            long threads = ManagementFactory.getThreadMXBean().getTotalStartedThreadCount();
            for (int i = 0; i < 2_000; i++) {
                loader.next(stream).close();
            }
            assertEquals(threads, ManagementFactory.getThreadMXBean().getTotalStartedThreadCount());
            long used = free - freeBytes();
            assertTrue(used <= DRIVER_PIECE_BYTES, used + " bytes of device memory in 2000 batches");
            stream.synchronize();
        }
    }

    /** As many batches as {@code penstock.stress.batches} says: 36,000 are those of an hour of steps of 100 ms. */
    static void anyMixOfWhatALoaderCanDoKeepsEveryByte() {
        long seed = Long.getLong("penstock.stress.seed", System.nanoTime());
        System.out.println("seed " + seed);
        try (Device device = Device.cuda(0); var stress = new LoaderStress(device, new SplittableRandom(seed))) {
            device.makeCurrent();
            for (int left = Integer.getInteger("penstock.stress.batches", 1_000); left > 0; ) {
                left -= stress.run(left);
            }
        }
    }

    private static long freeBytes() {
        return DeviceInventory.take().devices().stream().filter(info -> info.name().equals("cuda:0"))
                .mapToLong(DeviceInfo::memoryFreeBytes).findFirst().orElseThrow();
    }

    private static void verify(Batch batch, DeviceStream stream, PinnedBuffer result, int width) {
        batch.copyToHost(stream, result);
        stream.synchronize();
        verify(result.segment(), samplesOf(batch), width);
    }

    private static long[] samplesOf(Batch batch) {
        long[] samples = new long[batch.count()];
        Arrays.setAll(samples, batch::sample);
        return samples;
    }

    private static void verify(MemorySegment rows, long[] samples, int width) {
        for (int row = 0; row < samples.length; row++) {
            for (int i = 0; i < width; i++) {
                byte found = rows.get(ValueLayout.JAVA_BYTE, (long) row * width + i);
                if (found != ByteRows.at(samples[row], i)) {
                    throw new AssertionError("byte " + i + " of sample " + samples[row] + ": " + found);
                }
            }
        }
    }
}
