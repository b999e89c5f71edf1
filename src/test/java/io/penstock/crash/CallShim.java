// SPDX-License-Identifier: Apache-2.0
package io.penstock.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.abort;

import io.penstock.testing.NativeLibrary;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;

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
    @SuppressWarnings("restricted")
    private static final NativeLibrary FUNCTIONS =
            new NativeLibrary(() -> SymbolLookup.libraryLookup(System.getenv(PRELOAD), Arena.global()));

    private CallShim() {
    }

    /** Compiles it; a machine without a C compiler, or that is no 64-bit Linux, skips the test. */
    static Path build(Path folder) throws IOException, InterruptedException {
        if (!System.getProperty("os.name").equals("Linux") || ValueLayout.ADDRESS.byteSize() != Long.BYTES) {
            return abort("no 64-bit Linux");
        }
        return NativeLibrary.compileC(folder.resolve("libcrash_shim.so"), SOURCES, "-fvisibility=hidden");
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

    private static Object call(String function, MemoryLayout result, Object... arguments) {
        return FUNCTIONS.call(function, result, arguments);
    }
}
