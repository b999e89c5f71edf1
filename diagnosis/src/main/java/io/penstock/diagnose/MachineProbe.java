// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.loader.DeviceLoader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CompletableFuture;

final class MachineProbe {

    private static final int PROBE_BYTES = 8 << 20;
    private static final int PROBE_ROUNDS = 5;

    static Recording.Machine of(DeviceLoader loader) {
        return new Recording.Machine(Runtime.getRuntime().availableProcessors(), memcpyBytesPerSecond(),
                copyBytesPerSecond(loader), cpuShare());
    }

    private static double cpuShare() {
        double load = ManagementFactory.getOperatingSystemMXBean() instanceof
                com.sun.management.OperatingSystemMXBean os ? os.getCpuLoad() : -1;
        return load < 0 ? Double.NaN : load;
    }

    /** The best of a few copies that exceed the cache. */
    private static double memcpyBytesPerSecond() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(PROBE_BYTES);
            MemorySegment to = arena.allocate(PROBE_BYTES);
            long best = Long.MAX_VALUE;
            for (int round = 0; round < PROBE_ROUNDS; round++) {
                long begin = System.nanoTime();
                to.copyFrom(from);
                best = Math.min(best, System.nanoTime() - begin);
            }
            return PROBE_BYTES / (best / 1e9);
        }
    }

    /** The best of a few copies to the loader's device; NaN if it copies nothing or the device is closed. */
    private static double copyBytesPerSecond(DeviceLoader loader) {
        if (!loader.info().copies()) {
            return Double.NaN;
        }
        Device device = loader.device();
        // On a thread of its own: the caller may have another device current.
        return CompletableFuture.supplyAsync(() -> dedicatedCopyBytesPerSecond(device), work -> Thread.ofPlatform()
                .name("penstock " + device.name() + " probe").daemon().start(work)).join();
    }

    private static double dedicatedCopyBytesPerSecond(Device device) {
        try {
            device.dedicateThread();
            return copyBytesPerSecond(device);
        } catch (IllegalStateException | DeviceException _) {
            return Double.NaN;                          // closed, or without room
        }
    }

    private static double copyBytesPerSecond(Device device) {
        try (PinnedBuffer from = device.allocatePinned(PROBE_BYTES);
             DeviceBuffer to = device.allocate(PROBE_BYTES);
             DeviceStream stream = device.openStream("probe")) {
            long best = Long.MAX_VALUE;
            for (int round = 0; round < PROBE_ROUNDS; round++) {
                long begin = System.nanoTime();
                stream.copyToDevice(to, 0, from, 0, PROBE_BYTES);
                stream.synchronize();
                best = Math.min(best, System.nanoTime() - begin);
            }
            return PROBE_BYTES / (best / 1e9);
        }
    }
}
