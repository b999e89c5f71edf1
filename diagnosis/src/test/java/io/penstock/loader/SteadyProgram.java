// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.penstock.collate.CausalLm;
import io.penstock.collate.Collator;
import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStream;
import io.penstock.diagnose.Diagnosis;
import io.penstock.io.ReadMode;
import io.penstock.memory.DType;
import io.penstock.store.TokenStore;
import io.penstock.telemetry.Phase;
import io.penstock.testing.Corpora;
import io.penstock.transform.CastTransform;
import io.penstock.transform.TokenStage;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * What a batch allocates once a loader runs, in a JVM of its own: what other code did before decides what the compiler
 * makes of the same loop.
 */
final class SteadyProgram {

    /**
     * The JIT compiler decides when the loader is warm, and may think again: one of this many windows of 2,000 batches
     * must be steady. What the code itself allocates would be there in all of them.
     */
    private static final int WINDOWS = 1_000;
    private static final int MEASURED = 2_000;
    private static final long MOST_BYTES_PER_BATCH = 255;
    /** A new order and new keys, on each thread; a window has two epochs. An object a batch would be 32,000 bytes. */
    private static final long MOST_BYTES_PER_EPOCH = 2048;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private SteadyProgram() {
    }

    /** Takes a folder, and {@code cuda} for the device's clock and marks over CUDA's runtime. */
    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0]);
        if (args.length > 1) {
            checkOnCuda(folder);
            return;
        }
        for (LeaseMode leases : new LeaseMode[] {LeaseMode.CONFINED, LeaseMode.REUSED}) {
            check(folder, 0, TransferMode.IN_PLACE, ReadMode.MMAP, leases);
            check(folder, 1, TransferMode.IN_PLACE, ReadMode.MMAP, leases);
            check(folder, 2, TransferMode.IN_PLACE, ReadMode.PREAD, leases);
            check(folder, 2, TransferMode.IN_PLACE, ReadMode.AUTO, leases);
            check(folder, 2, TransferMode.COPY, ReadMode.MMAP, leases);
            check(folder, 1, TransferMode.COPY, ReadMode.MMAP, leases, true, CausalLm.widened(DType.I64));
            check(folder, 1, TransferMode.COPY, ReadMode.PREAD, leases);
            check(folder, 2, TransferMode.COPY, ReadMode.MMAP, leases, false, CausalLm.narrow(),
                    TokenStage.of(DType.I32), CastTransform.stage("input_ids", DType.I64));
        }
        checkInOrder(folder);
        checkTogether(folder, 1);
        checkTogether(folder, 2);
    }

    private static void check(Path folder, int workers, TransferMode transfer, ReadMode read, LeaseMode leases)
            throws IOException {
        check(folder, workers, transfer, read, leases, false, CausalLm.widened(DType.I64));
    }

    private static void check(Path folder, int workers, TransferMode transfer, ReadMode read, LeaseMode leases,
            boolean timed, Collator collator, DeviceStage... stages) throws IOException {
        Path file = Corpora.rawU16(folder, 1_000_000, 3);
        String name = "steady-" + workers + "-" + transfer + "-" + read + "-" + leases + "-" + stages.length
                + (timed ? "-timed" : "");
        try (TokenStore store = TokenStore.open(file, "nanogpt");
                Device device = Device.host();
                DeviceStream stream = timed ? device.openStream("trainer") : null;
                DataLoader loader = settings(timed, stages, DataLoader.builder(TokenWindows.of(store, 128))
                        .batchSize(8).shuffle(1).device(device)
                        .name(name).collator(collator).workers(workers).transfer(transfer)
                        .readMode(read).leases(leases)).open()) {
            measure(name, leases, List.of(loader), batches -> step(loader, stream, batches));
        }
        SteadyStateTest.assertLeftNothing(name, file);
    }

    private static void checkOnCuda(Path folder) throws IOException {
        Path file = Corpora.rawU16(folder, 1_000_000, 3);
        String name = "steady-cuda";
        try (TokenStore store = TokenStore.open(file, "nanogpt");
                Device device = Device.cuda(0);
                DeviceStream stream = device.openStream("trainer");
                DataLoader loader = DataLoader.builder(TokenWindows.of(store, 128)).batchSize(8).shuffle(1)
                        .device(device).name(name).collator(CausalLm.narrow()).onDevice(TokenStage.of(DType.I32))
                        .workers(1).leases(LeaseMode.REUSED).withDeviceClock().open();
                Diagnosis diagnosis = Diagnosis.of(loader)) {
            device.makeCurrent();
            measure(name, LeaseMode.REUSED, List.of(loader), batches -> {
                for (int i = 0; i < batches; i++) {
                    try (Batch _ = loader.next(stream)) {
                        diagnosis.begin(Phase.FORWARD);
                        diagnosis.begin(Phase.BACKWARD);
                        diagnosis.end();
                    }
                }
                stream.synchronize();
            });
            assertTrue(loader.accounts().orElseThrow().since(0).stream()
                    .anyMatch(account -> account.onDevice() != null && account.onDevice().marked() != null));
        }
        SteadyStateTest.assertLeftNothing(name, file);
    }

    /** In the file's order, whose sampler makes its fingerprint anew whenever it is asked for it. */
    private static void checkInOrder(Path folder) throws IOException {
        Path file = Corpora.rawU16(folder, 1_000_000, 3);
        String name = "steady-in-order";
        try (TokenStore store = TokenStore.open(file, "nanogpt");
                DataLoader loader = DataLoader.builder(TokenWindows.of(store, 128)).batchSize(8).name(name)
                        .collator(CausalLm.widened(DType.I64)).workers(0).leases(LeaseMode.REUSED).open()) {
            measure(name, LeaseMode.REUSED, List.of(loader), batches -> step(loader, null, batches));
        }
        SteadyStateTest.assertLeftNothing(name, file);
    }

    /** Two devices, by turns, of which one is copied to; a batch is one of each. */
    private static void checkTogether(Path folder, int workers) throws IOException {
        Path file = Corpora.rawU16(folder, 1_000_000, 3);
        String name = "steady-together-" + workers;
        try (TokenStore store = TokenStore.open(file, "nanogpt");
                Device first = Device.host();
                Device second = Device.host();
                DeviceLoaders loaders = DataLoader.builder(TokenWindows.of(store, 128)).batchSize(8).shuffle(1)
                        .collator(CausalLm.widened(DType.I64)).name(name).workers(workers)
                        .transfer(TransferMode.COPY).leases(LeaseMode.REUSED).devices(first, second).openAll()) {
            measure(name, LeaseMode.REUSED, List.of(loaders.get(0), loaders.get(1)), batches -> {
                for (int i = 0; i < batches; i++) {
                    step(loaders.get(0), null, 1);
                    step(loaders.get(1), null, 1);
                }
            });
        }
        SteadyStateTest.assertLeftNothing(name, file);
    }

    /** Each step takes a batch of each loader. */
    private static void measure(String name, LeaseMode leases, List<? extends DeviceLoader> loaders, IntConsumer steps)
            throws IOException {
        long most = leases == LeaseMode.REUSED ? 0 : MOST_BYTES_PER_BATCH;
        long[] threads = threadIds(name);
        long perBatch = Long.MAX_VALUE;
        long grown = 0;
        for (int window = 0; window < WINDOWS && perBatch > most; window++) {
            long resident = residentBytes();
            long epochs = epochs(loaders);
            long heap = allocated(threads);
            steps.accept(MEASURED);
            long ofEpochs = (epochs(loaders) - epochs + loaders.size()) * MOST_BYTES_PER_EPOCH;
            perBatch = Math.ceilDiv(Math.max(0, allocated(threads) - heap - ofEpochs), MEASURED);
            grown = residentBytes() - resident;
        }
        System.out.println(name + ": " + perBatch + " bytes of heap a batch, " + grown / 1024
                + " KiB more resident");
        assertTrue(perBatch <= most, perBatch + " bytes of heap a batch");
        assertTrue(grown < 32 << 20, grown + " bytes more resident after " + MEASURED + " batches");
    }

    private static long epochs(List<? extends DeviceLoader> loaders) {
        return loaders.stream().mapToLong(DeviceLoader::currentEpoch).sum();
    }

    private static DataLoaderBuilder settings(boolean timed, DeviceStage[] stages, DataLoaderBuilder settings) {
        if (timed) {
            settings.withDeviceClock();
        }
        for (DeviceStage stage : stages) {
            settings.onDevice(stage);
        }
        return settings;
    }

    private static void step(DeviceLoader loader, DeviceStream stream, int batches) {
        long sum = 0;
        for (int i = 0; i < batches; i++) {
            try (Batch batch = loader.next(stream)) {
                if (stream != null) {
                    stream.synchronize();
                }
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
}
