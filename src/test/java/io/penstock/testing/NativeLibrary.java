// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Native code of the tests: compiled when a test needs it, and called by the names of its functions. */
public final class NativeLibrary {

    private final Supplier<SymbolLookup> functions;
    private final Map<String, MethodHandle> handles = new ConcurrentHashMap<>();

    /**
     * A library to call.
     *
     * @param functions where its functions are, asked for at the first call of each
     */
    public NativeLibrary(Supplier<SymbolLookup> functions) {
        this.functions = functions;
    }

    /**
     * Compiles C into a shared library; a machine without a C compiler skips the test.
     *
     * @param library the file to write, whose folder is made
     * @param sources a file, or a folder whose .c files are compiled together
     * @param options beside those that every library has
     */
    public static Path compileC(Path library, Path sources, String... options)
            throws IOException, InterruptedException {
        return compile("cc", List.of("-O1", "-pthread"), library, sources, options);
    }

    /** The same of C++17: the kernels' own source, and what looks at it. Undefined behavior ends the process. */
    public static Path compileCpp(Path library, Path source, String... options)
            throws IOException, InterruptedException {
        return compile("c++", List.of("-std=c++17", "-O2", "-ffp-contract=off", "-fsanitize=undefined",
                "-fsanitize-undefined-trap-on-error", "-x", "c++"), library, source, options);
    }

    private static Path compile(String compiler, List<String> always, Path library, Path sources, String... options)
            throws IOException, InterruptedException {
        Files.createDirectories(library.toAbsolutePath().getParent());
        List<String> command = new ArrayList<>(List.of(compiler, "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"));
        command.addAll(always);
        command.addAll(List.of(options));
        command.addAll(List.of("-o", library.toString()));
        if (Files.isDirectory(sources)) {
            try (Stream<Path> files = Files.list(sources)) {
                files.map(Path::toString).filter(file -> file.endsWith(".c")).sorted().forEach(command::add);
            }
        } else {
            command.add(sources.toString());
        }
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            return abort("no compiler: " + e.getMessage());
        }
        String output = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), output);
        return library;
    }

    /**
     * Calls a function whose types follow from the arguments: {@code int32_t}, {@code int64_t}, or a segment's pointer.
     *
     * @param result what it returns, null for nothing
     */
    @SuppressWarnings("restricted")
    public Object call(String function, MemoryLayout result, Object... arguments) {
        MemoryLayout[] types = Stream.of(arguments).map(argument -> switch (argument) {
            case Integer _ -> ValueLayout.JAVA_INT;
            case Long _ -> ValueLayout.JAVA_LONG;
            default -> ValueLayout.ADDRESS;
        }).toArray(MemoryLayout[]::new);
        FunctionDescriptor type = result == null ? FunctionDescriptor.ofVoid(types)
                : FunctionDescriptor.of(result, types);
        try {
            return handles.computeIfAbsent(function, name -> Linker.nativeLinker().downcallHandle(
                    functions.get().findOrThrow(name), type)).invokeWithArguments(arguments);
        } catch (Throwable t) {
            throw new AssertionError(function, t);
        }
    }
}
