// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.cuda.bindings.CudaRuntime;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceStream;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;

/** Takes the time of a training step, without training. */
interface ComputeStandIn extends AutoCloseable {

    /** What it is, for the report. */
    String name();

    /** Whether it runs on the stream, beside the calling thread, or in that thread. */
    boolean onStream();

    /** Enqueues the work, or does it. */
    void run(DeviceStream stream);

    @Override
    void close();

    /** The GPU's, where the runtime library offers one, else the host's. */
    static ComputeStandIn of(Device device, DeviceStream stream, long nanos) {
        boolean gpu = !device.hostAccessible() && device.functions().find("cudaMemsetAsync").isPresent();
        return gpu ? new Memsets(device, stream, nanos) : new HostWait(nanos);
    }

    /**
     * Kernels that write the GPU's memory as fast as it takes it: {@code cudaMemsetAsync}, as often as fills the time.
     * They keep memory and multiprocessors busy, which no step does more, and use no copy engine.
     */
    final class Memsets implements ComputeStandIn {
        private static final long BYTES = 256L << 20;
        private static final int PROBES = 20;

        private final DeviceBuffer memory;
        private final MemorySegment address;
        private int count = PROBES;

        Memsets(Device device, DeviceStream stream, long nanos) {
            memory = device.allocate(BYTES);
            address = MemorySegment.ofAddress(memory.address());
            run(stream);
            stream.synchronize();
            long begin = System.nanoTime();
            run(stream);
            stream.synchronize();
            count = (int) Math.max(1, nanos * PROBES / (System.nanoTime() - begin));
        }

        @Override
        public String name() {
            return count + " x cudaMemsetAsync of " + (BYTES >> 20) + " MiB";
        }

        @Override
        public boolean onStream() {
            return true;
        }

        @Override
        public void run(DeviceStream stream) {
            MemorySegment handle = MemorySegment.ofAddress(stream.handle());
            for (int i = 0; i < count; i++) {
                int status = CudaRuntime.cudaMemsetAsync(address, i, BYTES, handle);
                if (status != CudaRuntime.cudaSuccess()) {
                    throw new DeviceException("cuda", "cudaMemsetAsync", status, "status " + status, "as a stand-in");
                }
            }
        }

        @Override
        public void close() {
            memory.close();
        }
    }

    /** The calling thread sleeps, as one does that waits for a GPU. */
    record HostWait(long nanos) implements ComputeStandIn {
        @Override
        public String name() {
            return "the trainer's thread waits";
        }

        @Override
        public boolean onStream() {
            return false;
        }

        @Override
        public void run(DeviceStream stream) {
            long end = System.nanoTime() + nanos;
            for (long left = nanos; left > 0; left = end - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
        }

        @Override
        public void close() {
        }
    }
}
