// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;

/** A device, with memory copied there and back on the same stream that the transforms run on. */
public final class DeviceLab implements Lab {
    private final Device device;
    private final DeviceStream stream;
    private final Map<Long, DeviceBuffer> buffers = new LinkedHashMap<>();

    public DeviceLab(Device device) {
        this.device = device;
        device.makeCurrent();
        this.stream = device.openStream("lab");
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public DeviceStream stream() {
        return stream;
    }

    @Override
    public long upload(byte[] content) {
        DeviceBuffer buffer = device.allocate(Math.max(1, content.length));
        buffers.put(buffer.address(), buffer);
        try (PinnedBuffer staging = device.allocatePinned(Math.max(1, content.length))) {
            MemorySegment.copy(content, 0, staging.segment(), ValueLayout.JAVA_BYTE, 0, content.length);
            stream.copyToDevice(buffer, 0, staging, 0, content.length);
            stream.synchronize();
        }
        return buffer.address();
    }

    @Override
    public byte[] download(long address) {
        DeviceBuffer buffer = buffers.get(address);
        try (PinnedBuffer staging = device.allocatePinned(buffer.byteSize())) {
            stream.copyToHost(staging, 0, buffer, 0, buffer.byteSize());
            stream.synchronize();
            return staging.segment().toArray(ValueLayout.JAVA_BYTE);
        }
    }

    @Override
    public void close() {
        stream.close();
        buffers.values().forEach(DeviceBuffer::close);
        device.close();
    }
}
