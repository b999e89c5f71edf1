// SPDX-License-Identifier: Apache-2.0
package io.penstock.bridge;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.loader.DataLoader;
import io.penstock.loader.LeaseMode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Steps leave nothing behind: no native memory, no descriptor, no thread. A forgotten tensor takes some 400 bytes, so
 * that 100,000 steps with one each would show as 40 MB. On Linux with glibc.
 */
public interface LeakContract {

    /** {@return the bridge under test} */
    Bridge bridge();

    /** {@return the number of steps, of which a tenth more come before as a warm-up} */
    default int steps() {
        return 100_000;
    }

    /**
     * Batches that are taken and closed leave nothing.
     *
     * @param leases the loader's leases
     * @throws Throwable if the allocator cannot be asked
     */
    @ParameterizedTest
    @EnumSource(value = LeaseMode.class, names = {"CONFINED", "REUSED"})
    default void stepsLeaveNothing(LeaseMode leases) throws Throwable {
        try (DataLoader loader = DataLoader.builder(Samples.rows(64_000, 3)).batchSize(4).leases(leases).open()) {
            run(loader, steps() / 10);
            long memory = allocatedBytes();
            long descriptors = count("/proc/self/fd");
            long threads = count("/proc/self/task");
            run(loader, steps());
            long grown = allocatedBytes() - memory;
            assertTrue(grown < 16 << 20, grown + " bytes of native memory more");
            assertTrue(count("/proc/self/fd") <= descriptors + 2, "descriptors: " + descriptors + " before");
            assertTrue(count("/proc/self/task") <= threads + 8, "threads: " + threads + " before");
        }
    }

    private void run(DataLoader loader, int steps) {
        for (int i = 0; i < steps; i++) {
            bridge().take(loader).close();
        }
    }

    private static long count(String folder) throws IOException {
        try (Stream<Path> entries = Files.list(Path.of(folder))) {
            return entries.count();
        }
    }

    /** What malloc has given out, by glibc's {@code mallinfo2}. */
    @SuppressWarnings("restricted")
    private static long allocatedBytes() throws Throwable {
        StructLayout numbers = MemoryLayout.structLayout(JAVA_LONG.withName("arena"), JAVA_LONG.withName("ordblks"),
                JAVA_LONG.withName("smblks"), JAVA_LONG.withName("hblks"), JAVA_LONG.withName("hblkhd"),
                JAVA_LONG.withName("usmblks"), JAVA_LONG.withName("fsmblks"), JAVA_LONG.withName("uordblks"),
                JAVA_LONG.withName("fordblks"), JAVA_LONG.withName("keepcost"));
        Linker linker = Linker.nativeLinker();
        var mallinfo2 = linker.downcallHandle(linker.defaultLookup().findOrThrow("mallinfo2"),
                FunctionDescriptor.of(numbers));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = (MemorySegment) mallinfo2.invokeExact((SegmentAllocator) arena);
            return info.get(JAVA_LONG, numbers.byteOffset(MemoryLayout.PathElement.groupElement("uordblks")))
                    + info.get(JAVA_LONG, numbers.byteOffset(MemoryLayout.PathElement.groupElement("hblkhd")));
        }
    }
}
