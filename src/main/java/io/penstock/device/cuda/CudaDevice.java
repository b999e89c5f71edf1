// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static io.penstock.cuda.bindings.CudaRuntime.cudaDevAttrHostNumaId;
import static io.penstock.cuda.bindings.CudaRuntime.cudaDeviceGetAttribute;
import static io.penstock.cuda.bindings.CudaRuntime.cudaErrorUnknown;
import static io.penstock.cuda.bindings.CudaRuntime.cudaSetDevice;
import static io.penstock.cuda.bindings.CudaRuntime.cudaSuccess;

import io.penstock.cuda.bindings.CudaSymbols;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceEvent.EventWait;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceStream;
import io.penstock.device.DeviceUnavailableException;
import io.penstock.device.DeviceUnavailableException.Reason;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.internal.OpenResources;
import io.penstock.error.LimitException;
import io.penstock.internal.Leak;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.function.IntSupplier;

/**
 * An NVIDIA GPU, through the CUDA runtime.
 *
 * <p><b>The current device.</b> CUDA keeps one per OS thread, and calls that create something use it. Setting it in the
 * caller's thread would disturb the caller, and restoring it would create a context on a device the caller never used.
 * So creation, which is slow anyway, runs on a {@linkplain CudaThread thread of its own} with this device current,
 * where a graph that another thread captures does not forbid it; and so does {@linkplain #release release}. Calls
 * that enqueue, poll or wait take a stream or event, which knows its device, and run in the caller's thread.
 *
 * <p>The primary context is shared with every other user of the runtime in this process, such as the trainer. So it is
 * never reset; closing releases only what was opened here.
 */
final class CudaDevice implements Device {
    private final int ordinal;
    private final String name;
    private final OpenResources resources;
    private final CudaKernels kernels = new CudaKernels(this);
    private final CudaThread thread;
    private final Leak leak;
    /** The memory node that the device is near; -1 if the driver does not say. */
    private int hostNode = -1;

    private CudaDevice(int ordinal) {
        this.ordinal = ordinal;
        this.name = "cuda:" + ordinal;
        this.resources = new OpenResources(name);
        this.thread = new CudaThread("penstock " + name);
        this.leak = Leak.watch(this, "device", name);
    }

    static CudaDevice open(int ordinal) {
        if (ordinal < 0) {
            throw new IllegalArgumentException("device " + ordinal + ": expected a number from 0");
        }
        int count = CudaPlatform.load().deviceCount();
        if (ordinal >= count) {
            String devices = count == 1 ? "cuda:0 is the only device" : "the devices are cuda:0 to cuda:" + (count - 1);
            throw new DeviceUnavailableException(
                    Reason.NO_SUCH_DEVICE, "there is no cuda:" + ordinal + ": " + devices, null);
        }
        CudaDevice device = new CudaDevice(ordinal);
        try {
            device.create("cudaSetDevice", device::locate);
        } catch (DeviceException e) {
            device.leak.closed();
            device.thread.close();
            throw new DeviceUnavailableException(Reason.INITIALIZATION_FAILED,
                    "CUDA cannot initialize the device: " + e.getMessage(), e);
        }
        return device;
    }

    private int locate() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment node = arena.allocate(ValueLayout.JAVA_INT);
            if (cudaDeviceGetAttribute(node, cudaDevAttrHostNumaId(), ordinal) == cudaSuccess()) {
                hostNode = node.get(ValueLayout.JAVA_INT, 0);
            }
            return cudaSuccess();                       // a matter of speed alone
        }
    }

    int hostNode() {
        return hostNode;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int ordinal() {
        return ordinal;
    }

    @Override
    public boolean hostAccessible() {
        return false;
    }

    @Override
    public void makeCurrent() {
        resources.requireOpen();
        requirePlatformThread();
        check(cudaSetDevice(ordinal), "cudaSetDevice");
    }

    @Override
    public void dedicateThread() {
        makeCurrent();
        check(CudaCalls.ignoreCaptures(), CudaCalls.EXCHANGE_CAPTURE_MODE);
    }

    @Override
    public SymbolLookup functions() {
        return CudaSymbols::find;
    }

    @Override
    public DeviceStream openStream(String name) {
        return resources.open(() -> CudaStream.open(this, name));
    }

    @Override
    public DeviceStream stream(long handle) {
        resources.requireOpen();
        return CudaStream.view(this, handle);
    }

    @Override
    public DeviceEvent openEvent(EventWait wait) {
        return resources.open(() -> CudaEvent.open(this, wait));
    }

    @Override
    public DeviceEvent openTimedEvent(EventWait wait) {
        return resources.open(() -> CudaEvent.openTimed(this, wait));
    }

    @Override
    public DeviceEvent event(long handle) {
        resources.requireOpen();
        return CudaEvent.view(this, handle);
    }

    @Override
    public DeviceBuffer allocate(long bytes) {
        return resources.open(() -> new CudaDeviceBuffer(this, bytes));
    }

    @Override
    public PinnedBuffer allocatePinned(long bytes) {
        return resources.open(() -> new CudaPinnedBuffer(this, bytes));
    }

    @Override
    public void close() {
        leak.closed();
        try (thread; kernels) {
            resources.closeAll();
        }
    }

    CudaKernels kernels() {
        return kernels;
    }

    void closed(OpenResources.Resource resource) {
        resources.closed(resource);
    }

    void check(int status, String call) {
        CudaError.check(status, name, call);
    }

    private void checkRelease(int status, String call) {
        CudaError.checkRelease(status, name, call);
    }

    /** Makes a CUDA call that depends on the current device, on a thread where that is this device. */
    void create(String call, IntSupplier creation) {
        int unknown = cudaErrorUnknown();
        int[] statuses = {unknown, unknown, unknown};   // unless the thread replaces them
        thread.run(call, () -> {
            statuses[0] = cudaSetDevice(ordinal);
            if (statuses[0] == cudaSuccess()) {
                statuses[1] = CudaCalls.ignoreCaptures();
            }
            if (statuses[1] == cudaSuccess()) {
                statuses[2] = creation.getAsInt();
            }
        });
        check(statuses[0], "cudaSetDevice");
        check(statuses[1], CudaCalls.EXCHANGE_CAPTURE_MODE);
        check(statuses[2], call);
    }

    /** A CUDA call by its name, which returns a status. */
    record Call(String name, IntSupplier made) {
    }

    /**
     * Makes CUDA calls that release something, all of them, on a thread where this device is current; then checks what
     * they returned. On a thread that never chose a device, CUDA would first start a context on device 0: that takes
     * memory there, and where it fails, nothing is released. If no thread can be started, the caller's makes the calls.
     */
    void release(Call... calls) {
        int[] statuses = new int[calls.length];
        Arrays.fill(statuses, cudaErrorUnknown());      // unless they are replaced
        int[] before = {cudaSuccess(), cudaSuccess()};
        Runnable releases = () -> Arrays.setAll(statuses, i -> calls[i].made.getAsInt());
        try {
            thread.run(calls[0].name, () -> {
                before[0] = cudaSetDevice(ordinal);
                before[1] = CudaCalls.ignoreCaptures();
                releases.run();
            });
        } catch (LimitException _) {
            releases.run();
        }
        for (int i = 0; i < calls.length; i++) {
            checkRelease(statuses[i], calls[i].name);
        }
        checkRelease(before[0], "cudaSetDevice");
        checkRelease(before[1], CudaCalls.EXCHANGE_CAPTURE_MODE);
    }

    /** CUDA keeps state per OS thread, and its blocking calls hold one. */
    static void requirePlatformThread() {
        if (Thread.currentThread().isVirtual()) {
            throw new IllegalStateException(
                    "CUDA calls need a platform thread, and this is a virtual one: " + Thread.currentThread());
        }
    }

    @Override
    public String toString() {
        return name();
    }
}
