// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.cache;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.FetchWaits;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.ReadMode;
import io.penstock.io.Rows;
import io.penstock.io.SpanReader;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BlockCacheTest {

    private static final int BLOCK = 4096;
    private static final int BYTES = 50 * BLOCK + 123;

    @TempDir
    private Path parent;

    private final FetchWaits waits = new FetchWaits();
    private final byte[] bytes = new byte[BYTES];
    private final Map<Long, Integer> reads = new ConcurrentHashMap<>();
    private final RemoteObject object = new RemoteObject("s3://bucket/x", "\"v1\"", BYTES);

    {
        new Random(1).nextBytes(bytes);
    }

    private BlockCache cache(long limitBytes) throws IOException {
        return BlockCache.open(parent.resolve("cache"), limitBytes, BLOCK, 8);
    }

    private void read(long offset, long length, ObjectReader.Sink sink) throws IOException {
        reads.merge(offset, 1, Integer::sum);
        for (long at = offset; at < offset + length; at += 1000) {
            sink.accept(ByteBuffer.wrap(bytes, (int) at, (int) Math.min(1000, offset + length - at)));
        }
    }

    private byte[] stored(CachedObject file, long offset, int length) throws IOException {
        try (RandomAccessFile data = new RandomAccessFile(file.data().toFile(), "r")) {
            byte[] found = new byte[length];
            data.seek(offset);
            data.readFully(found);
            return found;
        }
    }

    /** What one writes into a cache that it has just made, another must not take for files of others. */
    @Test
    void manyMakeOneCacheAtOnce() throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            for (int round = 0; round < 500; round++) {
                Path folder = parent.resolve("made-" + round);
                List<Future<Path>> made = IntStream.range(0, 4).mapToObj(_ -> threads.submit(() ->
                        Files.createDirectories(BlockCache.open(folder, 1 << 20, BLOCK, 8).folder()
                                .resolve("objects")))).toList();
                for (Future<Path> one : made) {
                    one.get();
                }
            }
        }
    }

    @Test
    void blocksAreFetchedOnceAndStay() throws IOException {
        try (CachedObject file = cache(1 << 20).open(object, this::read)) {
            assertFalse(file.isPresent(0, 1));
            file.fetch(BLOCK - 1, 2, waits);
            assertTrue(file.isPresent(0, 2 * BLOCK));
            assertFalse(file.isPresent(0, 2 * BLOCK + 1));
            file.fetch(0, BYTES, waits);
            assertArrayEquals(bytes, stored(file, 0, BYTES));
        }
        try (CachedObject file = cache(1 << 20).open(object, this::read)) {
            file.fetch(0, BYTES, waits);
            assertArrayEquals(bytes, stored(file, 0, BYTES));
        }
        assertEquals(51, reads.size());
        assertTrue(reads.values().stream().allMatch(count -> count == 1), reads.toString());
    }

    @Test
    void threadsAndCachesThatWantTheSameBlocksFetchThemOnce() throws Exception {
        List<CachedObject> files = List.of(cache(1 << 20).open(object, this::read),
                cache(1 << 20).open(object, this::read), cache(1 << 20).open(object, this::read));
        try (ExecutorService threads = Executors.newFixedThreadPool(12)) {
            List<Future<?>> running = IntStream.range(0, 12).<Future<?>>mapToObj(i -> threads.submit(() -> {
                Random random = new Random(i);
                CachedObject file = files.get(i % 3);
                for (int j = 0; j < 200; j++) {
                    int offset = random.nextInt(BYTES - 100);
                    file.fetch(offset, 100, new FetchWaits());
                    assertArrayEquals(Arrays.copyOfRange(bytes, offset, offset + 100), stored(file, offset, 100));
                }
                return null;
            })).toList();
            for (Future<?> one : running) {
                one.get();
            }
        }
        files.forEach(CachedObject::close);
        assertTrue(reads.values().stream().allMatch(count -> count == 1), reads.toString());
    }

    @Test
    void anotherVersionIsAnotherFile() throws IOException {
        try (CachedObject file = cache(1 << 20).open(object, this::read);
                CachedObject other = cache(1 << 20).open(new RemoteObject(object.name(), "\"v2\"", BYTES),
                        this::read)) {
            file.fetch(0, 1, waits);
            other.fetch(0, 1, waits);
            assertEquals(2, reads.get(0L));
            assertEquals("\"v2\"", cache(1 << 20).find(object.name(), "").orElseThrow().version());
        }
    }

    @Test
    void aDamagedBlockIsFetchedAgain() throws IOException {
        Path data;
        try (CachedObject file = cache(1 << 20).open(object, this::read)) {
            file.fetch(0, 3 * BLOCK, waits);
            data = file.data();
        }
        try (RandomAccessFile raw = new RandomAccessFile(data.toFile(), "rw")) {
            raw.seek(BLOCK + 7);
            raw.write(bytes[BLOCK + 7] ^ 1);
        }
        try (CachedObject file = cache(1 << 20).open(object, this::read)) {
            file.fetch(0, 3 * BLOCK, waits);
            assertArrayEquals(Arrays.copyOf(bytes, 3 * BLOCK), stored(file, 0, 3 * BLOCK));
        }
        assertEquals(Map.of(0L, 1, (long) BLOCK, 2, 2L * BLOCK, 1), reads);
    }

    private static BufferPoolMXBean directBuffers() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct")).findFirst().orElseThrow();
    }

    @Test
    void fetchingABlockLeavesNoMemoryBehind() throws IOException {
        try (CachedObject file = cache(1 << 20).open(object, this::read)) {
            file.fetch(0, BLOCK, waits);
            long before = directBuffers().getCount();
            file.fetch(BLOCK, BYTES - BLOCK, waits);
            long after = directBuffers().getCount();
            assertTrue(after - before < 25, before + " buffers, then " + after);
            assertArrayEquals(bytes, stored(file, 0, BYTES));
        }
    }

    /** A request that was given up may still hand on bytes; the buffer is another block's by then. */
    @Test
    void aPartThatComesWhenItsBlockIsOverIsRefused() throws Exception {
        var late = new AtomicReference<ObjectReader.Sink>();
        try (CachedObject file = cache(1 << 20).open(object, (offset, length, sink) -> {
            ObjectReader.Sink first = late.getAndSet(sink);
            if (first != null) {
                assertThrows(IOException.class, () -> first.accept(ByteBuffer.allocate(10)));
            }
            read(offset, length, sink);
        })) {
            for (int block = 0; block < 3; block++) {
                file.fetch((long) block * BLOCK, BLOCK, waits);
            }
            assertArrayEquals(Arrays.copyOf(bytes, 3 * BLOCK), stored(file, 0, 3 * BLOCK));
        }
    }

    @Test
    void theCheckOfABlockLeavesNoMemoryBehind() throws IOException {
        try (CachedObject file = cache(1 << 20).open(object, this::read)) {
            file.fetch(0, BYTES, waits);
        }
        BufferPoolMXBean direct = directBuffers();
        try (CachedObject file = cache(1 << 20).open(object, this::read)) {
            long before = direct.getCount();
            file.fetch(0, BYTES, waits);
            long after = direct.getCount();
            assertTrue(after - before < 51, before + " buffers, then " + after);
        }
        assertEquals(51, reads.size());
    }

    @Test
    void verifyDropsDamagedBlocks() throws IOException {
        Path data;
        try (CachedObject file = cache(1 << 20).open(object, this::read)) {
            file.fetch(0, 3 * BLOCK, waits);
            data = file.data();
        }
        assertEquals(List.of(), cache(1 << 20).verify());
        try (RandomAccessFile raw = new RandomAccessFile(data.toFile(), "rw")) {
            raw.write(bytes[0] ^ 1);
        }
        assertEquals(List.of("s3://bucket/x: at byte 0"), cache(1 << 20).verify());
        assertEquals(2 * BLOCK, cache(1 << 20).entries().getFirst().presentBytes());
    }

    @Test
    void aReadThatFailsLeavesTheBlockAbsent() throws IOException {
        try (CachedObject file = cache(1 << 20).open(object, (offset, length, sink) -> {
            sink.accept(ByteBuffer.wrap(bytes, (int) offset, 100));
            throw new IOException("s3://bucket/x: reset");
        })) {
            assertEquals("s3://bucket/x: reset", assertThrows(UncheckedIOException.class, () ->
                    file.fetch(0, 10, waits)).getCause().getMessage());
            assertFalse(file.isPresent(0, 10));
        }
        try (CachedObject file = cache(1 << 20).open(object, (offset, length, sink) ->
                sink.accept(ByteBuffer.wrap(bytes, (int) offset, 100)))) {
            assertThrows(UncheckedIOException.class, () -> file.fetch(0, 10, waits));
            assertFalse(file.isPresent(0, 10));
        }
    }

    @Test
    void theLimitHoldsAndTheBlocksUsedLeastRecentlyGo() throws IOException {
        BlockCache small = cache(16 * BLOCK);
        try (CachedObject file = small.open(object, this::read)) {
            for (int i = 0; i < 51; i++) {
                file.fetch((long) i * BLOCK, 1, waits);
                assertTrue(file.presentBytes() <= 16 * BLOCK, file.presentBytes() + " bytes");
            }
            assertTrue(file.isPresent(50 * BLOCK, 1));
            assertTrue(file.drops() >= 35, file.drops() + " drops");
            assertArrayEquals(Arrays.copyOfRange(bytes, 50 * BLOCK, BYTES), stored(file, 50 * BLOCK, 123));
        }
    }

    @Test
    void whatIsKeptStaysAndAFullCacheSaysSo() throws IOException {
        BlockCache small = cache(16 * BLOCK);
        try (CachedObject file = small.open(object, this::read)) {
            file.keep(0, 4 * BLOCK);
            for (int i = 4; i < 51; i++) {
                file.fetch((long) i * BLOCK, 1, waits);
                assertTrue(file.isPresent(0, 4 * BLOCK));
            }
            String message = assertThrows(UncheckedIOException.class, () -> {
                for (int i = 4; i < 51; i++) {
                    file.keep((long) i * BLOCK, 1);
                }
            }).getCause().getMessage();
            assertTrue(message.contains("no room for 4.0 KiB") && message.contains("open files keep"), message);
            assertThrows(UncheckedIOException.class, () -> file.fetch(0, BYTES, waits));
        }
        // What was kept is not any more.
        small.trim(0);
        assertEquals(List.of(), small.entries());
    }

    /** Parts that are large and direct are written as they come, others are collected first. */
    @Test
    void aBlockIsWholeWhateverThePartsItComesIn() throws IOException {
        byte[] content = new byte[(1 << 20) + 4711];
        Random random = new Random(7);
        random.nextBytes(content);
        BlockCache large = BlockCache.open(parent.resolve("large"), 4 << 20, 1 << 18, 8);
        for (int round = 0; round < 20; round++) {
            RemoteObject other = new RemoteObject("s3://bucket/y" + round, "\"v1\"", content.length);
            try (CachedObject file = large.open(other, (offset, length, sink) -> {
                for (int at = (int) offset, part; at < offset + length; at += part) {
                    int most = new int[] {100, 5 << 10, 16 << 10, 70 << 10}[random.nextInt(4)];
                    part = (int) Math.min(1 + random.nextInt(most), offset + length - at);
                    ByteBuffer sent = random.nextBoolean() ? ByteBuffer.allocate(part)
                            : ByteBuffer.allocateDirect(part);
                    sink.accept(sent.put(content, at, part).flip());
                }
            })) {
                for (int block = 0; block < 5; block++) {               // one after the other, for the random numbers
                    file.fetch((long) block << 18, 1, waits);
                }
                assertArrayEquals(content, stored(file, 0, content.length));
            }
            large.trim(0);
        }
    }

    /** Or a file that is closed right after a read would have locks for a moment. */
    @Test
    void nothingIsLeftOfAFetchWhoseBlockIsUsable() throws Exception {
        for (int i = 0; i < 500; i++) {
            try (CachedObject file = cache(1 << 20).open(object, this::read)) {
                Thread reader = Thread.ofPlatform().start(() -> file.fetch(0, 1, new FetchWaits()));
                while (!file.isPresent(0, 1)) {
                    Thread.onSpinWait();
                }
                assertEquals(0, file.fetching(), "after " + i + " files");
                reader.join();
            }
            cache(1 << 20).trim(0);
        }
    }

    /** What is still being fetched when a file is closed keeps nothing of what the file kept. */
    @Test
    void aFetchThatEndsLateKeepsNothing() throws Exception {
        CountDownLatch isClosed = new CountDownLatch(1);
        CachedObject file = cache(1 << 20).open(object, (offset, length, sink) -> {
            try {
                if (offset > 0) {
                    isClosed.await();
                }
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            read(offset, length, sink);
        });
        file.keep(0, 1);
        file.prefetch(BLOCK, 1);
        file.close();
        assertEquals(BLOCK, cache(1 << 20).trim(0));
        isClosed.countDown();
    }

    @Test
    void aRangeThatIsFetchedAheadIsFetchedToItsEndFewBlocksAtATime() throws Exception {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        try (CachedObject file = cache(1 << 20).open(object, (offset, length, sink) -> {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            read(offset, length, sink);
            running.decrementAndGet();
        })) {
            file.prefetch(0, BYTES);
            while (!file.isPresent(0, BYTES)) {
                Thread.sleep(1);
            }
            assertTrue(most.get() <= 8, most + " at a time");
        }
        assertEquals(51, reads.size());
    }

    @Test
    void afterAFailureNothingMoreIsFetchedAhead() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        try (CachedObject file = cache(1 << 20).open(object, (_, _, _) -> {
            asked.incrementAndGet();
            throw new IOException("s3://bucket/x: reset");
        })) {
            file.prefetch(0, BYTES);
            assertThrows(UncheckedIOException.class, () -> file.fetch(40 * BLOCK, 1, waits));
        }
        // 8 ahead, and the block that is needed, which is asked for again if it failed before it was waited for.
        assertTrue(asked.get() <= 10, asked + " blocks");
    }

    @Test
    void noProcessDropsWhatAnotherKeeps() throws IOException {
        try (CachedObject file = cache(1 << 20).open(object, this::read)) {
            file.keep(0, 1);
            file.fetch(0, 10 * BLOCK, waits);
            assertEquals(9 * BLOCK, cache(1 << 20).trim(0));
            assertTrue(file.isPresent(0, 1));
            assertArrayEquals(Arrays.copyOf(bytes, BLOCK), stored(file, 0, BLOCK));
        }
    }

    /** Also while a block that was dropped before it was kept is fetched again. */
    @Test
    void whatAThreadHasKeptIsThere() throws Exception {
        BlockCache cache = cache(1 << 20);
        AtomicInteger fetches = new AtomicInteger();
        AtomicReference<CachedObject> opened = new AtomicReference<>();
        FutureTask<byte[]> second = new FutureTask<>(() -> {
            opened.get().keep(0, 1);
            return stored(opened.get(), 0, BLOCK);
        });
        try (CachedObject file = cache.open(object, (offset, length, sink) -> {
            if (offset == BLOCK) {
                while (!opened.get().isPresent(0, 1)) {
                    Thread.yield();
                }
                assertEquals(BLOCK, cache.trim(0));
            } else if (fetches.incrementAndGet() == 2) {
                Thread other = Thread.ofPlatform().start(second);
                while (other.isAlive() && other.getState() != Thread.State.WAITING) {
                    Thread.yield();
                }
            }
            read(offset, length, sink);
        })) {
            opened.set(file);
            file.keep(0, 2 * BLOCK);
            assertArrayEquals(Arrays.copyOf(bytes, BLOCK), second.get());
        }
        assertEquals(2, fetches.get());
    }

    /** Whoever sees the same count of drops before and after has read the block's bytes. */
    @Test
    void aReadBetweenEqualCountsOfDropsIsRight() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        try (CachedObject file = cache(1 << 20).open(object, this::read);
                ExecutorService threads = Executors.newSingleThreadExecutor()) {
            Future<?> dropping = threads.submit(() -> {
                while (!stop.get()) {
                    cache(1 << 20).trim(0);
                }
                return null;
            });
            int good = 0;
            Random random = new Random(3);
            for (int i = 0; i < 3000; i++) {
                int offset = random.nextInt(BYTES - 2000);
                long before = file.drops();
                file.fetch(offset, 2000, waits);
                byte[] found = stored(file, offset, 2000);
                if (file.drops() == before) {
                    assertArrayEquals(Arrays.copyOfRange(bytes, offset, offset + 2000), found);
                    good++;
                }
            }
            stop.set(true);
            dropping.get();
            assertTrue(good > 0);
        }
    }

    @Test
    void aFileIsWholeFromWhenAllOfItWasFoundUntilABlockIsDropped() throws IOException {
        try (CachedObject file = cache(1 << 20).open(object, this::read)) {
            file.fetch(0, BYTES - 123, waits);
            assertFalse(file.isPresent(0, BYTES));
            assertFalse(file.isWhole(file.drops()));
            for (int i = 0; i < 2; i++) {
                file.fetch(0, BYTES, waits);
                assertTrue(file.isPresent(0, BYTES));
                assertTrue(file.isWhole(file.drops()));
                assertTrue(cache(1 << 20).trim(file.presentBytes() - BLOCK) > 0);
                assertFalse(file.isWhole(file.drops()));
            }
        }
    }

    /** Of a whole file a reader asks for one row of a batch; it notices all the same that others were dropped. */
    @Test
    void rowsAreRightWhileTheirBlocksAreDropped() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        int row = 100;
        try (CachedObject file = cache(1 << 20).open(object, this::read);
                MappedFile mapped = MappedFile.openSparse(Location.of(parent.resolve("x")), "v1", file.data(), file,
                        null);
                SpanReader reader = new SpanReader(ReadMode.MMAP); Arena arena = Arena.ofConfined();
                ExecutorService threads = Executors.newSingleThreadExecutor()) {
            Rows rows = new Rows(mapped, mapped.mapping(), 0, row, row, BYTES / row);
            MemorySegment target = arena.allocate(32 * row);
            Random random = new Random(4);
            AtomicInteger readings = new AtomicInteger();
            Future<?> dropping = threads.submit(() -> {
                for (int seen = 0; !stop.get(); seen = readings.get()) {
                    cache(1 << 20).trim(BYTES / 2);
                    while (!stop.get() && readings.get() == seen) {
                        Thread.onSpinWait();
                    }
                }
                return null;
            });
            try {
                int whole = 0;
                for (int i = 0; i < 200; i++) {
                    file.fetch(0, BYTES, waits);
                    whole += file.isPresent(0, BYTES) && file.isWhole(file.drops()) ? 1 : 0;
                    readings.incrementAndGet();
                    long[] chosen = random.longs(32, 0, BYTES / row).toArray();
                    reader.copyRows(rows, chosen, 32, target, 0);
                    for (int j = 0; j < 32; j++) {
                        int at = (int) chosen[j] * row;
                        assertArrayEquals(Arrays.copyOfRange(bytes, at, at + row),
                                target.asSlice((long) j * row, row).toArray(ValueLayout.JAVA_BYTE));
                    }
                }
                assertTrue(whole > 0);
            } finally {
                stop.set(true);
                dropping.get();
            }
            assertTrue(reader.waits().reads() >= 200 * 32, reader.waits().reads() + " reads");
        }
    }

    @Test
    void aFolderWithOtherFilesIsRefusedAndNotChanged() throws IOException {
        Path other = Files.createDirectories(parent.resolve("other"));
        Files.writeString(other.resolve("precious"), "data");
        assertThrows(MalformedStoreException.class, () -> BlockCache.open(other, 1 << 20, BLOCK, 8));
        assertThrows(IOException.class, () -> BlockCache.existing(other));
        try (Stream<Path> files = Files.list(other)) {
            assertEquals(List.of("precious"), files.map(file -> file.getFileName().toString()).toList());
        }
    }

    @Test
    void sizesThatCannotWorkAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> cache(15 * BLOCK));
        for (int block : new int[] {0, 100, 5000, 1 << 31}) {
            assertThrows(IllegalArgumentException.class, () -> BlockCache.open(parent, Long.MAX_VALUE, block, 8));
        }
    }

    @Test
    @SuppressWarnings("try") // one is closed within
    void trimRemovesObjectsThatNobodyUses() throws IOException {
        BlockCache cache = cache(1 << 20);
        RemoteObject unused = new RemoteObject("s3://bucket/y", "\"v1\"", 10);
        try (CachedObject file = cache.open(object, this::read); CachedObject gone = cache.open(unused, this::read)) {
            file.fetch(0, 1, waits);
            gone.close();
            cache.trim(0);
            assertEquals(List.of(object.name()), cache.names(""));
            file.fetch(0, BYTES, waits);
            assertArrayEquals(bytes, stored(file, 0, BYTES));
        }
        cache.trim(1 << 20);
        assertEquals(List.of(object.name()), cache.names(""));
    }

    @Test
    void anObjectThatCannotBeOpenedIsNotHeldAsInUse() throws IOException {
        BlockCache cache = cache(1 << 20);
        Path version;
        try (CachedObject file = cache.open(object, this::read)) {
            version = file.data().getParent();
        }
        Files.delete(version.resolve("object.json"));
        assertThrows(IOException.class, () -> cache.open(object, this::read));
        cache.trim(0);
        assertFalse(Files.exists(version), "no process uses it");
        cache.open(object, this::read).close();
    }

    /** Another process trims the cache between the list of versions and the look at one. */
    @Test
    void aVersionThatIsRemovedMeanwhileIsNotFound() throws IOException {
        BlockCache cache = cache(1 << 20);
        cache.open(object, this::read).close();
        Path versions = parent.resolve("cache/objects").resolve(RemoteObject.nameKey(object.name(), ""));
        Files.createDirectory(versions.resolve("f".repeat(32)));
        assertEquals(Optional.of(object), cache.find(object.name(), ""));
    }

    @Test
    void whatADeadProcessLeftIsNoObject() throws IOException {
        try (CachedObject file = cache(1 << 20).open(object, this::read)) {
            file.fetch(0, 1, waits);
            Path versions = file.data().getParent().getParent();
            Files.createDirectories(versions.resolve(".abc.tmp"));
            Files.writeString(versions.resolve(".abc.tmp").resolve("data"), "half");
        }
        assertEquals(1, cache(1 << 20).entries().size());
    }

    @Test
    void anEmptyObjectIsThere() throws IOException {
        try (CachedObject file = cache(1 << 20).open(new RemoteObject("s3://bucket/e", "\"e\"", 0), this::read)) {
            assertTrue(file.isPresent(0, 0));
            file.fetch(0, 0, waits);
            assertEquals(0, Files.size(file.data()));
        }
    }

    @Test
    void aTableThatIsNoneIsRefused() throws IOException {
        Path data;
        try (CachedObject file = cache(1 << 20).open(object, this::read)) {
            data = file.data();
        }
        Files.writeString(data.resolveSibling(BlockTable.NAME), "x".repeat(100));
        String message = assertThrows(MalformedStoreException.class,
                () -> cache(1 << 20).open(object, this::read)).getMessage();
        assertTrue(message.contains("no table of blocks"), message);
    }
}
