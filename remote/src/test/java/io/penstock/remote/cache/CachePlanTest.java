// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.FetchWaits;
import io.penstock.os.SharedFile;
import io.penstock.sampling.Order;
import io.penstock.sampling.Sampler;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CachePlanTest {

    private static final int BLOCK = 4096;
    private static final int BLOCKS = 400;
    private static final int SAMPLES = 40;
    private static final int BATCH = 50;
    private static final int EPOCHS = 3;
    private static final long BYTES = (long) BLOCK * BLOCKS;

    @TempDir
    private Path folder;

    private final FetchWaits waits = new FetchWaits();
    private final AtomicInteger fetched = new AtomicInteger();
    private final RemoteObject object = new RemoteObject("s3://bucket/x", "\"v1\"", BYTES);

    private BlockCache cache(int blocks) throws IOException {
        return BlockCache.open(folder, (long) blocks * BLOCK, BLOCK, 8);
    }

    private CachedObject open(BlockCache cache) throws IOException {
        return cache.open(object, (_, bytes, sink) -> {
            fetched.incrementAndGet();
            sink.accept(ByteBuffer.allocate((int) bytes));
        });
    }

    private static Sampler blockShuffled(int windowBlocks) {
        long[] starts = LongStream.rangeClosed(0, BLOCKS).map(block -> block * SAMPLES).toArray();
        return Sampler.blockShuffled(starts, (long) windowBlocks * SAMPLES, 7);
    }

    /** The blocks that each batch reads, in order. */
    private static int[][] batches(Sampler sampler) {
        int inEpoch = BLOCKS * SAMPLES / BATCH;
        return IntStream.range(0, EPOCHS * inEpoch).mapToObj(n -> {
            Order order = sampler.epoch(n / inEpoch);
            Set<Integer> blocks = new LinkedHashSet<>();
            for (int i = 0; i < BATCH; i++) {
                blocks.add((int) (order.at((long) n % inEpoch * BATCH + i) / SAMPLES));
            }
            return blocks.stream().mapToInt(block -> block).toArray();
        }).toArray(int[][]::new);
    }

    /** Reads the batches through the cache by a plan that knows two epochs; returns the blocks fetched. */
    private int fetchedByPlan(int[][] batches, int cacheBlocks) throws IOException {
        int inEpoch = batches.length / EPOCHS;
        BlockCache cache = cache(cacheBlocks);
        fetched.set(0);
        try (CachedObject file = open(cache); CachePlan plan = cache.plan().orElseThrow()) {
            int far = 0;
            for (int n = 0; n < batches.length; n++) {
                for (; far < Math.min(batches.length, (n / inEpoch + 2) * inEpoch); far++) {
                    if (far % inEpoch == 0) {
                        plan.epoch(far);
                    }
                    for (int block : batches[far]) {
                        plan.add(file, (long) block * BLOCK, BLOCK, far);
                    }
                }
                plan.reached(n);
                for (int ahead = n; ahead < Math.min(n + 2, batches.length); ahead++) {
                    for (int block : batches[ahead]) {
                        plan.fetchAhead(file, (long) block * BLOCK, BLOCK, ahead);
                    }
                }
                for (int block : batches[n]) {
                    file.fetch((long) block * BLOCK, BLOCK, waits);
                    assertTrue(file.presentBytes() <= cache.limitBytes());
                }
            }
        }
        cache.trim(0);
        return fetched.get();
    }

    private static int fetchedByLru(int[] reads, int cacheBlocks) {
        Set<Integer> cached = new LinkedHashSet<>();
        int count = 0;
        for (int block : reads) {
            if (!cached.remove(block)) {
                count++;
                if (cached.size() == cacheBlocks) {
                    cached.remove(cached.iterator().next());
                }
            }
            cached.add(block);
        }
        return count;
    }

    /** Belady's optimum. */
    private static int fetchedAtLeast(int[] reads, int cacheBlocks) {
        long[] next = new long[reads.length];
        long[] later = new long[BLOCKS];
        Arrays.fill(later, Integer.MAX_VALUE);
        for (int i = reads.length - 1; i >= 0; i--) {
            next[i] = later[reads[i]];
            later[reads[i]] = i;
        }
        TreeSet<Long> cached = new TreeSet<>();     // next read * BLOCKS + block
        int count = 0;
        for (int i = 0; i < reads.length; i++) {
            if (!cached.remove((long) i * BLOCKS + reads[i])) {
                count++;
                if (cached.size() == cacheBlocks) {
                    cached.pollLast();
                }
            }
            cached.add(next[i] * BLOCKS + reads[i]);
        }
        return count;
    }

    @ParameterizedTest
    @CsvSource({"8, 0.1", "8, 0.25", "8, 0.5", "8, 0.8", "40, 0.25", "40, 0.5", "1, 0.25"})
    void nextUseFetchesLittleMoreThanTheOptimumAndNeverMoreThanLru(int windowBlocks, double share) throws IOException {
        int[][] batches = batches(blockShuffled(windowBlocks));
        int[] reads = Arrays.stream(batches).flatMapToInt(Arrays::stream).toArray();
        int cacheBlocks = (int) (share * BLOCKS);
        int found = fetchedByPlan(batches, cacheBlocks);
        int least = fetchedAtLeast(reads, cacheBlocks);
        int lru = fetchedByLru(reads, cacheBlocks);
        String all = "fetched " + found + ", at least " + least + ", by LRU " + lru;
        assertTrue(found <= 1.02 * least, all);
        assertTrue(found <= lru, all);
    }

    /** Fills a cache of 16 blocks. */
    private void fill() throws IOException {
        BlockCache cache = cache(16);
        try (CachedObject file = open(cache); CachePlan _ = cache.plan().orElseThrow()) {
            file.fetch(0, 14 * BLOCK, waits);
            file.fetch(14 * BLOCK, 2 * BLOCK, waits);
        }
    }

    @Test
    void whatAnotherProcessReadsNextStays() throws IOException {
        fill();
        BlockCache cache = cache(16);
        BlockCache other = cache(16);
        try (CachedObject file = open(cache); CachedObject same = open(other);
                CachePlan plan = cache.plan().orElseThrow(); CachePlan others = other.plan().orElseThrow()) {
            for (int block = 0; block < 16; block++) {
                plan.add(file, (long) block * BLOCK, 1, block == 3 ? 1000 : block);
            }
            others.add(same, 3 * BLOCK, 1, 5);
            file.fetch(20 * BLOCK, 1, waits);
            fetched.set(0);
            file.fetch(0, 14 * BLOCK, waits);
            assertEquals(0, fetched.get(), "the block that the other plan reads, and those before the last");
            file.fetch(15 * BLOCK, 1, waits);
            assertEquals(1, fetched.get(), "the block that is read last");
        }
    }

    @Test
    void whatADeadProcessPlannedDoesNotCount() throws IOException {
        BlockCache cache = cache(16);
        try (CachedObject file = open(cache)) {
            Path plans = Files.createDirectories(cache.plans());
            try (PlanTable table = PlanTable.create(plans)) {
                table.add(table.place(file.key(), file.blocks()), 7, 0, 0, 1);
                try (Stream<Path> files = Files.list(plans)) {
                    Files.copy(files.findFirst().orElseThrow(), plans.resolve("dead"));
                }
                List<PlanTable> live = PlanTable.live(plans);
                assertEquals(1, live.size());
                try (PlanTable only = live.getFirst()) {
                    assertEquals(1, only.stepsUntil(file.key(), 7));
                    assertEquals(PlanTable.NEVER, only.stepsUntil(file.key(), 8));
                }
            }
            try (Stream<Path> left = Files.list(plans)) {
                assertEquals(0, left.count());
            }
        }
    }

    @Test
    void aBlockIsReadFromItsFirstToItsLastStepInEachOfTwoEpochs() throws IOException {
        try (PlanTable table = PlanTable.create(folder.resolve("plans"))) {
            PlanTable.Key key = new PlanTable.Key(1, 2);
            long place = table.place(key, 10);
            for (int step : new int[] {10, 12, 15, 19, 20}) {
                table.add(place, 4, 1, 0, step);
            }
            table.add(place, 4, 0, 100, 130);
            assertEquals(10, table.stepsUntil(key, 4));
            table.reached(14);
            assertEquals(0, table.stepsUntil(key, 4));
            table.reached(16);
            assertEquals(3, table.stepsUntil(key, 4), "after the longest time between two reads");
            table.reached(21);
            assertEquals(109, table.stepsUntil(key, 4));
            table.add(place, 4, 1, 200, 205);
            table.reached(131);
            assertEquals(74, table.stepsUntil(key, 4));
            table.reached(206);
            assertEquals(PlanTable.NEVER, table.stepsUntil(key, 4));
            for (int i = 0; i < 100; i++) {     // the file grows
                table.add(table.place(new PlanTable.Key(i, 3), 100), 99, 0, 0, 300 + i);
            }
            assertEquals(94, table.stepsUntil(new PlanTable.Key(0, 3), 99));
            table.clear();
            assertEquals(PlanTable.NEVER, table.stepsUntil(new PlanTable.Key(0, 3), 99));
        }
    }

    @Test
    void whatIsFetchedAheadDropsNothingThatIsReadBefore() throws IOException {
        fill();
        BlockCache cache = cache(16);
        try (CachedObject file = open(cache); CachePlan plan = cache.plan().orElseThrow()) {
            for (int block = 0; block < 16; block++) {
                plan.add(file, (long) block * BLOCK, 1, block);
            }
            plan.add(file, 20 * BLOCK, 1, 16);
            assertFalse(plan.fetchAhead(file, 20 * BLOCK, 1, 16));
            plan.reached(1);
            while (!plan.fetchAhead(file, 20 * BLOCK, 1, 16)) {
                Thread.onSpinWait();                 // not all blocks are looked at again at once
            }
            file.fetch(20 * BLOCK, 1, waits);
            fetched.set(0);
            file.fetch(BLOCK, 13 * BLOCK, waits);
            file.fetch(14 * BLOCK, 2 * BLOCK, waits);
            assertEquals(0, fetched.get());
        }
    }

    private String refusal(Sampler sampler, int cacheBlocks) throws IOException {
        BlockCache cache = cache(cacheBlocks);
        try (CachedObject file = open(cache); CachePlan plan = cache.plan().orElseThrow()) {
            Order order = sampler.epoch(0);
            for (long i = 0; i < order.size(); i++) {
                plan.add(file, order.at(i) / SAMPLES * BLOCK, BLOCK, i);
            }
            assertEquals(cacheBlocks >= BLOCKS, plan.fits());
            try {
                plan.check(1);
                return "";
            } catch (IllegalArgumentException e) {
                return e.getMessage();
            }
        }
    }

    @Test
    void aCacheSmallerThanTheOrdersWindowIsRefusedWithTheSizeThatIsNeeded() throws IOException {
        assertEquals("", refusal(blockShuffled(40), 120));
        String message = refusal(blockShuffled(40), 20);
        assertTrue(message.contains("it may hold 80.0 KiB"), message);
        assertTrue(message.contains("reads 160.0 KiB of 1.6 MiB by turns"), message);
        assertTrue(message.matches(".*an epoch would fetch about 3[0-9.]+ MiB; let it hold 180\\.0 KiB, .*"), message);
    }

    @Test
    void aFullShuffleThatDoesNotFitIsRefused() throws IOException {
        long samples = (long) BLOCKS * SAMPLES;
        String message = refusal(Sampler.shuffled(samples, 1), BLOCKS / 2);
        assertTrue(message.contains("an epoch would fetch about 3"), message);
        assertEquals("", refusal(Sampler.shuffled(samples, 1), BLOCKS * 9 / 8 + 1));
        assertEquals("", refusal(Sampler.sequential(samples), 16));
    }

    @Test
    void filesThatFitDoNotMakeRoomForWhatIsReadLater() throws IOException {
        fill();
        BlockCache cache = cache(16);
        try (CachedObject file = open(cache); CachePlan plan = cache.plan().orElseThrow();
                CachePlan other = cache.plan().orElseThrow()) {
            for (int block = 0; block < 15; block++) {
                plan.add(file, (long) block * BLOCK, 1, block);
            }
            other.add(file, 15 * BLOCK, 1, 0);
            other.clear();
            other.addAll();
            fetched.set(0);
            file.fetch(20 * BLOCK, 1, waits);
            file.fetch(15 * BLOCK, 1, waits);
            assertTrue(fetched.get() <= 2, "all blocks of the file count as read now; the oldest went");
            plan.reached(Integer.MAX_VALUE - 10L);
            assertFalse(plan.fetchAhead(file, 30 * BLOCK, 1, Integer.MAX_VALUE));
        }
    }

    @Test
    void readsOfFilesOfAnotherCacheAreIgnored() throws IOException {
        BlockCache cache = cache(16);
        try (CachedObject other = BlockCache.open(folder.resolve("other"), 16 * BLOCK, BLOCK, 8).open(object,
                (_, _, _) -> { }); CachePlan plan = cache.plan().orElseThrow()) {
            plan.add(other, 0, 1, 0);
            assertTrue(plan.fetchAhead(other, 0, 1, 0));
            assertEquals(0, plan.blocks());
        }
    }

    @Test
    void ofAPlanThatGrowsWhileItIsReadTheObjectsCountThatWereThere() throws IOException {
        int end = 64 + 24 + 2 * 32;
        for (int more : new int[] {0, 8, 24, 40}) {
            Path file = Files.createDirectories(folder.resolve("plans" + more)).resolve("plan");
            ByteBuffer plan = ByteBuffer.allocate(end + more).order(ByteOrder.nativeOrder());
            plan.putLong(8, 1 << 16).putLong(64, 1).putLong(72, 2).putLong(80, 2).putLong(88, 5L << 32 | 5);
            if (more >= 24) {
                plan.putLong(end, 3).putLong(end + 8, 4).putLong(end + 16, 100);
            }
            Files.write(file, plan.array());
            try (SharedFile writer = SharedFile.open(file)) {
                assertTrue(writer.tryExclusive(0));
                List<PlanTable> live = PlanTable.live(file.getParent());
                assertEquals(4, live.getFirst().stepsUntil(new PlanTable.Key(1, 2), 0));
                assertEquals(PlanTable.NEVER, live.getFirst().stepsUntil(new PlanTable.Key(3, 4), 99));
                PlanTable.closeAll(live);
            }
        }
    }

    /** A mapping without its blocks would be a fault in the middle of a run. */
    @Test
    void aPlanOnAFullDiskFailsWithItsNameAndLeavesNothing() throws Exception {
        Process probe = new ProcessBuilder("unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=1m tmpfs '" + folder
                + "'").redirectErrorStream(true).start();
        Assumptions.assumeTrue(probe.waitFor() == 0, "no file system may be mounted here");
        Process process = new ProcessBuilder("unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=1m tmpfs '" + folder
                + "' && exec '" + Path.of(System.getProperty("java.home"), "bin", "java") + "' -cp '"
                + System.getProperty("java.class.path") + "' '" + FullDisk.class.getName() + "' '" + folder + "'")
                        .redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        assertTrue(output.contains("bytes: No space left on device") && output.contains(folder + "/"), output);
        assertTrue(output.endsWith("left []\n"), output);
    }

    /** Makes plans until the disk is full. */
    static final class FullDisk {

        public static void main(String[] args) throws IOException {
            Path folder = Path.of(args[0]);
            try (PlanTable table = PlanTable.create(folder)) {
                for (int i = 0; i < 1 << 16; i++) {
                    long place = table.place(new PlanTable.Key(i, 1), 64);
                    table.add(place, 63, 0, 0, 1);
                }
                System.out.println("not full");
            } catch (IOException e) {
                System.out.println(e.getMessage());
            }
            Files.write(folder.resolve("rest"), new byte[990_000]);
            try (PlanTable _ = PlanTable.create(folder)) {
                System.out.println("not full");
            } catch (IOException e) {
                System.out.println(e.getMessage());
            }
            Files.delete(folder.resolve("rest"));
            try (Stream<Path> left = Files.list(folder)) {
                System.out.println("left " + left.toList());
            }
        }
    }
}
