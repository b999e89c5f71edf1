// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Copies from pinned memory to the device with nothing around them: the queue of one stream is filled with as many as
 * are asked for, and the clock stops when the last has ended, as nvbandwidth does it. With one buffer on each side it
 * is nvbandwidth's measurement; with as many as a loader has slots, the most that a loader could reach.
 *
 * <p>The clock is the host's, as it is for the loader. A round is long enough that the first call and the last wake-up,
 * some tens of microseconds, vanish in it.
 */
final class BareCopies implements AutoCloseable {
    private final long bytes;
    private final DeviceStream stream;
    private final List<PinnedBuffer> sources = new ArrayList<>();
    private final List<DeviceBuffer> targets = new ArrayList<>();
    private long pinNanos;

    BareCopies(Device device, long bytes, int sourceCount, int targetCount) {
        this.bytes = bytes;
        this.stream = device.openStream("bare-copies");
        try {
            for (int i = 0; i < sourceCount; i++) {
                long begin = System.nanoTime();
                sources.add(device.allocatePinned(bytes));
                pinNanos += System.nanoTime() - begin;
                PrefilledSlots.fill(sources.getLast().segment());
            }
            for (int i = 0; i < targetCount; i++) {
                targets.add(device.allocate(bytes));
            }
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** How long this many copies take, one behind the other. */
    long nanos(int copies) {
        stream.synchronize();
        long begin = System.nanoTime();
        for (int i = 0; i < copies; i++) {
            stream.copyToDevice(targets.get(i % targets.size()), 0, sources.get(i % sources.size()), 0, bytes);
        }
        stream.synchronize();
        return System.nanoTime() - begin;
    }

    /** What it took to lock a GiB of memory. */
    double pinSecondsPerGib() {
        return pinNanos / 1e9 * (1 << 30) / (bytes * sources.size());
    }

    @Override
    public void close() {
        stream.close();
        targets.forEach(DeviceBuffer::close);
        sources.forEach(PinnedBuffer::close);
    }
}
