// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * A trainer's memory on a device, and copies between it and the heap: of weights and losses, through pinned memory,
 * and each waits until it has ended. Batches do not come this way.
 */
final class CudaMemory implements AutoCloseable {

    private static final long STAGING_BYTES = 4 << 20;

    private final Device device;
    private final DeviceStream stream;
    private final PinnedBuffer staging;
    private final List<DeviceBuffer> buffers = new ArrayList<>();

    CudaMemory(Device device, DeviceStream stream) {
        this.device = device;
        this.stream = stream;
        this.staging = device.allocatePinned(STAGING_BYTES);
    }

    /** Memory until this is closed; its content is undefined. */
    DeviceBuffer allocate(long bytes) {
        DeviceBuffer buffer = device.allocate(bytes);
        buffers.add(buffer);
        return buffer;
    }

    void copyToHost(DeviceBuffer source, long offset, MemorySegment target) {
        for (long done = 0; done < target.byteSize(); done += STAGING_BYTES) {
            long bytes = Math.min(STAGING_BYTES, target.byteSize() - done);
            stream.copyToHost(staging, 0, source, offset + done, bytes);
            stream.synchronize();
            MemorySegment.copy(staging.segment(), 0, target, done, bytes);
        }
    }

    void copyToDevice(DeviceBuffer target, long offset, MemorySegment source) {
        for (long done = 0; done < source.byteSize(); done += STAGING_BYTES) {
            long bytes = Math.min(STAGING_BYTES, source.byteSize() - done);
            MemorySegment.copy(source, done, staging.segment(), 0, bytes);
            stream.copyToDevice(target, offset + done, staging, 0, bytes);
            stream.synchronize();
        }
    }

    @Override
    public void close() {
        stream.synchronize();
        buffers.forEach(DeviceBuffer::close);
        staging.close();
    }
}
