package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import io.penstock.collate.CausalLm;
import io.penstock.collate.TokenWidth;
import io.penstock.dataset.TokenWindows;
import io.penstock.memory.ReadMode;
import io.penstock.store.StoreFormat;
import io.penstock.store.TokenStore;
import io.penstock.testing.Corpora;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a loader costs once it runs, and what it leaves behind: nothing. */
class SteadyStateTest {

    /**
     * The JIT compiler decides when the loader is warm, and may think again: one of this many windows of 10,000 batches
     * must be steady. What the code itself allocates would be there in all of them.
     */
    private static final int WINDOWS = 200;
    private static final int MEASURED = 10_000;
    private static final long MOST_BYTES_PER_BATCH = 255;
    /** A new order and new keys, on each thread; a window has ten epochs. An object a batch would be 160,000 bytes. */
    private static final long MOST_BYTES_PER_EPOCH = 2048;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"0, IN_PLACE, MMAP, CONFINED", "2, IN_PLACE, MMAP, CONFINED", "2, IN_PLACE, PREAD, CONFINED",
        "2, IN_PLACE, AUTO, CONFINED", "2, COPY, MMAP, CONFINED", "1, COPY, PREAD, CONFINED",
        "0, IN_PLACE, MMAP, REUSED", "1, IN_PLACE, MMAP, REUSED", "2, IN_PLACE, PREAD, REUSED",
        "2, COPY, MMAP, REUSED"})
    void aBatchAllocatesNextToNothingAndMemoryStaysFlat(int workers, TransferMode transfer, ReadMode read,
            LeaseMode leases) throws IOException {
        long most = leases == LeaseMode.REUSED ? 0 : MOST_BYTES_PER_BATCH;
        Path file = Corpora.rawU16(folder, 1_000_000, 3);
        String name = "steady-" + workers + "-" + transfer + "-" + read + "-" + leases;
        try (TokenStore store = TokenStore.open(file, StoreFormat.NANOGPT);
                DataLoader loader = DataLoader.of(TokenWindows.of(store, 128)).batchSize(8).shuffle(1).name(name)
                        .collator(CausalLm.widened(TokenWidth.I64)).workers(workers).transfer(transfer)
                        .readMode(read).leases(leases).open()) {
            long[] threads = threadIds(name);
            long perBatch = Long.MAX_VALUE;
            long grown = 0;
            for (int window = 0; window < WINDOWS && perBatch > most; window++) {
                long resident = residentBytes();
                long epoch = loader.currentEpoch();
                long heap = allocated(threads);
                step(loader, MEASURED);
                long ofEpochs = (loader.currentEpoch() - epoch + 1) * MOST_BYTES_PER_EPOCH;
                perBatch = Math.ceilDiv(Math.max(0, allocated(threads) - heap - ofEpochs), MEASURED);
                grown = residentBytes() - resident;
            }
            System.out.println(name + ": " + perBatch + " bytes of heap a batch, " + grown / 1024
                    + " KiB more resident");
            assertTrue(perBatch <= most, perBatch + " bytes of heap a batch");
            assertTrue(grown < 32 << 20, grown + " bytes more resident after " + MEASURED + " batches");
        }
        assertLeftNothing(name, file);
    }

    private static void step(DataLoader loader, int batches) {
        long sum = 0;
        for (int i = 0; i < batches; i++) {
            try (Batch batch = loader.next()) {
                sum += batch.tensor("input_ids").getLong(i % 128) + batch.segment().byteSize();
            }
        }
        assertTrue(sum != 0);
    }

    /** The loader's threads and this one. */
    private static long[] threadIds(String name) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(name) || thread == Thread.currentThread())
                .mapToLong(Thread::threadId).toArray();
    }

    /** Heap bytes that threads have allocated so far; allocates nothing itself. */
    private static long allocated(long[] threads) {
        long bytes = 0;
        for (long thread : threads) {
            bytes += THREADS.getThreadAllocatedBytes(thread);
        }
        return bytes;
    }

    private static long residentBytes() throws IOException {
        Path status = Path.of("/proc/self/status");
        if (!Files.exists(status)) {
            return 0;
        }
        return Files.readAllLines(status).stream().filter(line -> line.startsWith("RssAnon:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024).sum();
    }

    private static void assertLeftNothing(String name, Path file) throws IOException {
        assertEquals(List.of(), Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
                .filter(thread -> thread.startsWith(name)).toList());
        Path maps = Path.of("/proc/self/maps");
        if (Files.exists(maps)) {
            assertEquals(List.of(), Files.readAllLines(maps).stream()
                    .filter(line -> line.contains(file.getFileName().toString())).toList());
            try (var open = Files.list(Path.of("/proc/self/fd"))) {
                assertEquals(List.of(), open.filter(fd -> {
                    try {
                        return Files.readSymbolicLink(fd).equals(file.toRealPath());
                    } catch (IOException _) {
                        return false;
                    }
                }).toList());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"IN_PLACE, false", "COPY, false", "IN_PLACE, true", "COPY, true"})
    void anAbandonedIterationLeavesNoThreadAndNoMapping(TransferMode transfer, boolean byException) throws IOException {
        Path file = Corpora.rawU16(folder, 100_000, 4);
        String name = "abandoned-" + transfer + "-" + byException;
        for (int round = 0; round < 20; round++) {
            try (TokenStore store = TokenStore.open(file, StoreFormat.NANOGPT);
                    DataLoader loader = DataLoader.of(TokenWindows.of(store, 32)).batchSize(4).workers(3).name(name)
                            .transfer(transfer).open()) {
                for (Batch batch : loader.epoch()) {
                    try (batch) {
                        if (byException && batch.number() == round) {
                            throw new IllegalStateException("the trainer failed");
                        }
                    }
                    if (batch.toString().equals("batch (closed)") && round % 3 == 0) {
                        break;
                    }
                }
            } catch (IllegalStateException e) {
                assertEquals("the trainer failed", e.getMessage());
            }
            assertLeftNothing(name, file);
        }
    }

    @Test
    void aFileThatShrinksUnderTheMappingIsAnErrorThatNamesItAndNotACrash() throws IOException {
        assumeTrue(System.getProperty("os.name").equals("Linux"));
        for (ReadMode read : ReadMode.values()) {
            for (boolean widened : new boolean[] {false, true}) {
                Path file = Corpora.rawU16(folder, 500_000, read.ordinal() + (widened ? 10 : 5));
                try (TokenStore store = TokenStore.open(file, StoreFormat.NANOGPT);
                        DataLoader loader = DataLoader.of(TokenWindows.of(store, 256)).batchSize(16).shuffle(1)
                                .collator(widened ? CausalLm.widened(TokenWidth.I32) : CausalLm.narrow())
                                .readMode(read).workers(2).open()) {
                    takeAndClose(loader, 50);
                    try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                        channel.truncate(8192);
                    }
                    BatchException error = null;
                    for (int i = 0; i < 1_000 && error == null; i++) {
                        try {
                            takeAndClose(loader, 1);
                        } catch (BatchException e) {
                            error = e;
                        }
                    }
                    assertTrue(error != null, read + ": no error");
                    assertTrue(error.getMessage().contains(file.toString())
                            && error.getMessage().contains("shrank"), error.getMessage());
                }
            }
        }
    }

    private static void takeAndClose(DataLoader loader, int batches) {
        for (int i = 0; i < batches; i++) {
            loader.next().close();
        }
    }
}
