// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
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
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Native code of the tests: compiled when a test needs it, and called by the names of its functions. */
public final class NativeLibrary {

    private static final Path SOURCES = Path.of("src");
    /** What was compiled in this build, by its digest: the processes of the tests compile it once. */
    private static final Path BUILT = Path.of("target/native/built");

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
        List<String> command = new ArrayList<>(List.of(compiler, "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"));
        command.addAll(always);
        command.addAll(List.of(options));
        if (Files.isDirectory(sources)) {
            try (Stream<Path> files = Files.list(sources)) {
                files.map(Path::toString).filter(file -> file.endsWith(".c")).sorted().forEach(command::add);
            }
        } else {
            command.add(sources.toString());
        }
        Path folder = Files.createDirectories(library.toAbsolutePath().getParent());
        Path built = sources.startsWith(SOURCES) ? BUILT.resolve(digest(command) + ".so") : null;
        // A process may have the old file mapped, so the new one takes its name when it is whole.
        Path whole = Files.createTempFile(folder, "built", ".so");
        if (built != null && Files.exists(built)) {
            Files.copy(built, whole, StandardCopyOption.REPLACE_EXISTING);
        } else {
            command.addAll(List.of("-o", whole.toString()));
            run(command);
            if (built != null) {
                Path copy = Files.createTempFile(Files.createDirectories(BUILT), "built", ".so");
                Files.copy(whole, copy, StandardCopyOption.REPLACE_EXISTING);
                Files.move(copy, built, StandardCopyOption.ATOMIC_MOVE);
            }
        }
        return Files.move(whole, library, StandardCopyOption.ATOMIC_MOVE);
    }

    private static void run(List<String> command) throws IOException, InterruptedException {
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            abort("no compiler: " + e.getMessage());
            return;
        }
        String output = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), output);
    }

    /** Of the command, and of all native sources, since they include each other. */
    private static String digest(List<String> command) throws IOException {
        MessageDigest digest = Digests.sha256();
        digest.update(String.join("\n", command).getBytes(UTF_8));
        for (Path root : List.of(SOURCES.resolve("main/native"), SOURCES.resolve("test/native"))) {
            try (Stream<Path> files = Files.walk(root)) {
                for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                    digest.update(file.toString().getBytes(UTF_8));
                    digest.update(Files.readAllBytes(file));
                }
            }
        }
        return HexFormat.of().formatHex(digest.digest(), 0, 16);
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
