// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.Thorough;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A reader that opens a store while a writer replaces it finds one version of it, and never an error. What is there at
 * each step of a writer is {@link CommittedFolderTest}'s; here the two run beside each other, more often with
 * {@code -Dpenstock.replacements=1000}.
 */
class ReplacedWhileReadTest {

    private static final int REPLACEMENTS = Thorough.times("penstock.replacements", 4, 12);
    private static final int VERSIONS = 4;

    @TempDir
    private Path temporary;

    @ParameterizedTest
    @EnumSource
    void aReaderSeesOneVersionAlways(WrittenStore store) throws Exception {
        Set<String> versions = new HashSet<>();
        for (int version = 0; version < VERSIONS; version++) {
            Path alone = Files.createDirectory(temporary.resolve("v" + version));
            store.write(alone, version);
            versions.add(store.read(alone));
        }
        assertEquals(VERSIONS, versions.size());
        Path folder = Files.createDirectory(temporary.resolve("store"));
        store.write(folder, 0);
        var done = new AtomicBoolean();
        try (var pool = Executors.newFixedThreadPool(3)) {
            List<Future<Integer>> readers = new ArrayList<>();
            readers.add(pool.submit(until(done, () -> assertTrue(versions.contains(store.read(folder))))));
            readers.add(pool.submit(until(done, () -> assertEquals("[]", store.faults(folder)))));
            try {
                for (int i = 1; i <= REPLACEMENTS; i++) {
                    store.write(folder, i % VERSIONS);
                }
            } finally {
                done.set(true);
            }
            for (Future<Integer> reader : readers) {
                assertTrue(reader.get() > 0);
            }
        }
    }

    @FunctionalInterface
    private interface Check {
        void run() throws Exception;
    }

    private static Callable<Integer> until(AtomicBoolean done, Check check) {
        return () -> {
            int runs = 0;
            do {
                check.run();
                runs++;
            } while (!done.get());
            return runs;
        };
    }
}
