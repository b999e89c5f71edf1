// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.PinnedBuffer;
import io.penstock.testing.NativeLibrary;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** The kernels' own source, compiled for the CPU, over plain native memory; a grid is a loop. */
@SuppressWarnings("restricted")
public final class NativeLab implements Lab {
    static final Path SOURCES = Path.of("src/main/native");

    private final Arena arena = Arena.ofShared();
    private final Device device = Device.host();
    private final SymbolLookup kernels;
    private final int blockDivisor;
    private final Map<Long, Long> sizes = new HashMap<>();

    /** With fewer blocks than asked for, a block does the work of several. */
    public NativeLab(Path library, int blockDivisor) {
        this.kernels = SymbolLookup.libraryLookup(library, arena);
        this.blockDivisor = blockDivisor;
    }

    /** Compiles the kernels; a machine without a compiler skips the test. */
    public static Path compile(Path folder) throws IOException, InterruptedException {
        return NativeLibrary.compileCpp(folder.resolve("kernels.so").toAbsolutePath(), SOURCES.resolve("kernels.cu"));
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public DeviceStream stream() {
        return new KernelStream();
    }

    private void run(Kernel kernel, int blocks, MemorySegment arguments) {
        MethodHandle function = Linker.nativeLinker().downcallHandle(kernels.findOrThrow(kernel.name()),
                FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
        try (Arena call = Arena.ofConfined()) {
            MemorySegment struct = call.allocate(kernel.layout());
            MemorySegment.copy(arguments, 0, struct, 0, struct.byteSize());
            function.invoke(struct, (long) Math.ceilDiv(blocks, blockDivisor));
        } catch (Throwable t) {
            throw new AssertionError(kernel.name(), t);
        }
    }

    @Override
    public long upload(byte[] content) {
        MemorySegment memory = arena.allocate(Math.max(1, content.length), 256);
        MemorySegment.copy(content, 0, memory, ValueLayout.JAVA_BYTE, 0, content.length);
        sizes.put(memory.address(), (long) content.length);
        return memory.address();
    }

    @Override
    public byte[] download(long address) {
        return MemorySegment.ofAddress(address).reinterpret(sizes.get(address)).toArray(ValueLayout.JAVA_BYTE);
    }

    @Override
    public void close() {
        device.close();
        arena.close();
    }

    /** Runs a kernel when it is launched. Transforms do nothing else with a stream. */
    private final class KernelStream implements DeviceStream {
        @Override
        public void launch(Kernel kernel, int blocks, MemorySegment arguments) {
            run(kernel, blocks, arguments);
        }

        @Override
        public String name() {
            return "compiled for the CPU";
        }

        @Override
        public long handle() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void copyToDevice(DeviceBuffer dst, long dstOffset, PinnedBuffer src, long srcOffset, long bytes) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void copyToHost(PinnedBuffer dst, long dstOffset, DeviceBuffer src, long srcOffset, long bytes) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void record(DeviceEvent event) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void waitFor(DeviceEvent event) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isIdle() {
            return true;
        }

        @Override
        public void synchronize() {
        }

        @Override
        public void close() {
        }
    }
}
