// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import com.sun.management.ThreadMXBean;
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
import java.lang.invoke.MethodHandle;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Steps leave nothing behind: no NDArray in a manager, no lease, no native memory. A tensor of torch takes some 400
 * bytes of it, so that 10^5 steps with one forgotten tensor each would show as 40 MB.
 */
class LeakTest {

    private static final int WARM_UP = 20_000;
    private static final int STEPS = 100_000;
    private static final long ALLOWED_BYTES = 16 << 20;

    @Test
    void aliasesLeaveNothing() throws Throwable {
        try (DataLoader loader = DataLoader.builder(Samples.ofIndices(64_000, 3)).batchSize(4).open()) {
            check(loader, PenstockDataset.of(loader).data("row").labels("id"));
        }
    }

    @Test
    void aliasesOfReusedLeasesLeaveNothing() throws Throwable {
        try (DataLoader loader = DataLoader.builder(Samples.ofIndices(64_000, 3)).batchSize(4).leases(LeaseMode.REUSED)
                .open()) {
            check(loader, PenstockDataset.of(loader).data("row").labels("id"));
        }
    }

    /** The bound is a tenth of what a batch of DJL's {@code ArrayDataset} takes. */
    @Test
    void aBatchOfReusedLeasesTakesFewBytesOfHeap() throws Exception {
        var thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (DataLoader loader = DataLoader.builder(Samples.ofIndices(64_000, 3)).batchSize(4).leases(LeaseMode.REUSED)
                .open(); NDManager manager = NDManager.newBaseManager()) {
            Dataset dataset = PenstockDataset.of(loader).data("row").labels("id");
            run(dataset, manager, WARM_UP);
            long before = thread.getCurrentThreadAllocatedBytes();
            run(dataset, manager, WARM_UP);
            long bytes = (thread.getCurrentThreadAllocatedBytes() - before) / WARM_UP;
            assertTrue(bytes < 548, bytes + " bytes a batch");
        }
    }

    @Test
    void copiesLeaveNothing() throws Throwable {
        try (DataLoader loader = DataLoader.builder(Samples.ofIndices(64_000, 3)).batchSize(4).open()) {
            check(loader, PenstockDataset.of(loader).data("row").labels("id").as("id", DataType.INT32).copied());
        }
    }

    private static void check(DataLoader loader, Dataset dataset) throws Throwable {
        MemoryInUse memory = new MemoryInUse();
        try (NDManager manager = NDManager.newBaseManager()) {
            run(dataset, manager, WARM_UP);
            long before = memory.bytes();
            long residentBefore = residentBytes();
            run(dataset, manager, STEPS);
            long grown = memory.bytes() - before;
            long residentGrown = residentBytes() - residentBefore;
            assertTrue(grown < ALLOWED_BYTES, grown + " bytes of native memory more");
            // The Java heap is part of it, which may grow to its limit.
            assertTrue(residentGrown < Runtime.getRuntime().maxMemory(), residentGrown + " resident bytes more");
            assertEquals(List.of(), manager.getManagedArrays());
        }
        List<io.penstock.loader.Batch> all = new ArrayList<>();
        for (int i = 0; i < loader.memory().hostSlots(); i++) {
            all.add(loader.next());
        }
        all.forEach(io.penstock.loader.Batch::close);
    }

    private static void run(Dataset dataset, NDManager manager, int steps) throws Exception {
        int done = 0;
        while (done < steps) {
            for (Batch batch : dataset.getData(manager)) {
                try (batch) {
                    done++;
                }
            }
        }
    }

    private static long residentBytes() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith("VmRSS:")).mapToLong(
                    line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024).findFirst().orElseThrow();
        }
    }

    /** What malloc has given out, by glibc's {@code mallinfo2}. */
    private static final class MemoryInUse {

        private static final StructLayout MALLINFO2 = MemoryLayout.structLayout(
                JAVA_LONG.withName("arena"), JAVA_LONG.withName("ordblks"), JAVA_LONG.withName("smblks"),
                JAVA_LONG.withName("hblks"), JAVA_LONG.withName("hblkhd"), JAVA_LONG.withName("usmblks"),
                JAVA_LONG.withName("fsmblks"), JAVA_LONG.withName("uordblks"), JAVA_LONG.withName("fordblks"),
                JAVA_LONG.withName("keepcost"));

        private final MethodHandle mallinfo2;

        @SuppressWarnings("restricted")
        MemoryInUse() {
            Linker linker = Linker.nativeLinker();
            mallinfo2 = linker.downcallHandle(linker.defaultLookup().findOrThrow("mallinfo2"),
                    FunctionDescriptor.of(MALLINFO2));
        }

        long bytes() throws Throwable {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment info = (MemorySegment) mallinfo2.invokeExact((SegmentAllocator) arena);
                return info.get(JAVA_LONG, MALLINFO2.byteOffset(MemoryLayout.PathElement.groupElement("uordblks")))
                        + info.get(JAVA_LONG, MALLINFO2.byteOffset(MemoryLayout.PathElement.groupElement("hblkhd")));
            }
        }
    }
}
