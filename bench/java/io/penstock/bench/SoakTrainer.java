// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import com.sun.management.OperatingSystemMXBean;
import io.penstock.augment.Augment;
import io.penstock.collate.PackedLm;
import io.penstock.dataset.Documents;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.Packing;
import io.penstock.dataset.RecordFields;
import io.penstock.dataset.TokenWindows;
import io.penstock.decode.Decoder;
import io.penstock.device.Device;
import io.penstock.format.webdataset.ShardList;
import io.penstock.format.webdataset.WebDatasetSource;
import io.penstock.format.webdataset.WebDatasetStore;
import io.penstock.image.ImageFit;
import io.penstock.io.Location;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.DeviceLoader;
import io.penstock.loader.DeviceLoaders;
import io.penstock.media.ClipDataset;
import io.penstock.media.Clips;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.remote.RemoteFiles;
import io.penstock.remote.RemoteSettings;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.state.LoaderState;
import io.penstock.store.OpenOptions;
import io.penstock.store.TokenStore;
import io.penstock.stream.StreamDataset;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;

/**
 * A process of {@link Soak}: takes batches of every part at once, each on its own thread at its own pace, digests every
 * byte, and saves state and digest together every so many batches. Started again, each part goes on from there.
 *
 * <pre>
 *   --work DIR      where it saves: NAME.json is the latest state, NAME.digests the digests after so many batches
 *   --data ROOT     a folder, or the address of a server
 *   --cache DIR     of what is fetched
 *   --cuda          two CUDA devices for the tokens; otherwise two host devices
 *   --follow DIR    the run without faults: one loader a rank, no workers, not further than what is saved in DIR
 *   --share X       of one processor: beyond that, all parts slow down
 * </pre>
 */
final class SoakTrainer {

    /** What is loaded; {@code perSecond} batches, saved every {@code saved}. */
    enum Part {
        TOKENS(1500, 1000), RECORDS(12, 20), CHATS(20, 40), IMAGES(1.2, 4), CLIPS(1, 4);

        private final double perSecond;
        private final int saved;

        Part(double perSecond, int saved) {
            this.perSecond = perSecond;
            this.saved = saved;
        }

        String file(String kind) {
            return name().toLowerCase(Locale.ROOT) + "." + kind;
        }
    }

    private static final int WINDOW_TOKENS = 64;
    private static final int PACKED_TOKENS = 256;
    private static final int SIDE = 96;
    private static final long CACHE_BYTES = 64 << 20;
    private static final int BLOCK_BYTES = 256 << 10;
    private static final int BURSTS_A_SECOND = 4;
    private static final double MOST_SLOWNESS = 8;
    private static final long PACE_MILLIS = 2000;
    private static final float[] MEAN = {0.485f, 0.456f, 0.406f};
    private static final float[] DEVIATION = {0.229f, 0.224f, 0.225f};

    private final Map<String, String> options;
    private final Path work;
    private final boolean isClean;
    private final AtomicInteger unopened = new AtomicInteger(Part.values().length);
    /** How many times slower than their pace all parts go. */
    private volatile double slowness = 1;
    private final Optional<RemoteFiles> remote;

    private SoakTrainer(Map<String, String> options) {
        this.options = options;
        work = Path.of(options.get("work"));
        isClean = options.containsKey("follow");
        remote = Optional.ofNullable(options.get("cache")).map(folder -> RemoteFiles.of(RemoteSettings.fromEnvironment()
                .withCache(Path.of(folder), CACHE_BYTES).withBlockBytes(BLOCK_BYTES)));
    }

    public static void main(String[] args) throws Exception {
        SoakTrainer trainer = new SoakTrainer(LoaderThroughput.options(args));
        Files.createDirectories(trainer.work);
        List<Thread> threads = new ArrayList<>();
        for (Part part : Part.values()) {
            threads.add(Thread.ofPlatform().name("soak-" + part).start(() -> {
                try (Trained trained = trainer.open(part)) {
                    if (trainer.unopened.decrementAndGet() == 0) {
                        Files.createFile(trainer.work.resolve("opened"));
                    }
                    trainer.train(part, trained);
                } catch (Throwable t) {
                    System.err.println(part + ": " + t);
                    t.printStackTrace();
                    Runtime.getRuntime().halt(3);
                }
            }));
        }
        Thread.ofPlatform().daemon().name("soak-pace").start(trainer::pace);
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private void pace() {
        var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        double share = Double.parseDouble(options.getOrDefault("share", "0.15"));
        long cpu = system.getProcessCpuTime();
        long start = System.nanoTime();
        while (true) {
            try {
                Thread.sleep(PACE_MILLIS);
                long now = System.nanoTime();
                long used = system.getProcessCpuTime();
                double over = (double) (used - cpu) / (now - start) / share;
                slowness = Math.clamp(slowness * Math.clamp(over, 0.7, 1.5), 1, MOST_SLOWNESS);
                cpu = used;
                start = now;
                long heap = ManagementFactory.getMemoryPoolMXBeans().stream().filter(pool -> pool
                        .getCollectionUsage() != null).mapToLong(pool -> pool.getCollectionUsage().getUsed()).sum();
                long code = ManagementFactory.getMemoryMXBean().getNonHeapMemoryUsage().getCommitted();
                Files.writeString(work.resolve("memory"), heap + " " + code);
            } catch (InterruptedException | IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Loaders whose batches count by turns, their common state, and what closes them. */
    private record Trained(List<? extends DeviceLoader> loaders, Supplier<LoaderState> state,
            Deque<AutoCloseable> opened, Saved from) implements AutoCloseable {
        @Override
        public void close() throws Exception {
            for (AutoCloseable one : opened) {
                one.close();
            }
        }
    }

    /** How far a part is. */
    record Saved(long batches, long digest, String state) {

        static final Saved NONE = new Saved(0, 0, "");

        static Saved read(Path work, Part part) throws IOException {
            try {
                Map<String, ?> members = Json.object(Json.parse(Files.readString(work.resolve(part.file("json")))));
                return new Saved(Long.parseLong((String) members.get("batches")),
                        Long.parseUnsignedLong((String) members.get("digest"), 16), (String) members.get("state"));
            } catch (NoSuchFileException _) {
                return NONE;
            }
        }

        void write(Path work, Part part) throws IOException {
            String hex = Long.toHexString(digest);
            Files.writeString(work.resolve(part.file("digests")), batches + " " + hex + "\n",
                    StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            Path temporary = work.resolve(part.file("writing"));
            Files.writeString(temporary, Json.write(Json.members("batches", Long.toString(batches), "digest", hex,
                    "state", state)));
            Files.move(temporary, work.resolve(part.file("json")), StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private void train(Part part, Trained trained) throws Exception {
        long batches = trained.from.batches;
        long digest = trained.from.digest;
        double perBurst = Math.max(1, part.perSecond / BURSTS_A_SECOND);
        while (true) {
            boolean isStopped = Files.exists(work.resolve("stop"));
            if (isStopped && !isClean) {
                return;
            }
            long limit = isClean ? Saved.read(Path.of(options.get("follow")), part).batches : Long.MAX_VALUE;
            if (isStopped && batches >= limit) {
                return;
            }
            long burstStart = System.nanoTime();
            long end = Math.min(limit, batches + (long) perBurst);
            while (batches < end) {
                DeviceLoader loader = trained.loaders.get((int) (batches % trained.loaders.size()));
                loader.device().makeCurrent();
                try (Batch batch = loader.next(); Arena arena = Arena.ofConfined()) {
                    digest = digest(digest, batch, loader.device().hostAccessible() ? batch.tensors()
                            : batch.toHost(arena));
                }
                batches++;
                if (batches % part.saved == 0) {
                    new Saved(batches, digest, trained.state.get().toJson()).write(work, part);
                }
            }
            // The run without faults may catch up: it is paced by its share alone.
            double seconds = perBurst / part.perSecond * slowness / (isClean && batches < limit ? 2 : 1);
            long left = (long) (seconds * 1e9) - (System.nanoTime() - burstStart);
            Thread.sleep(Math.max(1, left / 1_000_000));
        }
    }

    private static long digest(long before, Batch batch, Map<String, Tensor> tensors) {
        long digest = mix(before + batch.count());
        for (int row = 0; row < batch.count(); row++) {
            digest = mix(digest + batch.sample(row));
        }
        for (Tensor tensor : tensors.values()) {
            CRC32 crc = new CRC32();
            CRC32C other = new CRC32C();
            crc.update(tensor.segment().asByteBuffer());
            other.update(tensor.segment().asByteBuffer());
            digest = mix(digest ^ (crc.getValue() << 32 | other.getValue()));
        }
        return digest;
    }

    /** The finalizer of SplitMix64 (Steele, Lea, Flood 2014). */
    private static long mix(long value) {
        long z = value + 0x9e3779b97f4a7c15L;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }

    private Location locate(String name) throws IOException {
        String root = options.get("data");
        if (!RemoteFiles.isRemote(root)) {
            return Location.of(Path.of(root, name));
        }
        return remote.orElseThrow().locate(root + name);
    }

    private Trained open(Part part) throws IOException {
        Deque<AutoCloseable> opened = new ArrayDeque<>();
        Saved from = Saved.read(work, part);
        DataLoaderBuilder builder = switch (part) {
            case TOKENS -> tokens(opened);
            case RECORDS -> records(opened);
            case CHATS -> chats(opened);
            case IMAGES -> images(opened);
            case CLIPS -> clips(opened);
        };
        if (!from.state.isEmpty()) {
            builder.resume(LoaderState.fromJson(from.state));
        }
        builder.name("soak-" + part).workers(isClean ? 0 : 1);
        if (part != Part.TOKENS) {
            DataLoader loader = builder.open();
            opened.push(loader);
            return new Trained(List.of(loader), loader::state, opened, from);
        }
        if (isClean) {
            List<DataLoader> ranks = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                DataLoader loader = builder.shard(new Shard(rank, 2, TailPolicy.EXACT)).open();
                opened.push(loader);
                ranks.add(loader);
            }
            return new Trained(ranks, ranks.getLast()::state, opened, from);
        }
        Device[] devices = new Device[2];
        for (int i = 0; i < 2; i++) {
            devices[i] = options.containsKey("cuda") ? Device.cuda(i) : Device.open("host");
            opened.push(devices[i]);
        }
        DeviceLoaders loaders = builder.shard(new Shard(0, 1, TailPolicy.EXACT)).devices(devices).openAll();
        opened.push(loaders);
        return new Trained(List.of(loaders.get(0), loaders.get(1)), loaders::state, opened, from);
    }

    private DataLoaderBuilder tokens(Deque<AutoCloseable> opened) throws IOException {
        TokenStore store = TokenStore.open(locate("tokens.bin"), OpenOptions.DEFAULT.withFormat("nanogpt"));
        opened.push(store);
        return DataLoader.builder(TokenWindows.of(store, WINDOW_TOKENS)).batchSize(4).shuffle(1)
                .prefetch(isClean ? 1 : 32);
    }

    /** Tar after tar from front to back. */
    private DataLoaderBuilder records(Deque<AutoCloseable> opened) throws IOException {
        List<Location> tars = ShardList.of(locate("records-{000000..000003}.tar"));
        WebDatasetSource source = WebDatasetSource.of(tars, "bin", "cls").shuffled(2).passes(Integer.MAX_VALUE);
        StreamDataset stream = StreamDataset.builder(source).field("bin", DType.U8, SoakData.RECORD_BYTES)
                .field("cls", Decoder.decimal(DType.I64), 0).shuffle(2, 500).open();
        opened.push(stream);
        return DataLoader.builder(stream).batchSize(16);
    }

    private DataLoaderBuilder chats(Deque<AutoCloseable> opened) throws IOException {
        TokenStore store = TokenStore.open(locate("chats"), OpenOptions.DEFAULT.withFormat("megatron"));
        opened.push(store);
        PackedSequences packed = Packing.of(Documents.of(store), PACKED_TOKENS).pack();
        opened.push(packed);
        return DataLoader.builder(packed).collator(PackedLm.of(DType.I64)).shuffle(3).batchSize(8);
    }

    private DataLoaderBuilder images(Deque<AutoCloseable> opened) throws IOException {
        WebDatasetStore store = WebDatasetStore.open(locate("images-{000000..000003}.tar"));
        opened.push(store);
        return DataLoader.builder(Augment.images().randomResizedCrop(SIDE, SIDE).horizontalFlip(0.5)
                .colorJitter(0.4, 0.4, 0.4, 0.1).normalize(MEAN, DEVIATION)
                .mapped(RecordFields.of(store).and("jpg"), "jpg")).batchSize(8).shuffle(4);
    }

    private DataLoaderBuilder clips(Deque<AutoCloseable> opened) throws IOException {
        WebDatasetStore store = WebDatasetStore.open(locate("videos-{000000..000000}.tar"));
        opened.push(store);
        ClipDataset clips = Clips.of(store, "mp4").frames(8).stride(2).resize(ImageFit.shorterSide(SIDE, SIDE, SIDE))
                .open();
        opened.push(Objects.requireNonNull(clips));
        return DataLoader.builder(clips).batchSize(2).shuffle(5);
    }
}
