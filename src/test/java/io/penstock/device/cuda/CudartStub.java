package io.penstock.device.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The stand-in for CUDA's library, {@code src/test/native/cudart_stub.c}: built by tests, steered by checks. */
final class CudartStub {
    static final int STREAM = 0;
    static final int EVENT = 1;
    static final int DEVICE_MEMORY = 2;
    static final int PINNED_MEMORY = 3;

    private CudartStub() {
    }

    /** Compiles it under the library's own name; a machine without a C compiler skips the test. */
    static Path build(Path folder, String... options) throws IOException, InterruptedException {
        Files.createDirectories(folder);
        Path library = folder.resolve(CudaLibrary.SONAME);
        List<String> command = new ArrayList<>(List.of("cc", "-shared", "-fPIC", "-O1"));
        command.addAll(List.of(options));
        command.addAll(List.of("-o", library.toString(), "src/test/native/cudart_stub.c"));
        Process compiler;
        try {
            compiler = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            return abort("no C compiler: " + e.getMessage());
        }
        String output = new String(compiler.getInputStream().readAllBytes());
        assertEquals(0, compiler.waitFor(), output);
        return library;
    }

    /** Once CUDA is loaded: makes a function return a status from now on; an empty name ends that. */
    static void fail(String call, int status) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            handle("stub_fail", FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_INT))
                    .invoke(arena.allocateFrom(call), status);
        }
    }

    static void setDriver(int version) throws Throwable {
        handle("stub_set_driver", FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT)).invoke(version);
    }

    static void setDevices(int count) throws Throwable {
        handle("stub_set_devices", FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT)).invoke(count);
    }

    static int currentDevice() throws Throwable {
        return (int) handle("stub_current_device", FunctionDescriptor.of(ValueLayout.JAVA_INT)).invoke();
    }

    static int open(int kind) throws Throwable {
        return (int) handle("stub_open", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT))
                .invoke(kind);
    }

    static int device(long handle) throws Throwable {
        return (int) origin(handle);
    }

    static int flags(long handle) throws Throwable {
        return (int) (origin(handle) >> 32);
    }

    private static long origin(long handle) throws Throwable {
        return (long) handle("stub_origin", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS))
                .invoke(MemorySegment.ofAddress(handle));
    }

    @SuppressWarnings("restricted")
    private static MethodHandle handle(String name, FunctionDescriptor type) {
        return Linker.nativeLinker().downcallHandle(SymbolLookup.loaderLookup().findOrThrow(name), type);
    }
}
