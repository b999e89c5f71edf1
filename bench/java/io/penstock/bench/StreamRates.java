// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import com.sun.management.OperatingSystemMXBean;
import io.penstock.collate.CausalLm;
import io.penstock.loader.DataLoader;
import io.penstock.state.LoaderState;
import io.penstock.store.IfExists;
import io.penstock.stream.LineSource;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.PartitionReader.Found;
import io.penstock.stream.RecordBuffer;
import io.penstock.stream.RecordText;
import io.penstock.stream.SpoolSource;
import io.penstock.stream.StreamDataset;
import io.penstock.stream.StreamSource;
import io.penstock.stream.TokenWindowSource;
import io.penstock.tokenize.TokenDocumentSource;
import io.penstock.tokenize.TokenizeJob;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Reads a corpus of JSON lines as a stream, by turns with {@code penstock tokenize} on one thread: {@code --corpus
 * F.jsonl --folder TEMPORARY [--rounds 5] [--encoding gpt2]}. Prints megabytes of the file per second of the process's
 * CPU time, and per second: of windows of 1024 tokens of the stream, of the job, of lines alone, and of lines through a
 * spool. Then how large the state of a stream of 64 such files on 64 lanes is, and how long it takes to make and save.
 */
public final class StreamRates {

    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final int WINDOW = 1025;
    private static final int AT_A_TIME = 8192;
    private static final int PARTITIONS = 64;
    private static final int TIMES = 1001;

    private StreamRates() {
    }

    /** Something that reads the corpus once. */
    private interface Pass {

        void run() throws IOException, InterruptedException;
    }

    /** See the class. */
    public static void main(String[] args) throws IOException, InterruptedException {
        Map<String, String> options = LoaderThroughput.options(args);
        Path corpus = Path.of(options.get("corpus"));
        Path folder = Path.of(options.get("folder"));
        long bytes = Files.size(corpus);
        Tokenizer tokenizer = Tokenizer.of(options.getOrDefault("encoding", "gpt2"));
        StreamSource lines = LineSource.of(corpus);
        StreamSource windows = new TokenWindowSource(
                TokenDocumentSource.of(lines, RecordText.jsonField("text"), tokenizer), WINDOW);
        for (int round = 1; round <= Integer.parseInt(options.getOrDefault("rounds", "5")); round++) {
            Path spool = folder.resolve("spool-" + round);
            measure("windows of a stream", bytes, () -> readAll(windows));
            measure("tokenize", bytes, () -> new TokenizeJob(tokenizer, List.of(corpus), folder.resolve("store"))
                    .appendEndOfText().threads(1).ifExists(IfExists.REPLACE).run());
            measure("lines", bytes, () -> readAll(lines));
            measure("lines through a spool", bytes, () -> readAll(new SpoolSource(
                    LineSource.once("corpus", Files.newInputStream(corpus)), spool, 1L << 40)));
        }
        state(corpus, folder, tokenizer);
    }

    /** Prints the median times of a state, in the middle of windows of a shuffled stream. */
    private static void state(Path corpus, Path folder, Tokenizer tokenizer) throws IOException {
        Path[] files = new Path[PARTITIONS];
        for (int i = 0; i < PARTITIONS; i++) {
            files[i] = folder.resolve("part-" + i + ".jsonl");
            Files.deleteIfExists(files[i]);
            Files.createSymbolicLink(files[i], corpus.toAbsolutePath());
        }
        var windows = new TokenWindowSource(
                TokenDocumentSource.of(LineSource.of(files), RecordText.jsonField("text"), tokenizer), WINDOW);
        try (StreamDataset stream = StreamDataset.builder(windows).field("tokens", windows.dtype(), WINDOW)
                .shuffle(42, 64).lanes(PARTITIONS).open();
                DataLoader loader = DataLoader.builder(stream).collator(CausalLm.narrow()).batchSize(32).open()) {
            for (int i = 0; i < 200; i++) {
                loader.next().close();
            }
            LoaderState state = loader.state();
            System.out.printf(Locale.ROOT, "state: %d bytes, %d of them fingerprints; %.3f ms as text, %.3f ms saved%n",
                    state.toJson().length(), state.sampler().length() + state.dataset().length(),
                    median(() -> loader.state().toJson()), median(() -> loader.state().write(folder.resolve("state"))));
        }
    }

    private static double median(Pass pass) throws IOException {
        double[] millis = new double[TIMES];
        try {
            for (int i = 0; i < TIMES; i++) {
                long begin = System.nanoTime();
                pass.run();
                millis[i] = (System.nanoTime() - begin) / 1e6;
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        Arrays.sort(millis);
        return millis[TIMES / 2];
    }

    /** Reads a partition in windows, as a dataset does. */
    private static void readAll(StreamSource source) throws IOException {
        try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer()) {
            while (reader.poll(into) == Found.RECORD) {
                if (into.count() == AT_A_TIME) {
                    reader.keep();
                    into.clear();
                }
            }
        }
    }

    private static void measure(String what, long bytes, Pass pass) throws IOException, InterruptedException {
        long cpu = SYSTEM.getProcessCpuTime();
        long begin = System.nanoTime();
        pass.run();
        long took = System.nanoTime() - begin;
        System.out.printf(Locale.ROOT, "%-22s %7.1f MB a CPU second, %7.1f MB/s%n", what,
                bytes * 1e3 / (SYSTEM.getProcessCpuTime() - cpu), bytes * 1e3 / took);
    }
}
