// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.TensorRows;
import io.penstock.io.Location;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.remote.ObjectHost;
import io.penstock.remote.RemoteFiles;
import io.penstock.remote.RemoteSettings;
import io.penstock.sampling.Sampler;
import io.penstock.state.LoaderState;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.TensorStore;
import io.penstock.telemetry.LoaderReport.Downloads;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Loaders over remote files and caches of several sizes. */
class PlannedReadTest {

    private static final int BLOCK = 1 << 13;
    private static final int ROW = 1024;
    private static final int ROWS = 1024;
    private static final int ROWS_IN_BLOCK = BLOCK / ROW;
    private static final int BATCH = 32;

    @TempDir
    private Path cache;

    private ObjectHost host;

    @BeforeEach
    void start() throws IOException {
        host = ObjectHost.start().put("x.npy", npy(BLOCK)).put("y.npy", npy(128));
    }

    @AfterEach
    void stop() {
        host.close();
    }

    /** Rows of bytes that begin and end with the row's number, after a header. */
    private static byte[] npy(int headerBytes) {
        String header = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + ROWS + ", " + ROW + "), }";
        ByteBuffer file = ByteBuffer.allocate(headerBytes + ROWS * ROW).order(ByteOrder.LITTLE_ENDIAN);
        file.put(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0}).putShort((short) (headerBytes - 10));
        file.put((header + " ".repeat(headerBytes - 11 - header.length()) + "\n").getBytes(StandardCharsets.US_ASCII));
        for (int row = 0; row < ROWS; row++) {
            file.putInt(headerBytes + row * ROW, row);
            file.putInt(headerBytes + row * ROW + ROW - 4, row);
        }
        return file.array();
    }

    private Location locate(int blocks) {
        return locate(blocks, "x.npy");
    }

    private Location locate(int blocks, String name) {
        RemoteSettings settings = host.settings(cache).withCache(cache, (long) blocks * BLOCK).withBlockBytes(BLOCK);
        return RemoteFiles.of(settings).locate(host.url(name));
    }

    private static DataLoaderBuilder builder(Dataset dataset, Sampler order, int workers) {
        return DataLoader.builder(dataset).sampler(order).batchSize(BATCH).workers(workers);
    }

    /** Reads epochs and checks that each row is where the order says. */
    private static void read(DataLoader loader, Sampler order, int epochs) {
        for (int epoch = 0; epoch < epochs; epoch++) {
            long position = 0;
            for (Batch batch : loader.epoch(epoch)) {
                try (batch) {
                    ByteBuffer rows = batch.tensors().values().iterator().next().segment().asByteBuffer()
                            .order(ByteOrder.LITTLE_ENDIAN);
                    for (int i = 0; i < batch.count(); i++) {
                        assertEquals(order.epoch(epoch).at(position), rows.getInt(i * ROW));
                        assertEquals(order.epoch(epoch).at(position++), rows.getInt(i * ROW + ROW - 4));
                    }
                }
            }
            assertEquals(ROWS, position);
        }
    }

    private static Sampler windows(int blocks) {
        long[] starts = LongStream.rangeClosed(0, ROWS / ROWS_IN_BLOCK).map(block -> block * ROWS_IN_BLOCK)
                .toArray();
        return Sampler.blockShuffled(starts, (long) blocks * ROWS_IN_BLOCK, 3);
    }

    @Test
    void allIsFetchedOnceIfItFits() throws IOException {
        Sampler order = Sampler.shuffled(ROWS, 1);
        for (int workers : new int[] {0, 2}) {
            try (Store store = Store.open(locate(200, "y.npy"), OpenOptions.DEFAULT);
                    DataLoader loader = builder(TensorRows.of((TensorStore) store), order, workers).endEpoch(2)
                            .open()) {
                read(loader, order, 2);
                Downloads downloads = loader.report().downloads();
                assertTrue(downloads.readBytes() >= 2L * ROWS * ROW, downloads.toString());
                assertEquals(ROWS, downloads.epochSamples());
                assertTrue(downloads.waitingReads() < downloads.reads(), downloads.toString());
                assertTrue(downloads.requests() >= downloads.fetchedBlocks(), downloads.toString());
            }
        }
        assertEquals(129, Set.copyOf(host.gets()).size());
    }

    /** By that it chooses what to drop. The plan is written beside the batches, so the test waits for it. */
    @Test
    @Timeout(600)
    void aCacheOfHalfTheDataIsToldWhenThisEpochAndTheNextReadEachBlock() throws Exception {
        Sampler order = windows(8);
        try (Store store = Store.open(locate(64), OpenOptions.DEFAULT);
                DataLoader loader = builder(TensorRows.of((TensorStore) store), order, 1).prefetch(1).open()) {
            awaitPlan(order, 0);
            read(loader, order, 1);
            assertEquals(129, Set.copyOf(host.gets()).size());
            awaitPlan(order, ROWS / BATCH);
            read(loader, order, 2);
        }
    }

    private void awaitPlan(Sampler order, long taken) throws Exception {
        BlockCache blocks = BlockCache.existing(cache);
        PlanTable.Key key = PlanTable.Key.of(blocks.versionFolders().getFirst());
        while (true) {
            List<PlanTable> plans = PlanTable.live(blocks.plans());
            try {
                PlanTable plan = plans.getFirst();
                long reached = plan.reached();
                if (reached >= taken && Arrays.equals(stepsUntil(order, reached),
                        LongStream.range(1, 129).map(block -> plan.stepsUntil(key, (int) block)).toArray())) {
                    return;
                }
            } finally {
                PlanTable.closeAll(plans);
            }
            Thread.sleep(1);
        }
    }

    /** Returns after how many batches each block is read, in this epoch or the next. */
    private static long[] stepsUntil(Sampler order, long reached) {
        long[] steps = new long[ROWS / ROWS_IN_BLOCK];
        long inEpoch = ROWS / BATCH;
        for (long epoch = reached / inEpoch + 1; epoch >= reached / inEpoch; epoch--) {
            for (long position = ROWS - 1; position >= 0; position--) {
                int block = (int) order.epoch(epoch).at(position) / ROWS_IN_BLOCK;
                long step = epoch * inEpoch + position / BATCH;
                steps[block] = step < reached ? steps[block] : step;
            }
        }
        return Arrays.stream(steps).map(step -> step - reached).toArray();
    }

    @Test
    void aCacheThatIsTooSmallIsRefusedAtOpening() throws IOException {
        try (Store store = Store.open(locate(40), OpenOptions.DEFAULT)) {
            Dataset rows = TensorRows.of((TensorStore) store);
            String full = assertThrows(IllegalArgumentException.class, () -> builder(rows, Sampler.shuffled(ROWS, 1),
                    1).open()).getMessage();
            assertTrue(full.contains("it may hold 320.0 KiB, and the order reads ") && full.contains(" by turns"),
                    full);
            String window = assertThrows(IllegalArgumentException.class, () -> builder(rows, windows(60), 1).open())
                    .getMessage();
            assertTrue(window.contains("an epoch would fetch about "), window);
            builder(rows, windows(16), 1).open().close();
            builder(rows, Sampler.sequential(ROWS), 1).open().close();
            builder(rows, Sampler.shuffled(ROWS, 1), 1).readAhead(0).open().close();
        }
    }

    @Test
    void onlyWhatComesIsFetchedAfterAResume() throws IOException {
        Sampler order = Sampler.sequential(ROWS);
        LoaderState state;
        try (Store store = Store.open(locate(200), OpenOptions.DEFAULT);
                DataLoader first = builder(TensorRows.of((TensorStore) store), order, 1).endEpoch(1).open()) {
            for (int i = 0; i < 16; i++) {
                first.next().close();
            }
            state = first.state();
        }
        RemoteSettings other = host.settings(cache.resolve("other")).withBlockBytes(BLOCK);
        host.forgetRequests();
        try (Store again = Store.open(RemoteFiles.of(other).locate(host.url("x.npy")), OpenOptions.DEFAULT);
                DataLoader rest = builder(TensorRows.of((TensorStore) again), order, 1).endEpoch(1).resume(state)
                        .open()) {
            rest.stream().forEach(Batch::close);
        }
        long[] starts = host.gets().stream().mapToLong(get -> Long.parseLong(get.replaceAll(".*bytes=|-.*", "")))
                .sorted().toArray();
        // Opening reads the start of the file.
        assertTrue(Arrays.stream(starts).allMatch(start -> start < 1 << 16
                || start >= 16L * BATCH * ROW / BLOCK * BLOCK), Arrays.toString(starts));
        assertEquals(List.of(), host.problems());
    }
}
