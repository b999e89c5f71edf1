package io.penstock.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** The shim of {@code src/test/native/crash}: built by a test, steered in the JVM that it is loaded into. */
final class CallShim {

    /** The kinds of calls, in the order of the shim's bits. */
    enum Kind {
        OPEN, CREATE, WRITE, TRUNCATE, SYNC, RENAME, LINK, REMOVE, MKDIR, CLOSE, LOCK, READ, LOOK;

        static final Set<Kind> ALL = EnumSet.allOf(Kind.class);
    }

    /** What to do with a call, in the order of the shim's numbers. */
    enum Action { PASS, FAIL, SHORTEN, KILL_BEFORE, KILL_AFTER }

    /** The environment's variable that loads it. */
    static final String PRELOAD = "LD_PRELOAD";
    static final int EIO = 5;
    static final int ENOSPC = 28;

    private static final Path SOURCES = Path.of("src/test/native/crash");
    private static final int TEXT_BYTES = 8192;
    private static final Map<String, MethodHandle> HANDLES = new ConcurrentHashMap<>();

    private CallShim() {
    }

    /** Compiles it; a machine without a C compiler, or that is no 64-bit Linux, skips the test. */
    static Path build(Path folder) throws IOException, InterruptedException {
        if (!System.getProperty("os.name").equals("Linux") || ValueLayout.ADDRESS.byteSize() != Long.BYTES) {
            return abort("no 64-bit Linux");
        }
        Path library = folder.resolve("libcrash_shim.so");
        List<String> command = new ArrayList<>(List.of("cc", "-shared", "-fPIC", "-O1", "-pthread",
                "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-o", library.toString()));
        try (Stream<Path> sources = Files.list(SOURCES)) {
            sources.map(Path::toString).filter(file -> file.endsWith(".c")).sorted().forEach(command::add);
        }
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

    /** Watches the files below a folder from now on, and has no plan; null watches nothing. */
    static void watch(Path folder) {
        try (Arena arena = Arena.ofConfined()) {
            call("crash_watch", null, arena.allocateFrom(folder == null ? "" : folder.toString()));
        }
    }

    /** Plans for the n-th call of some kinds from now on; all of the sticky kinds behind it fail. */
    static void plan(Action action, Set<Kind> kinds, long number, int errno, Set<Kind> stickyKinds) {
        call("crash_plan", null, action.ordinal(), bits(kinds), number, errno, bits(stickyKinds));
    }

    /** The call that was planned for, in words; null if it has not come. */
    static String fired() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(TEXT_BYTES);
            return (int) call("crash_fired", ValueLayout.JAVA_INT, text, text.byteSize()) == 0 ? null
                    : text.getString(0);
        }
    }

    /** How many calls of the planned kinds there were. */
    static long calls() {
        return (long) call("crash_calls", ValueLayout.JAVA_LONG);
    }

    /** Logs to a file from now on; null ends that. */
    static void log(Path file) {
        try (Arena arena = Arena.ofConfined()) {
            assertEquals(0, call("crash_log", ValueLayout.JAVA_INT,
                    arena.allocateFrom(file == null ? "" : file.toString())));
        }
    }

    private static int bits(Set<Kind> kinds) {
        return kinds.stream().mapToInt(kind -> 1 << kind.ordinal()).sum();
    }

    /** A call whose types follow from the arguments. */
    @SuppressWarnings("restricted")
    private static Object call(String function, MemoryLayout result, Object... arguments) {
        MemoryLayout[] types = Stream.of(arguments).map(argument -> switch (argument) {
            case Integer _ -> ValueLayout.JAVA_INT;
            case Long _ -> ValueLayout.JAVA_LONG;
            default -> ValueLayout.ADDRESS;
        }).toArray(MemoryLayout[]::new);
        FunctionDescriptor type = result == null ? FunctionDescriptor.ofVoid(types)
                : FunctionDescriptor.of(result, types);
        try {
            return HANDLES.computeIfAbsent(function, name -> Linker.nativeLinker().downcallHandle(
                    SymbolLookup.libraryLookup(System.getenv(PRELOAD), Arena.global()).findOrThrow(name), type))
                    .invokeWithArguments(arguments);
        } catch (Throwable t) {
            throw new AssertionError(function, t);
        }
    }
}
