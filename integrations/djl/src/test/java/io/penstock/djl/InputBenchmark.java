// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Record;
import ai.djl.training.loss.Loss;
import ai.djl.util.Progress;
import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import io.penstock.collate.CausalLm;
import io.penstock.dataset.TensorRows;
import io.penstock.dataset.TokenWindows;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.LeaseMode;
import io.penstock.memory.DType;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * The input of a training: {@link PenstockDataset} beside DJL's own dataset classes, by turns in one run. A round gives
 * each of them one turn; ratios are those of the same round, and medians over the rounds are printed.
 *
 * <p>Arguments: rounds (default 7), seconds a turn (default 1), and {@code train} if each batch is trained on (default:
 * the step is empty).
 */
public final class InputBenchmark {

    private static final int BATCH = 32;
    private static final int WINDOW = 128;
    private static final int WINDOWS = 1 << 15;
    private static final int[] IMAGE = {3, 32, 32};
    private static final int IMAGES = 1 << 14;
    private static final int THREADS = 2;
    private static final int[] PREFETCH = {2, 4, 8};

    private final int rounds;
    private final double seconds;
    private final boolean isTraining;
    private final Path folder;

    private InputBenchmark(int rounds, double seconds, boolean isTraining, Path folder) {
        this.rounds = rounds;
        this.seconds = seconds;
        this.isTraining = isTraining;
        this.folder = folder;
    }

    /**
     * Runs it.
     *
     * @param args rounds, seconds a turn, {@code train}
     */
    public static void main(String[] args) throws Exception {
        Path folder = Files.createTempDirectory("penstock-djl");
        try {
            var benchmark = new InputBenchmark(args.length > 0 ? Integer.parseInt(args[0]) : 7,
                    args.length > 1 ? Double.parseDouble(args[1]) : 1,
                    args.length > 2 && args[2].equals("train"), folder);
            benchmark.tokens();
            benchmark.images();
        } finally {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    private void tokens() throws Exception {
        Path file = folder.resolve("tokens.bin");
        ByteBuffer tokens = ByteBuffer.allocate((WINDOWS * WINDOW + 1) * Short.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        Random random = new Random(1);
        while (tokens.hasRemaining()) {
            tokens.putShort((short) random.nextInt(50_000));
        }
        Files.write(file, tokens.array());
        try (TokenStore store = TokenStore.open(file);
                Ours ours = new Ours(() -> DataLoader.builder(TokenWindows.of(store, WINDOW))
                        .collator(CausalLm.widened(DType.I64)));
                ExecutorService threads = Executors.newFixedThreadPool(THREADS);
                NDManager manager = NDManager.newBaseManager()) {
            List<Contender> all = ours.contenders(manager, "input_ids", "labels");
            ByteBuffer mapped = map(file);
            NDArray ids = manager.create(new Shape(WINDOWS, WINDOW), DataType.INT64);
            NDArray labels = manager.create(new Shape(WINDOWS, WINDOW), DataType.INT64);
            long[] all64 = new long[WINDOWS * WINDOW];
            for (int shift = 0; shift < 2; shift++) {
                for (int i = 0; i < all64.length; i++) {
                    all64[i] = mapped.getShort((i + shift) * Short.BYTES) & 0xFFFF;
                }
                (shift == 0 ? ids : labels).set(all64);
            }
            theirs(all, manager, threads, ids, labels, prefetch -> new MappedTokens(mapped, prefetch));
            print("i64 tokens: " + BATCH + " windows of " + WINDOW + " with labels",
                    measure(all, () -> new TrainingStep(WINDOW, 1 << 16, WINDOW, Loss.l2Loss())));
        }
    }

    private void images() throws Exception {
        int bytes = IMAGE[0] * IMAGE[1] * IMAGE[2];
        byte[] pixels = new byte[IMAGES * bytes];
        new Random(1).nextBytes(pixels);
        Path pixelFile = npy("pixels.npy", "|u1", IMAGES + ", " + IMAGE[0] + ", " + IMAGE[1] + ", " + IMAGE[2], pixels);
        ByteBuffer kinds = ByteBuffer.allocate(IMAGES * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (long i = 0; i < IMAGES; i++) {
            kinds.putLong(i % 10);
        }
        Path kindFile = npy("kinds.npy", "<i8", IMAGES + ",", kinds.array());
        try (TensorStore pixelStore = TensorStore.open(pixelFile);
                TensorStore kindStore = TensorStore.open(kindFile);
                Ours ours = new Ours(() -> DataLoader.builder(
                        TensorRows.of("pixels", pixelStore).and("kind", kindStore)));
                ExecutorService threads = Executors.newFixedThreadPool(THREADS);
                NDManager manager = NDManager.newBaseManager()) {
            List<Contender> all = ours.contenders(manager, "pixels", "kind");
            NDArray images = manager.create(ByteBuffer.wrap(pixels), new Shape(IMAGES, IMAGE[0], IMAGE[1], IMAGE[2]),
                    DataType.UINT8);
            NDArray labels = manager.create(kinds.rewind().asLongBuffer(), new Shape(IMAGES), DataType.INT64);
            ByteBuffer mapped = map(pixelFile).slice((int) Files.size(pixelFile) - pixels.length, pixels.length);
            theirs(all, manager, threads, images, labels, prefetch -> new MappedImages(mapped, prefetch));
            print("u8 images: " + BATCH + " of " + IMAGE[0] + " x " + IMAGE[1] + " x " + IMAGE[2] + " with labels",
                    measure(all, () -> new TrainingStep(bytes, 255, 10, Loss.softmaxCrossEntropyLoss())));
        }
    }

    private Path npy(String name, String type, String shape, byte[] values) throws IOException {
        String header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
        int length = 128 - 10;
        ByteBuffer file = ByteBuffer.allocate(128 + values.length).order(ByteOrder.LITTLE_ENDIAN);
        file.put(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0}).putShort((short) length);
        file.put((header + " ".repeat(length - 1 - header.length()) + "\n").getBytes(StandardCharsets.US_ASCII));
        return Files.write(folder.resolve(name), file.put(values).array());
    }

    private static ByteBuffer map(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size()).order(ByteOrder.LITTLE_ENDIAN);
        }
    }

    // ---- who takes part

    /** Something that gives epochs of batches. */
    private record Contender(String name, boolean isOurs, EpochSource source) {
    }

    /** Starts an epoch. */
    private interface EpochSource {

        Iterable<Batch> epoch() throws Exception;
    }

    /** A dataset of DJL's with so many batches ahead. */
    private interface PrefetchingDataset {

        Dataset with(int prefetch);
    }

    /** Loaders of one dataset with other settings each. */
    private static final class Ours implements AutoCloseable {

        private final Map<String, DataLoader> loaders = new LinkedHashMap<>();

        Ours(Supplier<DataLoaderBuilder> settings) {
            open("Penstock, reused leases", settings, loader -> loader.leases(LeaseMode.REUSED));
            open("Penstock, reused leases, inline", settings, loader -> loader.leases(LeaseMode.REUSED).workers(0));
            open("Penstock, reused leases, 2 workers", settings, loader -> loader.leases(LeaseMode.REUSED).workers(2));
            open("Penstock", settings, loader -> loader);
            open("Penstock, copied", settings, loader -> loader.leases(LeaseMode.REUSED));
        }

        private void open(String name, Supplier<DataLoaderBuilder> dataset, UnaryOperator<DataLoaderBuilder> settings) {
            loaders.put(name, settings.apply(dataset.get().batchSize(BATCH).shuffle(1)).open());
        }

        List<Contender> contenders(NDManager manager, String data, String labels) {
            List<Contender> all = new ArrayList<>();
            loaders.forEach((name, loader) -> {
                PenstockDataset dataset = PenstockDataset.of(loader).data(data).labels(labels);
                Dataset asNamed = name.endsWith("copied") ? dataset.copied() : dataset;
                all.add(new Contender(name, true, () -> asNamed.getData(manager)));
            });
            return all;
        }

        @Override
        public void close() {
            loaders.values().forEach(DataLoader::close);
        }
    }

    private static void theirs(List<Contender> all, NDManager manager, ExecutorService threads, NDArray data,
            NDArray labels, PrefetchingDataset mapped) {
        PrefetchingDataset inMemory = prefetch -> new ArrayDataset.Builder().setData(data).optLabels(labels)
                .setSampling(BATCH, true, true).optPrefetchNumber(prefetch).build();
        for (var each : Map.of("ArrayDataset", inMemory, "RandomAccessDataset", mapped).entrySet().stream()
                .sorted(Map.Entry.comparingByKey()).toList()) {
            Dataset inline = each.getValue().with(1);
            all.add(new Contender("DJL " + each.getKey() + ", inline", false, () -> inline.getData(manager)));
            for (int prefetch : PREFETCH) {
                Dataset ahead = each.getValue().with(prefetch);
                all.add(new Contender("DJL " + each.getKey() + ", " + THREADS + " threads, prefetch " + prefetch, false,
                        () -> ahead.getData(manager, threads)));
            }
        }
    }

    /** A user's dataset over a mapped file of {@code u16} tokens. */
    private static final class MappedTokens extends RandomAccessDataset {

        private final ByteBuffer tokens;

        MappedTokens(ByteBuffer tokens, int prefetch) {
            super(new Settings(prefetch));
            this.tokens = tokens;
        }

        @Override
        public Record get(NDManager manager, long index) {
            long[] ids = new long[WINDOW];
            long[] labels = new long[WINDOW];
            int first = (int) index * WINDOW;
            for (int i = 0; i < WINDOW; i++) {
                ids[i] = tokens.getShort((first + i) * Short.BYTES) & 0xFFFF;
                labels[i] = tokens.getShort((first + i + 1) * Short.BYTES) & 0xFFFF;
            }
            return new Record(new NDList(manager.create(ids)), new NDList(manager.create(labels)));
        }

        @Override
        protected long availableSize() {
            return WINDOWS;
        }

        @Override
        public void prepare(Progress progress) {
        }
    }

    /** A user's dataset over a mapped file of images, which DJL reads in place. */
    private static final class MappedImages extends RandomAccessDataset {

        private static final Shape SHAPE = new Shape(IMAGE[0], IMAGE[1], IMAGE[2]);

        private final ByteBuffer pixels;

        MappedImages(ByteBuffer pixels, int prefetch) {
            super(new Settings(prefetch));
            this.pixels = pixels;
        }

        @Override
        public Record get(NDManager manager, long index) {
            int bytes = (int) SHAPE.size();
            NDArray image = manager.create(pixels.slice((int) index * bytes, bytes), SHAPE, DataType.UINT8);
            return new Record(new NDList(image), new NDList(manager.create(index % 10)));
        }

        @Override
        protected long availableSize() {
            return IMAGES;
        }

        @Override
        public void prepare(Progress progress) {
        }
    }

    /** The settings of a user's dataset. */
    private static final class Settings extends RandomAccessDataset.BaseBuilder<Settings> {

        Settings(int prefetch) {
            setSampling(BATCH, true, true);
            optPrefetchNumber(prefetch);
        }

        @Override
        protected Settings self() {
            return this;
        }
    }

    // ---- measuring

    /**
     * What one turn took.
     *
     * @param rate samples a second
     * @param cpu microseconds of the process a sample
     * @param heap bytes allocated a batch
     * @param input the share of the time that the trainer took to get and to close batches
     */
    private record Turn(double rate, double cpu, double heap, double input) {
    }

    private Map<Contender, List<Turn>> measure(List<Contender> all, Supplier<TrainingStep> training) throws Exception {
        if (!isTraining) {
            return measure(all, _ -> { });
        }
        try (TrainingStep step = training.get()) {
            return measure(all, step::take);
        }
    }

    private Map<Contender, List<Turn>> measure(List<Contender> all, Consumer<Batch> step) throws Exception {
        Map<Contender, List<Turn>> turns = new LinkedHashMap<>();
        for (Contender contender : all) {
            turns.put(contender, new ArrayList<>());
            turn(contender, step);        // warms up
        }
        List<Contender> order = new ArrayList<>(all);
        Random random = new Random(1);
        for (int round = 0; round < rounds; round++) {
            java.util.Collections.shuffle(order, random);
            for (Contender contender : order) {
                turns.get(contender).add(turn(contender, step));
            }
        }
        return turns;
    }

    /** Takes whole epochs, until the time is up. */
    private Turn turn(Contender contender, Consumer<Batch> step) throws Exception {
        var process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long samples = 0;
        long batches = 0;
        long computed = 0;
        long heap = threads.getTotalThreadAllocatedBytes();
        long cpu = process.getProcessCpuTime();
        long start = System.nanoTime();
        long end = start + (long) (seconds * 1e9);
        while (System.nanoTime() < end) {
            for (Batch batch : contender.source.epoch()) {
                samples += batch.getSize();
                batches++;
                if (isTraining) {
                    long before = System.nanoTime();
                    step.accept(batch);
                    computed += System.nanoTime() - before;
                }
                batch.close();
            }
        }
        long elapsed = System.nanoTime() - start;
        cpu = process.getProcessCpuTime() - cpu;
        heap = threads.getTotalThreadAllocatedBytes() - heap;
        return new Turn(samples / (elapsed / 1e9), cpu / 1e3 / samples, (double) heap / batches,
                1 - (double) computed / elapsed);
    }

    // ---- printing

    private void print(String title, Map<Contender, List<Turn>> turns) {
        Contender first = turns.keySet().iterator().next();
        List<String[]> rows = new ArrayList<>();
        rows.add(new String[] {"input", "samples/s", "CPU µs/sample", "heap B/batch", "input's share", "our rate",
            "our CPU", "our heap"});
        turns.forEach((contender, list) -> {
            String[] row = {contender.name, "%,.0f".formatted(median(list, Turn::rate)),
                "%.3f".formatted(median(list, Turn::cpu)), "%,.0f".formatted(median(list, Turn::heap)),
                "%.2f %%".formatted(100 * median(list, Turn::input)), "", "", ""};
            if (!contender.isOurs) {
                row[5] = "%.1f x".formatted(ratio(turns.get(first), list, Turn::rate));
                row[6] = "%.3f".formatted(ratio(turns.get(first), list, Turn::cpu));
                row[7] = "%.3f".formatted(ratio(turns.get(first), list, Turn::heap));
            }
            rows.add(row);
        });
        System.out.printf(Locale.ROOT, "%n%s; %d rounds of %.1f s; ratios of \"%s\"%n%n", title, rounds, seconds,
                first.name);
        for (String[] row : rows) {
            System.out.printf("%-46s %12s %14s %13s %14s %9s %8s %9s%n", (Object[]) row);
        }
        System.out.println();
        for (int i = 0; i < rows.size(); i++) {
            System.out.println("| " + String.join(" | ", rows.get(i)) + " |");
            if (i == 0) {
                System.out.println("|---|--:|--:|--:|--:|--:|--:|--:|");
            }
        }
    }

    private static double median(List<Turn> turns, ToDoubleFunction<Turn> what) {
        return median(turns.stream().mapToDouble(what).sorted().toArray());
    }

    /** Of the same rounds. */
    private static double ratio(List<Turn> ours, List<Turn> theirs, ToDoubleFunction<Turn> what) {
        double[] ratios = new double[ours.size()];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = what.applyAsDouble(ours.get(i)) / what.applyAsDouble(theirs.get(i));
        }
        java.util.Arrays.sort(ratios);
        return median(ratios);
    }

    private static double median(double[] sorted) {
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }
}
