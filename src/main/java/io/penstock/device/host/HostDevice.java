// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.host;

import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceEvent.EventWait;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.internal.OpenResources;
import io.penstock.internal.Leak;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A device made of host memory and threads, with the semantics of a CUDA device. It starts its first thread with its
 * first stream.
 */
final class HostDevice implements Device {
    static final int MEMORY_ALLOCATION = 2;
    static final int INVALID_HANDLE = 400;
    static final int NOT_READY = 600;
    static final int ILLEGAL_ADDRESS = 700;

    /** Shared by all host devices, so handles are unique across devices. */
    private static final AtomicLong HANDLES = new AtomicLong(0x1000);

    private final OpenResources resources = new OpenResources("host");
    private final Map<Long, CommandQueue> queues = new ConcurrentHashMap<>();
    private final Map<Long, EventMark> marks = new ConcurrentHashMap<>();
    private final Leak leak = Leak.watch(this, "device", "host");
    private volatile @Nullable Throwable fault;

    @Override
    public String name() {
        return "host";
    }

    @Override
    public int ordinal() {
        return 0;
    }

    @Override
    public boolean hostAccessible() {
        return true;
    }

    @Override
    public void makeCurrent() {
        resources.requireOpen();
    }

    @Override
    public void dedicateThread() {
        makeCurrent();
    }

    @Override
    public DeviceStream openStream(String name) {
        return resources.open(() -> {
            CommandQueue queue = new CommandQueue(this, name, HANDLES.getAndIncrement());
            queues.put(queue.handle(), queue);
            return new HostStream(queue, true);
        });
    }

    @Override
    public DeviceStream stream(long handle) {
        resources.requireOpen();
        CommandQueue queue = queues.get(handle);
        if (queue == null) {
            throw new IllegalArgumentException(
                    "0x" + Long.toHexString(handle) + " is not the handle of an open stream of this host device");
        }
        return new HostStream(queue, false);
    }

    @Override
    public DeviceEvent openEvent(EventWait wait) {
        return openEvent(wait, false);
    }

    @Override
    public DeviceEvent openTimedEvent(EventWait wait) {
        return openEvent(wait, true);
    }

    private DeviceEvent openEvent(EventWait wait, boolean timed) {
        return resources.open(() -> {
            EventMark mark = new EventMark(this, HANDLES.getAndIncrement(), wait, timed);
            marks.put(mark.handle(), mark);
            return new HostEvent(mark, true);
        });
    }

    @Override
    public DeviceEvent event(long handle) {
        resources.requireOpen();
        EventMark mark = marks.get(handle);
        if (mark == null) {
            throw new IllegalArgumentException(
                    "0x" + Long.toHexString(handle) + " is not the handle of an open event of this host device");
        }
        return new HostEvent(mark, false);
    }

    @Override
    public DeviceBuffer allocate(long bytes) {
        return resources.open(() -> new HostBuffer.OnDevice(this, bytes));
    }

    @Override
    public PinnedBuffer allocatePinned(long bytes) {
        return resources.open(() -> new HostBuffer.Pinned(this, bytes));
    }

    @Override
    public void close() {
        leak.closed();
        resources.closeAll();
    }

    void closed(OpenResources.Resource resource) {
        resources.closed(resource);
    }

    void closed(HostStream stream, long handle) {
        queues.remove(handle);
        resources.closed(stream);
    }

    void closed(HostEvent event, long handle) {
        marks.remove(handle);
        resources.closed(event);
    }

    /** Faults the device: as in a CUDA context, nothing more runs on any stream. */
    synchronized void fail(Throwable cause) {
        if (fault == null) {
            fault = cause;
        }
    }

    boolean hasFault() {
        return fault != null;
    }

    /** Throws the fault, if there is one, as this call's error. */
    void checkFault(String call) {
        Throwable cause = fault;
        if (cause != null) {
            throw new DeviceException("host", call, ILLEGAL_ADDRESS, "cudaErrorIllegalAddress",
                    "work accessed memory that it cannot reach: " + cause.getMessage(), cause);
        }
    }

    @Override
    public String toString() {
        return name();
    }
}
