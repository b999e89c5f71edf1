// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import com.sun.management.ThreadMXBean;
import io.penstock.collate.CausalLm;
import io.penstock.dataset.TokenWindows;
import io.penstock.io.Advice;
import io.penstock.io.MappedFile;
import io.penstock.sampling.Permutation;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Reading ahead of a file of which nothing is in the page cache: one that is all hole. */
@EnabledOnOs(OS.LINUX)
class ReadAheadTest {

    private static final int PAGE_BYTES = 4096;
    private static final int WINDOW_TOKENS = 8192;
    private static final int WINDOW_PAGES = 2 * WINDOW_TOKENS / PAGE_BYTES;
    private static final int BATCH = 4;
    private static final long SEED = 7;
    private static final long FILE_BYTES = 256 << 20;
    private static final long PATIENCE_NANOS = 60_000_000_000L;
    private static final int MOST_TRIES = 5;

    @TempDir
    Path folder;

    private Path cold(long bytes) throws IOException {
        Path path = folder.resolve("cold-" + bytes + ".bin");
        try (var file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(bytes);
        }
        try (MappedFile mapped = MappedFile.open(path)) {
            mapped.advise(Advice.WILL_NEED, bytes / 2, 1);
            long end = System.nanoTime() + PATIENCE_NANOS / 6;
            while (!mapped.isResident(bytes / 2)) {
                if (System.nanoTime() > end) {
                    abort("the file system of " + folder + " does not read ahead");
                }
                Thread.onSpinWait();
            }
        }
        return path;
    }

    private static DataLoaderBuilder windows(TokenStore store) {
        return DataLoader.builder(TokenWindows.withoutLabels(store, WINDOW_TOKENS, WINDOW_TOKENS)).batchSize(BATCH)
                .shuffle(SEED).workers(1).prefetch(1);
    }

    private static BitSet resident(MappedFile file) {
        var pages = new BitSet();
        for (long at = 0; at < file.byteSize(); at += PAGE_BYTES) {
            pages.set((int) (at / PAGE_BYTES), file.isResident(at));
        }
        return pages;
    }

    /** The pages of the first batches of epoch 0. */
    private static BitSet pagesOf(long batches) {
        var pages = new BitSet();
        var order = new Permutation(FILE_BYTES / (2 * WINDOW_TOKENS), SEED, 0);
        for (long position = 0; position < batches * BATCH; position++) {
            int first = (int) order.at(position) * WINDOW_PAGES;
            pages.set(first, first + WINDOW_PAGES);
        }
        return pages;
    }

    /**
     * Of 3 slots: behind 20 batches that were given, 3 are filled, and the worker has claimed number 23. A system that
     * is short of memory may drop pages that were read: then it is tried again with another file. Nothing else is read
     * in any try.
     */
    private void assertReadAhead(long bytes, int batchesAhead) throws Exception {
        for (int tries = 1; !isReadAhead(bytes, batchesAhead); tries++) {
            assertTrue(tries < MOST_TRIES, "pages of the batches to come are missing in all of " + tries + " tries");
        }
    }

    private boolean isReadAhead(long bytes, int batchesAhead) throws Exception {
        Path path = cold(FILE_BYTES);
        try (TokenStore store = TokenStore.open(path, "nanogpt"); MappedFile file = MappedFile.open(path)) {
            store.fingerprint();
            BitSet expected = resident(file);
            assertTrue(expected.cardinality() < 200, expected.cardinality() + " pages are in the page cache already");
            boolean isRead;
            try (DataLoader loader = windows(store).collator(CausalLm.narrow()).readAhead(bytes)
                    .open()) {
                assertEquals(3, loader.memory().hostSlots());
                for (int i = 0; i < 20; i++) {
                    loader.next().close();
                }
                expected.or(pagesOf(batchesAhead == 0 ? 23 : 24 + batchesAhead));
                BitSet found = resident(file);
                for (long end = System.nanoTime() + PATIENCE_NANOS;
                        !found.equals(expected) && System.nanoTime() < end; found = resident(file)) {
                    Thread.sleep(10);
                }
                isRead = found.equals(expected);
            }
            BitSet more = resident(file);
            more.andNot(expected);
            assertEquals(new BitSet(), more, "more was read than the batches to come");
            return isRead;
        } finally {
            Files.delete(path);
        }
    }

    @Tag("slow")
    @Test
    void whatIsReadIsThePagesOfTheBatchesToComeAndNoOthers() throws Exception {
        long batchBytes = BATCH * 2L * WINDOW_TOKENS;
        assertReadAhead(10 * batchBytes, 10);
        assertReadAhead(3 * batchBytes + 1, 3);
        assertReadAhead(1, 1);
        assertReadAhead(0, 0);
    }

    @Test
    void aNegativeReadAheadIsRefused() throws IOException {
        try (TokenStore store = TokenStore.open(cold(FILE_BYTES), "nanogpt")) {
            assertThrows(IllegalArgumentException.class, () -> windows(store).readAhead(-1));
        }
    }

    @Test
    void batchesAreTheSameAcrossEpochsAndMovesWhileMuchIsAhead() throws IOException {
        long windows = 61;
        Path path = cold(windows * 2 * WINDOW_TOKENS);
        String name = "ahead-moves";
        for (long readAhead : new long[] {0, 1, 1 << 20, 1L << 40}) {
            try (TokenStore store = TokenStore.open(path, "nanogpt");
                    DataLoader loader = windows(store).workers(3).name(name).readAhead(readAhead).endEpoch(6).open()) {
                for (long epoch : new long[] {0, 1, 4, 2}) {
                    loader.seek(epoch);
                    assertEpoch(loader, epoch, windows);
                }
                assertEpoch(loader, 3, windows);
                loader.seek(5);
                loader.next().close();
            }
            assertEquals(List.of(), Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
                    .filter(thread -> thread.startsWith(name)).toList());
            assertEquals(List.of(), Files.readAllLines(Path.of("/proc/self/maps")).stream()
                    .filter(line -> line.contains(path.getFileName().toString())).toList());
        }
    }

    private static void assertEpoch(DataLoader loader, long epoch, long windows) {
        var given = new ArrayList<Long>();
        while (loader.hasNext() && loader.currentEpoch() == epoch) {
            try (Batch batch = loader.next()) {
                for (int row = 0; row < batch.count(); row++) {
                    given.add(batch.sample(row));
                }
            }
        }
        var order = new Permutation(windows, SEED, epoch);
        long[] expected = new long[(int) windows];
        for (int i = 0; i < windows; i++) {
            expected[i] = order.at(i);
        }
        assertArrayEquals(expected, given.stream().mapToLong(Long::longValue).toArray());
    }

    @Test
    void aFileThatShrinksWhileItIsReadAheadIsAnErrorThatNamesIt() throws IOException {
        Path path = cold(FILE_BYTES);
        try (TokenStore store = TokenStore.open(path, "nanogpt");
                DataLoader loader = windows(store).workers(2).open()) {
            loader.next().close();
            try (var file = new RandomAccessFile(path.toFile(), "rw")) {
                file.setLength(PAGE_BYTES);
            }
            BatchException error = assertThrows(BatchException.class, () -> {
                for (int i = 0; i < 1_000; i++) {
                    loader.next().close();
                }
            });
            assertTrue(error.getMessage().contains(path + ": the file shrank"), error.getMessage());
        }
    }

    /** What the code itself allocates would be there in every window; the JIT compiler decides when it is warm. */
    @Tag("slow")
    @Test
    void readingAheadAllocatesNothing() throws IOException {
        Path path = cold(16L << 30);
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        String name = "ahead-steady";
        int measured = 1_500;
        try (TokenStore store = TokenStore.open(path, "nanogpt");
                DataLoader loader = DataLoader.builder(TokenWindows.of(store, 128)).batchSize(BATCH).shuffle(1)
                        .workers(1)
                        .name(name).open()) {
            Thread worker = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().startsWith(name)).findAny().orElseThrow();
            long perBatch = Long.MAX_VALUE;
            for (int window = 0; window < 200 && perBatch >= 64; window++) {
                long before = threads.getThreadAllocatedBytes(worker.threadId());
                for (int i = 0; i < measured; i++) {
                    loader.next().close();
                }
                perBatch = (threads.getThreadAllocatedBytes(worker.threadId()) - before) / measured;
            }
            System.out.println(name + ": " + perBatch + " bytes of heap a batch");
            assertTrue(perBatch < 64, perBatch + " bytes of heap a batch");
        }
    }
}
