// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import io.penstock.collate.Collator;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.BadSampleException;
import io.penstock.error.PenstockException;
import io.penstock.io.publish.AtomicFile;
import io.penstock.io.publish.JsonFile;
import io.penstock.json.Json;
import io.penstock.loader.BadSamplePolicy;
import io.penstock.loader.Batch;
import io.penstock.loader.BatchException;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.LoaderInterruptedException;
import io.penstock.loader.LoaderSettings;
import io.penstock.memory.Tensor;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.state.LoaderState;
import io.penstock.store.IfExists;
import io.penstock.store.Progress;
import io.penstock.store.StoreWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Converts a dataset by the caller's code, batch by batch, in the dataset's order: {@link Conversion#map} begins it.
 *
 * <p>The result is a folder of WebDataset tars with a fixed number of samples each, {@code shard-000000.tar} and so on,
 * which {@link io.penstock.store.Store#open} opens as one store. A tar appears complete or not at all. A run that was
 * stopped leaves the tars that it finished, and the next one makes those that are missing; several machines share the
 * work by {@link #shard}. What a batch has does not depend on any of that.
 *
 * <p>The file {@code conversion.json} in the folder says what was converted: another dataset, seed or version is
 * refused.
 */
public final class MappedConversion {

    /** Makes files of the samples of a batch. */
    @FunctionalInterface
    public interface BatchCode {

        /**
         * Converts a batch.
         *
         * @param batch the batch, which is closed afterwards
         * @param out receives the files of its samples, which it copies
         * @throws IOException if it cannot be converted; ends the conversion
         */
        void run(Batch batch, SampleFiles out) throws IOException;
    }

    /** Receives the files of a batch's samples. Used by one thread, during the call. */
    public static final class SampleFiles {

        private final List<Map<String, MemorySegment>> samples = new ArrayList<>();
        private int count;

        private SampleFiles() {
        }

        private void begin(int rows) {
            count = rows;
            samples.clear();
            for (int row = 0; row < rows; row++) {
                samples.add(new LinkedHashMap<>());
            }
        }

        /**
         * Adds an array to each sample, {@code name.npy}.
         *
         * @param name the field's name
         * @param rows an array on the host whose first dimension is the batch's number of samples
         * @throws IllegalArgumentException if it is another, or a sample has such a field already
         */
        public void arrays(String name, Tensor rows) {
            if (rows.shape().length == 0 || rows.shape()[0] != count) {
                throw new IllegalArgumentException("'" + name + "': found an array of the shape "
                        + Arrays.toString(rows.shape()) + ", expected " + count + " rows, those of the batch");
            }
            for (int row = 0; row < count; row++) {
                array(row, name, rows.row(row));
            }
        }

        /**
         * Adds an array to a sample, {@code name.npy}.
         *
         * @param row the sample's row in the batch
         * @param name the field's name
         * @param value the array, on the host
         * @throws IllegalArgumentException if the sample has such a field already
         */
        public void array(int row, String name, Tensor value) {
            put(row, name + ".npy", SampleTarget.npy(value));
        }

        /**
         * Adds a file to a sample.
         *
         * @param row the sample's row in the batch
         * @param suffix its suffix, such as {@code jpg}
         * @param bytes its bytes
         * @throws IllegalArgumentException if the sample has such a file already
         */
        public void file(int row, String suffix, MemorySegment bytes) {
            put(row, suffix, MemorySegment.ofArray(bytes.toArray(ValueLayout.JAVA_BYTE)));
        }

        private void put(int row, String suffix, MemorySegment bytes) {
            String lower = suffix.toLowerCase(Locale.ROOT);
            if (samples.get(Objects.checkIndex(row, count)).putIfAbsent(lower, bytes) != null) {
                throw new IllegalArgumentException("row " + row + ": found two files '" + lower + "', expected one");
            }
        }
    }

    private static final String RECORD = "conversion.json";
    private static final long MOST_RECORD_BYTES = 1 << 20;
    private static final int FORMAT_VERSION = 1;
    private static final int DEFAULT_BATCH = 32;
    private static final long DEFAULT_SHARD = 1024;

    private final Dataset samples;
    private final Path folder;
    private final BatchCode code;
    private int batchSize = DEFAULT_BATCH;
    private long shardSamples = DEFAULT_SHARD;
    private long seed;
    private String version = "";
    private int workers = LoaderSettings.defaultWorkers();
    private int threads = 1;
    private Shard shard = Shard.whole();
    private boolean isSkipping;
    private @Nullable Collator collator;
    private Progress progress = Progress.NONE;
    private final AtomicLong done = new AtomicLong();
    private final AtomicLong written = new AtomicLong();

    MappedConversion(Dataset samples, Path folder, BatchCode code) {
        this.samples = Objects.requireNonNull(samples, "samples");
        this.folder = Objects.requireNonNull(folder, "folder");
        this.code = Objects.requireNonNull(code, "code");
    }

    /**
     * Sets how many samples the code gets at once.
     *
     * @param count samples of a batch; 32 by default
     * @return this conversion
     * @throws IllegalArgumentException if it is below 1
     */
    public MappedConversion batchSize(int count) {
        batchSize = Math.toIntExact(positive(count, "samples of a batch"));
        return this;
    }

    /**
     * Sets how many samples a tar has, which is also what a stopped run may have to do again.
     *
     * @param count samples of a tar, rounded up to whole batches; 1,024 by default
     * @return this conversion
     * @throws IllegalArgumentException if it is below 1
     */
    public MappedConversion shardsOf(long count) {
        shardSamples = positive(count, "samples of a shard");
        return this;
    }

    /**
     * Sets the seed of what the dataset draws by chance. A sample is what a loader with this seed gives in epoch 0 in
     * the dataset's order.
     *
     * @param value the seed; 0 by default
     * @return this conversion
     */
    public MappedConversion seed(long value) {
        seed = value;
        return this;
    }

    /**
     * Names what the code does, so that a folder is not continued by other code.
     *
     * @param name such as {@code vae-2}; empty by default
     * @return this conversion
     */
    public MappedConversion version(String name) {
        version = Objects.requireNonNull(name, "name");
        return this;
    }

    /**
     * Sets how many threads read and decode.
     *
     * @param count threads of all loaders together; as many as a loader has by default
     * @return this conversion
     * @throws IllegalArgumentException if it is below 1
     */
    public MappedConversion workers(int count) {
        workers = Math.toIntExact(positive(count, "workers"));
        return this;
    }

    /**
     * Sets how many threads call the code, each for a tar of its own.
     *
     * @param count threads; 1 by default: the thread that runs the conversion
     * @return this conversion
     * @throws IllegalArgumentException if it is below 1
     */
    public MappedConversion threads(int count) {
        threads = Math.toIntExact(positive(count, "threads"));
        return this;
    }

    /**
     * Makes only every so-many-th tar, so that several processes write one folder.
     *
     * @param part which of them
     * @return this conversion
     */
    public MappedConversion shard(Shard part) {
        shard = Objects.requireNonNull(part, "part");
        return this;
    }

    /**
     * Leaves out samples that cannot be read. By default one ends the conversion.
     *
     * @return this conversion
     */
    public MappedConversion skipBad() {
        isSkipping = true;
        return this;
    }

    /**
     * Sets how samples become a batch.
     *
     * @param by such as {@link io.penstock.collate.StackAndPad} for fields of several lengths; by default they are
     *     stacked
     * @return this conversion
     */
    public MappedConversion collator(Collator by) {
        collator = Objects.requireNonNull(by, "by");
        return this;
    }

    /**
     * Sets a listener for the conversion's progress.
     *
     * @param listener receives the samples that are converted, those of earlier runs included; any of the conversion's
     *     threads calls it
     * @return this conversion
     */
    public MappedConversion progress(Progress listener) {
        progress = Objects.requireNonNull(listener, "listener");
        return this;
    }

    private static long positive(long value, String what) {
        if (value < 1) {
            throw new IllegalArgumentException("found " + value + " " + what + ", expected 1 or more");
        }
        return value;
    }

    /**
     * Makes the tars that are missing.
     *
     * @return what was written: the samples and files of this run alone
     * @throws ConversionException if a sample cannot be read, or the folder is that of another conversion
     * @throws IOException if the code throws it, or a tar cannot be written
     * @throws InterruptedException if the calling thread is interrupted; the tars that are complete stay
     */
    public ConversionSummary run() throws IOException, InterruptedException {
        long start = System.nanoTime();
        done.set(0);
        written.set(0);
        long perShard = Math.multiplyExact(Math.ceilDiv(shardSamples, batchSize), (long) batchSize);
        long shards = Math.ceilDiv(samples.size(), perShard);
        try {
            Files.createDirectories(folder);
            checkRecord(perShard);
            List<Long> missing = new ArrayList<>();
            for (long i = shard.rank(); i < shards; i += shard.worldSize()) {
                if (Files.exists(tar(i))) {
                    done.addAndGet(samplesOf(i, perShard));
                } else {
                    missing.add(i);
                }
            }
            List<Path> files = threads == 1 || missing.size() < 2 ? work(missing, new AtomicLong(), perShard, workers)
                    : inParallel(missing, perShard);
            List<Path> sorted = files.stream().sorted().toList();
            long bytes = 0;
            for (Path file : sorted) {
                bytes += Files.size(file);
            }
            return new ConversionSummary("webdataset", written.get(), sorted, bytes, List.of(),
                    System.nanoTime() - start);
        } catch (IOException | UncheckedIOException | PenstockException e) {
            throw Interrupts.orFailure(e);
        }
    }

    /** Compares what the folder says with this conversion, or says it. */
    private void checkRecord(long perShard) throws IOException {
        Path record = folder.resolve(RECORD);
        Map<String, @Nullable Object> now = Json.members("version", FORMAT_VERSION, "code", version, "dataset",
                samples.fingerprint(), "samples", samples.size(), "samples_of_a_shard", perShard, "seed", seed);
        if (!Files.exists(record)) {
            AtomicFile.write(record, Json.write(now) + "\n");
            return;
        }
        Map<String, @Nullable Object> there = JsonFile.read(record, "the record of a conversion", MOST_RECORD_BYTES,
                fields -> {
                    Map<String, @Nullable Object> taken = new LinkedHashMap<>();
                    for (String name : now.keySet()) {
                        taken.put(name, fields.take(name));
                    }
                    return taken;
                });
        for (Map.Entry<String, @Nullable Object> field : now.entrySet()) {
            String found = String.valueOf(there.get(field.getKey()));
            if (!found.equals(String.valueOf(field.getValue()))) {
                throw new ConversionException(record + ": the folder has another conversion, whose '" + field.getKey()
                        + "' is " + found + ", expected " + field.getValue() + " (remove the folder, or name another)");
            }
        }
    }

    private Path tar(long number) {
        return folder.resolve(String.format(Locale.ROOT, "shard-%06d.tar", number));
    }

    private long samplesOf(long number, long perShard) {
        return Math.min(perShard, samples.size() - number * perShard);
    }

    private List<Path> inParallel(List<Long> missing, long perShard) throws IOException {
        var next = new AtomicLong();
        int several = Math.min(threads, missing.size());
        List<Path> files = new ArrayList<>();
        try (ExecutorService pool = Executors.newFixedThreadPool(several)) {
            List<Future<List<Path>>> running = new ArrayList<>();
            for (int i = 0; i < several; i++) {
                running.add(pool.submit(() -> work(missing, next, perShard, Math.max(1, workers / several))));
            }
            try {
                for (Future<List<Path>> one : running) {
                    files.addAll(one.get());
                }
            } catch (ExecutionException e) {
                next.set(Integer.MAX_VALUE);
                pool.shutdownNow();
                switch (e.getCause()) {
                    case IOException failure -> throw failure;
                    case RuntimeException failure -> throw failure;
                    case Error failure -> throw failure;
                    case null, default -> throw new IOException(e);
                }
            } catch (InterruptedException e) {
                next.set(Integer.MAX_VALUE);
                pool.shutdownNow();
                throw (IOException) new ClosedByInterruptException().initCause(e);
            }
        }
        return files;
    }

    /** Makes tars, as long as there are any that no other thread makes. */
    private List<Path> work(List<Long> missing, AtomicLong next, long perShard, int readers) throws IOException {
        List<Path> files = new ArrayList<>();
        if (missing.isEmpty()) {
            return files;
        }
        var keys = new SampleKeys(samples);
        var format = (StoreWriter.OfSamples) TargetFormat.of("webdataset").writer();
        var out = new SampleFiles();
        DataLoaderBuilder builder = DataLoader.builder(samples).sampler(Sampler.sequential(samples.size()))
                .batchSize(batchSize).seed(seed).endEpoch(1).workers(readers).withoutAccounts()
                .onBadSample(isSkipping ? BadSamplePolicy.SKIP : BadSamplePolicy.FAIL);
        if (collator != null) {
            builder.collator(collator);
        }
        try (DataLoader loader = builder.open()) {
            LoaderState start = loader.state();
            long at = 0;
            for (long i = next.getAndIncrement(); i < missing.size(); i = next.getAndIncrement()) {
                long number = missing.get((int) i);
                long first = number * perShard;
                if (first != at) {
                    loader.seek(new LoaderState(0, first, start.seed(), start.sampler(), start.dataset()));
                }
                at = first + samplesOf(number, perShard);
                try (StoreWriter.SampleSink sink = format.create(tar(number), Long.MAX_VALUE, Long.MAX_VALUE,
                        IfExists.REPLACE)) {
                    convert(loader, at - first, keys, out, sink);
                    files.addAll(sink.commit());
                }
            }
        } catch (LoaderInterruptedException e) {
            throw (IOException) new ClosedByInterruptException().initCause(e);
        } catch (BatchException e) {
            if (e.getCause() instanceof BadSampleException bad) {
                throw new ConversionException(bad.getMessage(), e);
            }
            throw new IOException(e.getMessage(), e);
        }
        return files;
    }

    private void convert(DataLoader loader, long count, SampleKeys keys, SampleFiles out, StoreWriter.SampleSink sink)
            throws IOException {
        for (long left = count; left > 0; ) {
            try (Batch batch = loader.next()) {
                out.begin(batch.count());
                code.run(batch, out);
                for (int row = 0; row < batch.valid(); row++) {
                    if (out.samples.get(row).isEmpty()) {
                        continue;
                    }
                    try {
                        sink.write(keys.key(batch.sample(row)), out.samples.get(row));
                    } catch (IllegalArgumentException e) {
                        throw new ConversionException(e.getMessage() + " (name another field)", e);
                    }
                    written.incrementAndGet();
                }
                left -= batch.count();
                progress.update(done.addAndGet(batch.count()), samples.size());
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new ClosedByInterruptException();
            }
        }
    }
}
