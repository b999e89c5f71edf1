// SPDX-License-Identifier: Apache-2.0
package io.penstock.bridge;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.loader.DataLoader;
import io.penstock.loader.LeaseMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Steps leave nothing behind: no native memory, no descriptor, no thread. On Linux with glibc. */
public interface LeakContract {

    /** {@return the bridge under test} */
    Bridge bridge();

    /** {@return the number of steps in a round; a tenth more come before as a warm-up} */
    default int steps() {
        return 100_000;
    }

    /**
     * Batches that are taken and closed leave nothing.
     *
     * @param leases the loader's leases
     * @throws Exception if the descriptors cannot be counted
     */
    @ParameterizedTest
    @EnumSource(value = LeaseMode.class, names = {"CONFINED", "REUSED"})
    default void stepsLeaveNothing(LeaseMode leases) throws Exception {
        try (DataLoader loader = DataLoader.builder(Samples.rows(64_000, 3)).batchSize(4).leases(leases).open()) {
            run(loader, steps() / 10);
            long descriptors = count("/proc/self/fd");
            long threads = count("/proc/self/task");
            new NativeMemory().assertLeftByNo(steps(), count -> run(loader, count));
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
}
