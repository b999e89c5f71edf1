// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.remote.cache.BlockCache;
import io.penstock.testing.JavaCommand;
import io.penstock.testing.Thorough;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes that share a cache, some of which die. */
@Tag("slow")
class CacheProcessesTest {

    private static final int BLOCK = 1 << 16;
    private static final int BYTES = 64 * BLOCK;
    /** Whole with {@code -Dpenstock.kills=200}. */
    private static final int KILLS = Thorough.times("penstock.kills", 2, 8);
    /** At a time, while some are killed. */
    private static final int PROCESSES = KILLS < 100 ? 2 : 8;

    @TempDir
    private Path cache;
    @TempDir
    private Path out;

    private Process start(ObjectHost host, long limit, long seed, int reads) throws IOException {
        return start(host, limit, seed, reads, RequestSettings.DEFAULT.hedgePercent());
    }

    private Process start(ObjectHost host, long limit, long seed, int reads, int hedgePercent) throws IOException {
        List<String> command = JavaCommand.of("-Xmx64m");
        command.addAll(List.of(CacheReader.class.getName(), host.url("x"), cache.toString(), Long.toString(limit),
                Integer.toString(BLOCK), Integer.toString(BYTES), "1", Long.toString(seed), Integer.toString(reads),
                Integer.toString(hedgePercent)));
        return new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(out.resolve(Long.toString(seed)).toFile()).start();
    }

    /** What the process of a seed said, once it has ended. */
    private String result(Process process, long seed) throws IOException, InterruptedException {
        process.waitFor();
        return said(seed);
    }

    private String said(long seed) {
        try {
            return Files.readString(out.resolve(Long.toString(seed))).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void eightProcessesOnAColdCacheFetchEachBlockOnce() throws Exception {
        try (ObjectHost host = ObjectHost.start().put("x", ObjectHost.bytes(BYTES, 1))) {
            List<Process> processes = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                processes.add(start(host, 1L << 30, i, 500, 0));
            }
            for (int i = 0; i < processes.size(); i++) {
                assertEquals("right", result(processes.get(i), i));
            }
            Set<String> different = new HashSet<>(host.gets());
            assertEquals(64, different.size());
            assertEquals(64, host.gets().size(), "fetched twice");
        }
    }

    @Test
    void processesThatShareASmallCacheReadRightBytes() throws Exception {
        try (ObjectHost host = ObjectHost.start().put("x", ObjectHost.bytes(BYTES, 1))) {
            List<Process> processes = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                processes.add(start(host, 20L * BLOCK, i, 300));
            }
            for (int i = 0; i < processes.size(); i++) {
                assertEquals("right", result(processes.get(i), i));
            }
            long kept = BlockCache.existing(cache).entries().getFirst().presentBytes();
            assertTrue(kept <= 20L * BLOCK, kept + " bytes");
        }
    }

    @Test
    void processesThatAreKilledLeaveNothingWrongToThemselvesAndToOthers() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (ObjectHost host = ObjectHost.start().put("x", ObjectHost.bytes(BYTES, 1))) {
            Process survivor = start(host, 40L * BLOCK, KILLS + 1, Integer.MAX_VALUE);
            Map<Integer, Process> victims = new LinkedHashMap<>();
            for (int i = 0; i < KILLS || !victims.isEmpty(); i++) {
                if (i < KILLS) {
                    victims.put(i, start(host, 40L * BLOCK, i, Integer.MAX_VALUE));
                }
                // At any instant from the start of the JVM to well into the reads.
                Thread.sleep(random.nextInt(800));
                if (victims.size() == PROCESSES - 1 || i >= KILLS) {
                    int number = List.copyOf(victims.keySet()).get(random.nextInt(victims.size()));
                    Process killed = victims.remove(number);
                    killed.destroyForcibly();
                    String said = result(killed, number);
                    assertTrue(said.isEmpty(), "seed " + seed + ": " + said);
                }
            }
            assertTrue(survivor.isAlive(), () -> "seed " + seed + ": " + said(KILLS + 1));
            survivor.destroyForcibly().waitFor();
            assertEquals("right", result(start(host, 40L * BLOCK, KILLS, 200), KILLS), "seed " + seed);
            assertEquals(List.of(), BlockCache.existing(cache).verify(), "seed " + seed);
        }
    }
}
