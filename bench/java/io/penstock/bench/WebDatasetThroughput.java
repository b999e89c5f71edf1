package io.penstock.bench;

import io.penstock.collate.StackAndPad;
import io.penstock.dataset.RecordFields;
import io.penstock.decode.DecimalText;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.Span;
import io.penstock.sampling.Sampler;
import io.penstock.store.webdataset.ShardList;
import io.penstock.store.webdataset.StreamOrder;
import io.penstock.store.webdataset.WebDatasetStore;
import io.penstock.store.webdataset.WebDatasetStream;
import io.penstock.store.webdataset.WebDatasetWriter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Epochs over a WebDataset of 8 shards of 2,000 samples, each of 20,000 random bytes ({@code bin}) and a label
 * ({@code cls}), in batches of 64. Prints one JSON line; {@code bench/peers/webdataset_compare.py} runs it by turns
 * with the {@code webdataset} library. {@code --write DIR} writes the dataset.
 *
 * <p>{@code --path loader}: the loader end to end, a batch is {@code u8[64,20000]} and {@code i64[64]} in one slab;
 * shards shuffled, and samples in windows of 1,000. {@code full}: the same, all samples shuffled. {@code stream}: one
 * thread reads tar after tar through a shuffle buffer of 1,000, and copies samples into a batch's memory.
 * {@code store}: one thread locates the samples in the order of {@code full}, and copies nothing.
 */
public final class WebDatasetThroughput {

    private static final int SHARDS = 8;
    private static final int SHARD_SAMPLES = 2000;
    private static final int SAMPLE_BYTES = 20_000;
    private static final int BATCH = 64;
    private static final int BUFFER = 1000;

    private WebDatasetThroughput() {
    }

    /** See {@code bench/README.md} for the options. */
    public static void main(String[] args) throws Exception {
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i + 1 < args.length; i += 2) {
            options.put(args[i].substring(2), args[i + 1]);
        }
        if (options.containsKey("write")) {
            write(Path.of(options.get("write")));
            return;
        }
        Path data = Path.of(options.get("data"));
        int workers = Integer.parseInt(options.getOrDefault("workers", "2"));
        double seconds = Double.parseDouble(options.getOrDefault("seconds", "2"));
        double warmup = Double.parseDouble(options.getOrDefault("warmup", "2"));
        String path = options.getOrDefault("path", "loader");
        try (Run run = switch (path) {
            case "loader", "full" -> new Loader(data, workers, path.equals("full"));
            case "stream" -> new Stream(data);
            case "store" -> new Store(data);
            default -> throw new IllegalArgumentException("--path " + path);
        }) {
            run.samples((long) (warmup * 1e9));
            long cpu = cpuNanos();
            long begin = System.nanoTime();
            long samples = run.samples((long) (seconds * 1e9));
            double took = (System.nanoTime() - begin) / 1e9;
            String config = path + (path.equals("loader") || path.equals("full") ? " w" + workers : "");
            System.out.printf(Locale.ROOT, "{\"side\": \"penstock\", \"config\": \"Penstock %s\", \"samples\": %d, "
                    + "\"seconds\": %.6f, \"samples_per_second\": %.1f, "
                    + "\"cpu_us_per_sample\": %.3f}%n", config, samples, took,
                    samples / took, (cpuNanos() - cpu) / 1e3 / samples);
        }
    }

    private static long cpuNanos() {
        return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos();
    }

    private static void write(Path folder) throws IOException {
        Files.createDirectories(folder);
        SplittableRandom random = new SplittableRandom(0);
        byte[] bytes = new byte[SAMPLE_BYTES];
        try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve("bench-%06d.tar"), SHARD_SAMPLES,
                Long.MAX_VALUE)) {
            for (int i = 0; i < SHARDS * SHARD_SAMPLES; i++) {
                random.nextBytes(bytes);
                writer.write(String.format("%06d", i), Map.of("bin", MemorySegment.ofArray(bytes), "cls",
                        MemorySegment.ofArray(Integer.toString(i % 1000).getBytes(StandardCharsets.US_ASCII))));
            }
            writer.commit();
        }
    }

    private interface Run extends AutoCloseable {

        /** Takes samples for that long; says how many. */
        long samples(long nanos) throws IOException;

        @Override
        void close() throws IOException;
    }

    private static final class Loader implements Run {

        private final WebDatasetStore store;
        private final DataLoader loader;

        Loader(Path data, int workers, boolean full) throws IOException {
            store = WebDatasetStore.open(data);
            loader = DataLoader.of(RecordFields.of(store).and("bin").and("cls", DecimalText.I64))
                    .batchSize(BATCH).collator(new StackAndPad()).workers(workers)
                    .sampler(full ? Sampler.shuffled(store.size(), 1)
                            : Sampler.blockShuffled(store.shardStarts(), BUFFER, 1))
                    .open();
        }

        @Override
        public long samples(long nanos) {
            long end = System.nanoTime() + nanos;
            long samples = 0;
            while (System.nanoTime() < end) {
                try (Batch batch = loader.next()) {
                    samples += batch.valid();
                }
            }
            return samples;
        }

        @Override
        public void close() {
            loader.close();
            store.close();
        }
    }

    private static final class Stream implements Run {

        private final WebDatasetStream stream;
        private final byte[] batch = new byte[BATCH * SAMPLE_BYTES];
        private final MemorySegment target = MemorySegment.ofArray(batch);
        private long checked;

        Stream(Path data) throws IOException {
            stream = WebDatasetStream.open(ShardList.of(data), StreamOrder.shuffled(1, BUFFER), 0);
        }

        @Override
        public long samples(long nanos) throws IOException {
            long end = System.nanoTime() + nanos;
            Span span = new Span();
            long samples = 0;
            while (System.nanoTime() < end) {
                for (int i = 0; i < BATCH; i++) {
                    if (!stream.next()) {
                        stream.nextEpoch();
                        continue;
                    }
                    stream.locate("bin", span);
                    MemorySegment.copy(span.segment(), span.byteOffset(), target, (long) i * SAMPLE_BYTES,
                            span.byteSize());
                    stream.locate("cls", span);
                    checked += span.byteSize();
                    samples++;
                }
            }
            return checked < 0 ? -1 : samples;
        }

        @Override
        public void close() throws IOException {
            stream.close();
        }
    }

    private static final class Store implements Run {

        private final WebDatasetStore store;
        private final Sampler sampler;
        private long epoch;
        private long checked;

        Store(Path data) throws IOException {
            store = WebDatasetStore.open(data);
            sampler = Sampler.shuffled(store.size(), 1);
        }

        @Override
        public long samples(long nanos) {
            long end = System.nanoTime() + nanos;
            Span span = new Span();
            long samples = 0;
            while (System.nanoTime() < end) {
                var order = sampler.epoch(epoch++);
                for (long i = 0; i < store.size(); i++) {
                    long record = order.at(i);
                    store.locate(record, 0, span);
                    checked += span.byteSize();
                    store.locate(record, 1, span);
                    checked += span.byteSize();
                    samples++;
                }
            }
            return checked < 0 ? -1 : samples;
        }

        @Override
        public void close() {
            store.close();
        }
    }
}
