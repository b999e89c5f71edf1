// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceEvent.EventWait;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.PinnedBuffer;
import java.lang.foreign.MemorySegment;

/**
 * The host device behind a bus on which each copy to the device takes a while longer, however small it is: as a driver
 * takes that must bring memory in before it copies.
 */
record SlowBus(Device device, Runnable delay) implements Device {

    @Override
    public String name() {
        return device.name();
    }

    @Override
    public int ordinal() {
        return device.ordinal();
    }

    @Override
    public boolean hostAccessible() {
        return device.hostAccessible();
    }

    @Override
    public void makeCurrent() {
        device.makeCurrent();
    }

    @Override
    public void dedicateThread() {
        device.dedicateThread();
    }

    @Override
    public DeviceStream openStream(String name) {
        return new SlowStream(device.openStream(name), delay);
    }

    @Override
    public DeviceStream stream(long handle) {
        return device.stream(handle);
    }

    @Override
    public DeviceEvent openEvent(EventWait wait) {
        return device.openEvent(wait);
    }

    @Override
    public DeviceEvent openTimedEvent(EventWait wait) {
        return device.openTimedEvent(wait);
    }

    @Override
    public DeviceEvent event(long handle) {
        return device.event(handle);
    }

    @Override
    public DeviceBuffer allocate(long bytes) {
        return device.allocate(bytes);
    }

    @Override
    public PinnedBuffer allocatePinned(long bytes) {
        return device.allocatePinned(bytes);
    }

    @Override
    public void close() {
        device.close();
    }

    /** A stream whose caller waits with each copy. */
    private record SlowStream(DeviceStream stream, Runnable delay) implements DeviceStream {

        @Override
        public String name() {
            return stream.name();
        }

        @Override
        public long handle() {
            return stream.handle();
        }

        @Override
        public void copyToDevice(DeviceBuffer dst, long dstOffset, PinnedBuffer src, long srcOffset, long bytes) {
            delay.run();
            stream.copyToDevice(dst, dstOffset, src, srcOffset, bytes);
        }

        @Override
        public void copyToHost(PinnedBuffer dst, long dstOffset, DeviceBuffer src, long srcOffset, long bytes) {
            stream.copyToHost(dst, dstOffset, src, srcOffset, bytes);
        }

        @Override
        public void launch(Kernel kernel, int blocks, MemorySegment arguments) {
            stream.launch(kernel, blocks, arguments);
        }

        @Override
        public void record(DeviceEvent event) {
            stream.record(event);
        }

        @Override
        public void waitFor(DeviceEvent event) {
            stream.waitFor(event);
        }

        @Override
        public boolean isIdle() {
            return stream.isIdle();
        }

        @Override
        public void synchronize() {
            stream.synchronize();
        }

        @Override
        public void close() {
            stream.close();
        }
    }
}
