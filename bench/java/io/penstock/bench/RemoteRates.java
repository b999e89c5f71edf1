// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import com.sun.management.OperatingSystemMXBean;
import io.penstock.dataset.TensorRows;
import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.format.webdataset.WebDatasetSource;
import io.penstock.io.FetchWaits;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.RangeFetcher;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.remote.RemoteFiles;
import io.penstock.remote.RemoteSettings;
import io.penstock.remote.RequestSettings;
import io.penstock.remote.cache.BlockCache;
import io.penstock.remote.cache.CachedObject;
import io.penstock.remote.cache.RemoteObject;
import io.penstock.sampling.Sampler;
import io.penstock.store.OpenOptions;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenStore;
import io.penstock.stream.StreamDataset;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * What remote files cost, on loopback and by turns: beside curl, local files, and a server without faults. The run
 * starts its servers: nginx where it is on the path, otherwise the JDK's; the JDK's where it is to be slow or at fault.
 * Prints a line of a table for each.
 *
 * <p>Takes the names of what to measure ({@code plain tls warm webdataset latency faults start}; all by default) and
 * {@code --work DIR} (a new folder in the temporary one), {@code --rounds N} (7), {@code --mib N} (512, of the object
 * that is transferred). Needs curl and Linux.
 */
public final class RemoteRates implements AutoCloseable {

    private static final List<String> ALL = List.of("plain", "tls", "warm", "webdataset", "latency", "faults", "start");
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final String OBJECT = "object.bin";
    private static final int BLOCK = 8 << 20;
    private static final int MIB = 1 << 20;
    private static final int WARM_UP = 2;
    private static final int ROW_BYTES = 8192;
    private static final long STEP_NANOS = 5_000_000;
    private static final int CLOCK_TICKS_A_SECOND = 100;

    private final Path work;
    private final Path served;
    private final Path cache;
    private final int rounds;
    private final long objectBytes;
    private final LoopbackServers servers;
    private double checksum;

    private RemoteRates(Path work, int rounds, long objectBytes) throws IOException, InterruptedException {
        this.work = work;
        this.rounds = rounds;
        this.objectBytes = objectBytes;
        this.served = Files.createDirectories(work.resolve("served"));
        this.cache = work.resolve("cache");
        this.servers = LoopbackServers.start(work, served);
    }

    /** See the class. */
    public static void main(String[] args) throws Exception {
        Map<String, String> options = new TreeMap<>();
        List<String> chosen = new ArrayList<>();
        for (int i = 0; i < args.length; i++) {
            if (args[i].startsWith("--")) {
                options.put(args[i].substring(2), args[++i]);
            } else {
                chosen.add(args[i]);
            }
        }
        if (options.containsKey("read")) {
            System.out.println(firstByte(options.get("read"), Path.of(options.get("cache"))));
            return;
        }
        Path work = options.containsKey("work") ? Files.createDirectories(Path.of(options.get("work")))
                : Files.createTempDirectory("remote-rates");
        try (RemoteRates rates = new RemoteRates(work, Integer.parseInt(options.getOrDefault("rounds", "7")),
                Long.parseLong(options.getOrDefault("mib", "512")) * MIB)) {
            for (String one : chosen.isEmpty() ? ALL : chosen) {
                rates.measure(one);
            }
        }
    }

    private void measure(String what) throws Exception {
        switch (what) {
            case "plain" -> transfer("plain", servers.root("http"));
            case "tls" -> transfer("tls", servers.root("https"));
            case "warm" -> warm();
            case "webdataset" -> webDataset();
            case "latency" -> latency();
            case "faults" -> faults();
            case "start" -> start();
            default -> throw new IllegalArgumentException(what + ", expected some of " + ALL);
        }
    }

    private static void print(String format, Object... values) {
        System.out.println("| " + String.format(Locale.ROOT, format, values) + " |");
    }

    @Override
    public void close() {
        servers.close();
        if (checksum == 42) {
            System.out.println("what was read is used");
        }
    }

    /** A rate and what it cost. */
    private record Rate(double bytesPerSecond, double cpuSecondsPerGb) {

        static Rate of(long bytes, long nanos, long cpuNanos) {
            return new Rate(bytes * 1e9 / nanos, (double) cpuNanos / bytes);
        }

        static Rate median(List<Rate> rates) {
            return new Rate(RemoteRates.median(rates.stream().mapToDouble(Rate::bytesPerSecond).toArray()),
                    RemoteRates.median(rates.stream().mapToDouble(Rate::cpuSecondsPerGb).toArray()));
        }
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private Path file(String name, long bytes) throws IOException {
        Path file = served.resolve(name);
        if (!Files.exists(file) || Files.size(file) != bytes) {
            byte[] part = new byte[MIB];
            SplittableRandom random = new SplittableRandom(bytes);
            try (var out = Files.newOutputStream(file)) {
                for (long done = 0; done < bytes; done += part.length) {
                    random.nextBytes(part);
                    out.write(part);
                }
            }
        }
        return file;
    }

    private RemoteFiles files(int block, int parallel) throws IOException {
        delete(cache);
        return RemoteFiles.of(RemoteSettings.fromEnvironment().withCache(cache, 8L << 30).withBlockBytes(block)
                .withRequests(RequestSettings.DEFAULT.withParallel(parallel)));
    }

    private static void delete(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> all = Files.walk(folder)) {
                for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }

    /** Fetches files into the cache, which has none of their blocks. */
    private static Rate fetch(List<Location> files, int parallel, int block) throws IOException {
        return fetchAhead(files, block, 2 * parallel);
    }

    private static Rate fetchAhead(List<Location> files, int block, int ahead) throws IOException {
        long bytes = 0;
        long cpu = SYSTEM.getProcessCpuTime();
        long start = System.nanoTime();
        for (Location location : files) {
            try (MappedFile file = location.open()) {
                RangeFetcher fetcher = file.fetcher();
                FetchWaits waits = new FetchWaits();
                for (long at = 0; at < file.byteSize(); at += block) {
                    fetcher.prefetch(at, Math.min((long) ahead * block, file.byteSize() - at));
                    fetcher.fetch(at, Math.min(block, file.byteSize() - at), waits);
                }
                bytes += file.byteSize();
            }
        }
        return Rate.of(bytes, System.nanoTime() - start, SYSTEM.getProcessCpuTime() - cpu);
    }

    /** What curl takes for files, one after the other over one connection, into files or not. */
    private Rate curl(List<String> urls, long bytes, boolean isKept) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("curl", "--silent", "--fail", "--cacert",
                servers.certificate().toString()));
        for (String url : urls) {
            command.addAll(List.of("-o", isKept ? work.resolve("curl-" + url.substring(url.lastIndexOf('/') + 1))
                    .toString() : "/dev/null", url));
        }
        for (String url : urls) {
            Files.deleteIfExists(work.resolve("curl-" + url.substring(url.lastIndexOf('/') + 1)));
        }
        long cpu = childrensCpuNanos();
        long start = System.nanoTime();
        int status = new ProcessBuilder(command).inheritIO().start().waitFor();
        long nanos = System.nanoTime() - start;
        if (status != 0) {
            throw new IOException("curl ended with " + status);
        }
        return Rate.of(bytes, nanos, childrensCpuNanos() - cpu);
    }

    /** The CPU time of processes that this one has waited for, from {@code proc(5)}. */
    private static long childrensCpuNanos() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(fields[13]) + Long.parseLong(fields[14])) * (1_000_000_000L / CLOCK_TICKS_A_SECOND);
    }

    private void transfer(String name, String root) throws Exception {
        file(OBJECT, objectBytes);
        RemoteFiles files = files(BLOCK, 4);
        List<Rate> kept = new ArrayList<>();
        List<Rate> dropped = new ArrayList<>();
        List<Rate> own = new ArrayList<>();
        for (int round = -WARM_UP; round < rounds; round++) {
            Rate curl = curl(List.of(root + OBJECT), objectBytes, true);
            Rate discarded = curl(List.of(root + OBJECT), objectBytes, false);
            Rate fetched = fetch(List.of(files.locate(root + OBJECT)), 4, BLOCK);
            BlockCache.existing(cache).trim(0);
            if (round >= 0) {
                kept.add(curl);
                dropped.add(discarded);
                own.add(fetched);
            }
        }
        Rate curl = Rate.median(kept);
        Rate rate = Rate.median(own);
        print("%s, 8 MiB × 4 | %.2f GB/s | curl %.2f, discarding %.2f | %.2f | CPU s/GB %.2f, curl %.2f, discarding"
                + " %.2f", name, rate.bytesPerSecond / 1e9, curl.bytesPerSecond / 1e9,
                Rate.median(dropped).bytesPerSecond / 1e9, rate.bytesPerSecond / curl.bytesPerSecond,
                rate.cpuSecondsPerGb, curl.cpuSecondsPerGb, Rate.median(dropped).cpuSecondsPerGb);
    }

    private void warm() throws Exception {
        long bytes = 64L << 20;
        Path local = file("tokens.bin", bytes);
        RemoteFiles files = files(BLOCK, 4);
        Location remote = files.locate(servers.root("http") + "tokens.bin");
        fetch(List.of(remote), 4, BLOCK);
        OpenOptions format = OpenOptions.DEFAULT.withFormat("nanogpt");
        try (Device device = Device.open("host");
                TokenStore here = TokenStore.open(Location.of(local), format);
                TokenStore there = TokenStore.open(remote, format);
                DataLoader near = loader(here, device); DataLoader far = loader(there, device)) {
            double[] nearRates = new double[3 * rounds];
            double[] farRates = new double[3 * rounds];
            for (int i = -WARM_UP; i < nearRates.length; i++) {
                double one = windows(near);
                double other = windows(far);
                if (i >= 0) {
                    nearRates[i] = one;
                    farRates[i] = other;
                }
            }
            print("warm cache, windows/s | %.2f M | local %.2f M | %.3f |", median(farRates) / 1e6,
                    median(nearRates) / 1e6, median(farRates) / median(nearRates));
        }
    }

    private static DataLoader loader(TokenStore store, Device device) {
        return DataLoader.builder(TokenWindows.of(store, 1024)).batchSize(32).shuffle(1).device(device).workers(1)
                .open();
    }

    private static double windows(DataLoader loader) {
        long start = System.nanoTime();
        long count = 0;
        while (System.nanoTime() - start < 200_000_000) {
            for (int i = 0; i < 100; i++) {
                try (var batch = loader.next()) {
                    count += batch.count();
                }
            }
        }
        return count * 1e9 / (System.nanoTime() - start);
    }

    private void webDataset() throws Exception {
        Path shards = served.resolve("webdataset");
        if (!Files.exists(shards)) {
            WebDatasetShards.main(new String[] {shards.toString()});
        }
        List<String> names;
        try (Stream<Path> all = Files.list(shards)) {
            names = all.map(path -> path.getFileName().toString()).filter(name -> name.endsWith(".tar")).sorted()
                    .toList();
        }
        long bytes = 0;
        for (String name : names) {
            bytes += Files.size(shards.resolve(name));
        }
        for (String kind : List.of("http", "paced")) {
            List<String> urls = names.stream().map(name -> servers.root(kind) + "webdataset/" + name).toList();
            RemoteFiles files = files(BLOCK, 16);
            double[] curl = new double[rounds];
            double[] own = new double[rounds];
            for (int round = -WARM_UP; round < rounds; round++) {
                double one = curl(urls, bytes, true).bytesPerSecond;
                double other = epoch(urls.stream().map(files::locate).toList(), bytes);
                BlockCache.existing(cache).trim(0);
                if (round >= 0) {
                    curl[round] = one;
                    own[round] = other;
                }
            }
            print("cold WebDataset epoch, shuffled, %s | %.0f MB/s | curl %.0f | %.2f |",
                    kind.equals("paced") ? "server of 200 MB/s" : "loopback", median(own) / 1e6, median(curl) / 1e6,
                    median(own) / median(curl));
        }
    }

    private double epoch(List<Location> shards, long bytes) throws IOException {
        long start = System.nanoTime();
        try (StreamDataset samples = StreamDataset.builder(WebDatasetSource.of(shards, "bin").shuffled(1))
                .field("bin", DType.U8, WebDatasetShards.SAMPLE_BYTES).shuffle(1, 1000).open();
                DataLoader loader = DataLoader.builder(samples).batchSize(WebDatasetShards.BATCH).workers(1).open()) {
            loader.stream().forEach(batch -> {
                checksum += batch.tensor("bin").byteSize();
                batch.close();
            });
        }
        return bytes * 1e9 / (System.nanoTime() - start);
    }

    private void latency() throws Exception {
        long bytes = 256L << 20;
        Path local = file("rows.bin", bytes);
        double near = waited(Location.of(local), bytes);
        double far = waited(files(MIB, 16).locate(servers.root("delayed") + "rows.bin"), bytes);
        print("50 ms a request, step 5 ms: waits | %.2f %% | local files %.2f %% | |", 100 * far, 100 * near);
    }

    /** The share of its time that a trainer with steps of 5 ms waits, once it runs. */
    private static double waited(Location file, long bytes) throws Exception {
        long rows = bytes / ROW_BYTES;
        long inBlock = MIB / ROW_BYTES;
        Sampler order = Sampler.blockShuffled(LongStream.rangeClosed(0, rows / inBlock).map(block -> block * inBlock)
                .toArray(), 16 * inBlock, 3);
        OpenOptions raw = OpenOptions.DEFAULT.withFormat("raw").withDType(DType.U8)
                .withShape(List.of(-1L, (long) ROW_BYTES));
        try (Device device = Device.open("host"); TensorStore store = TensorStore.open(file, raw);
                DataLoader loader = DataLoader.builder(TensorRows.of(store)).batchSize(32).sampler(order)
                        .device(device).workers(1).endEpoch(1).open()) {
            long waited = 0;
            long from = 0;
            int batches = (int) (rows / 32);
            for (int i = 0; i < batches; i++) {
                long before = System.nanoTime();
                loader.next().close();
                long now = System.nanoTime();
                if (i == batches / 10) {
                    from = now;
                    waited = 0;
                }
                waited += now - before;
                LockSupport.parkNanos(STEP_NANOS);
            }
            return (double) waited / (System.nanoTime() - from);
        }
    }

    private void faults() throws Exception {
        file(OBJECT, objectBytes);
        RemoteFiles clean = files(MIB, 16);
        RemoteFiles faulty = RemoteFiles.of(RemoteSettings.fromEnvironment().withCache(cache, 8L << 30)
                .withBlockBytes(MIB));
        double[] cleanRates = new double[2 * rounds];
        double[] faultyRates = new double[2 * rounds];
        for (int round = -WARM_UP; round < cleanRates.length; round++) {
            // As far ahead as who reads a file from start to end.
            double one = fetchAhead(List.of(clean.locate(servers.root("plain") + OBJECT)), MIB, 128).bytesPerSecond;
            double other = fetchAhead(List.of(faulty.locate(servers.root("faulty") + OBJECT)), MIB, 128).bytesPerSecond;
            BlockCache.existing(cache).trim(0);
            if (round >= 0) {
                cleanRates[round] = one;
                faultyRates[round] = other;
            }
        }
        // Means: the rounds with an answer that is late at their end count.
        double cleanMean = cleanRates.length / Arrays.stream(cleanRates).map(rate -> 1 / rate).sum();
        double faultyMean = faultyRates.length / Arrays.stream(faultyRates).map(rate -> 1 / rate).sum();
        print("1 %% 503, 1 %% cut, 1 %% 2 s late | %.0f MB/s | clean %.0f | %.2f | medians %.2f", faultyMean / 1e6,
                cleanMean / 1e6, faultyMean / cleanMean, median(faultyRates) / median(cleanRates));
    }

    private void start() throws Exception {
        int block = BlockCache.MIN_BLOCK_BYTES;
        Files.write(served.resolve("small"), new byte[block]);
        for (int objects : new int[] {100, 10_000}) {
            Location first = files(block, 16).locate(servers.root("http") + "small");
            fetch(List.of(first), 16, block);
            fill(objects, 10_000L / objects * block, block);
            double[] inside = new double[rounds];
            double[] process = new double[rounds];
            for (int round = 0; round < rounds; round++) {
                List<String> command = LoopbackServers.java();
                command.addAll(List.of(RemoteRates.class.getName(), "--read", first.toString(), "--cache",
                        cache.toString()));
                long start = System.nanoTime();
                Process child = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
                inside[round] = Double.parseDouble(new BufferedReader(new InputStreamReader(child.getInputStream()))
                        .readLine());
                process[round] = (System.nanoTime() - start) / 1e6;
                child.waitFor();
            }
            print("start with 10,000 cached blocks of %,d objects | %.0f ms | with the JVM's %.0f ms | |", objects,
                    median(inside), median(process));
        }
    }

    /** Stores objects without a server. */
    private void fill(int objects, long bytes, int block) throws IOException {
        BlockCache blocks = BlockCache.open(cache, 8L << 30, block, 16);
        for (int i = 0; i < objects; i++) {
            try (CachedObject object = blocks.open(new RemoteObject("s3://bucket/" + i, "v", bytes),
                    (_, length, sink) -> sink.accept(ByteBuffer.allocate((int) length)))) {
                object.fetch(0, bytes, new FetchWaits());
            }
        }
    }

    /** The milliseconds until the first byte of a cached object is read, with the limit that no option has set. */
    private static double firstByte(String url, Path cache) throws IOException {
        long start = System.nanoTime();
        RemoteFiles files = RemoteFiles.of(RemoteSettings.fromEnvironment().withCache(cache, 0)
                .withBlockBytes(BlockCache.MIN_BLOCK_BYTES));
        try (MappedFile file = files.locate(url).open()) {
            file.require(0, 1);
        }
        return (System.nanoTime() - start) / 1e6;
    }
}
