// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import com.sun.management.ThreadMXBean;
import io.penstock.bridge.NativeMemory;
import io.penstock.loader.DataLoader;
import io.penstock.loader.LeaseMode;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Steps leave nothing behind: no NDArray in a manager, no lease, no native memory. */
class LeakTest {

    private static final int WARM_UP = 20_000;
    private static final int STEPS = 100_000;

    @Test
    void aliasesLeaveNothing() throws Exception {
        try (DataLoader loader = DataLoader.builder(Samples.ofIndices(64_000, 3)).batchSize(4).open()) {
            check(loader, PenstockDataset.of(loader).data("row").labels("id"));
        }
    }

    @Test
    void aliasesOfReusedLeasesLeaveNothing() throws Exception {
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
    void copiesLeaveNothing() throws Exception {
        try (DataLoader loader = DataLoader.builder(Samples.ofIndices(64_000, 3)).batchSize(4).open()) {
            check(loader, PenstockDataset.of(loader).data("row").labels("id").as("id", DataType.INT32).copied());
        }
    }

    private static void check(DataLoader loader, Dataset dataset) throws Exception {
        try (NDManager manager = NDManager.newBaseManager()) {
            run(dataset, manager, WARM_UP);
            long residentBefore = residentBytes();
            new NativeMemory().assertLeftByNo(STEPS, count -> run(dataset, manager, count));
            long residentGrown = residentBytes() - residentBefore;
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
}
