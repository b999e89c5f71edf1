// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.dataset.TokenWindows;
import io.penstock.io.publish.AtomicFile;
import io.penstock.io.publish.Folder;
import io.penstock.io.publish.StagingFolder;
import io.penstock.json.Json;
import io.penstock.loader.DataLoader;
import io.penstock.store.Inspection;
import io.penstock.store.TokenStore;
import io.penstock.text.ShellText;
import io.penstock.tokenize.TokenizeJob;
import io.penstock.tokenize.TokenizeSummary;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code penstock quickstart}: from text to batches on the device, on a small bundled corpus. */
@Command(
        name = "quickstart",
        description = "Tokenizes a small corpus, streams shuffled batches to the best device, and reports the rates.",
        footer = {"", "Needs no GPU and no network. Leaves no files behind without --keep."})
final class QuickstartCommand implements Callable<Integer> {

    private static final List<String> CORPUS = List.of("almanac.txt", "keeper.txt", "letters.jsonl", "travels.txt");
    private static final String ENCODING = "gpt2";
    private static final long WINDOW_TOKENS = 128;
    private static final int BATCH_SAMPLES = 16;
    private static final long SEED = 42;
    private static final int WORKERS = 2;
    private static final long WARMUP_STEPS = 100;
    private static final long STEPS = 500;

    @Mixin
    private Report report;

    @Option(names = "--keep", paramLabel = "DIR",
            description = "Keep the corpus and the store in DIR; default: delete them.")
    private @Nullable Path keep;

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path folder = keep != null ? Files.createDirectories(keep) : Files.createTempDirectory("penstock-quickstart-");
        try {
            return run(folder);
        } finally {
            if (keep == null) {
                Folder.delete(folder);
            }
        }
    }

    private int run(Path folder) throws IOException, InterruptedException {
        Path corpus = Files.createDirectories(folder.resolve("corpus"));
        for (String name : CORPUS) {
            try (InputStream in = QuickstartCommand.class.getResourceAsStream("corpus/" + name)) {
                StagingFolder.requireAbsent(corpus.resolve(name));
                AtomicFile.write(corpus.resolve(name), in::transferTo);
            }
        }
        Path prefix = folder.resolve("tokens");
        TokenizeSummary summary;
        try (ProgressBar bar = report.progressBar("tokenize", "B")) {
            summary = new TokenizeJob(Tokenizer.of(ENCODING), List.of(corpus), prefix).appendEndOfText()
                    .progress(bar::update).run();
        }
        Inspection inspection = Inspection.of(prefix, Inspection.Depth.STRUCTURE);
        try (TokenStore store = TokenStore.open(prefix); ChosenDevice device = ChosenDevice.of("auto")) {
            StreamReport stream = stream(store, device);
            report.print(report.isJson() ? fields(summary, inspection, device, stream)
                    : text(prefix, summary, inspection, device, stream));
            return stream.run().interrupted() ? ExitCode.INTERRUPTED : ExitCode.SUCCESS;
        }
    }

    private StreamReport stream(TokenStore store, ChosenDevice device) {
        long opened = System.nanoTime();
        try (DataLoader loader = DataLoader.builder(TokenWindows.of(store, WINDOW_TOKENS)).batchSize(BATCH_SAMPLES)
                        .shuffle(SEED).workers(WORKERS).device(device.device()).open();
                ProgressBar bar = report.progressBar("stream", " batches")) {
            StreamRun.Measured measured = new StreamRun(loader, opened, 0, bar).run(WARMUP_STEPS, STEPS);
            return new StreamReport(measured, WINDOW_TOKENS, WORKERS, loader.memory(), 0, null);
        }
    }

    private static Map<String, @Nullable Object> fields(TokenizeSummary summary, Inspection inspection,
            ChosenDevice device, StreamReport stream) {
        Map<String, @Nullable Object> fields = Json.members("tokenize",
                TokenizeCommand.fields(summary, summary.store().toString()),
                "inspect", inspection.toMap());
        Map<String, @Nullable Object> streamed = Json.members("window", WINDOW_TOKENS, "batch", BATCH_SAMPLES,
                "seed", SEED, "device", device.device().name(), "device_reason", device.reason());
        streamed.putAll(stream.fields());
        fields.put("stream", streamed);
        return fields;
    }

    private String text(Path prefix, TokenizeSummary summary, Inspection inspection, ChosenDevice device,
            StreamReport stream) {
        String store = keep == null ? "out" : ShellText.quoted(prefix);
        return "1. Tokenized a corpus of " + CORPUS.size() + " files:\n"
                + indented(TokenizeCommand.text(summary, summary.store().toString()))
                + "\n2. Inspected the store:\n"
                + indented(InspectCommand.text(inspection))
                + "\n3. Streamed shuffled batches of " + BATCH_SAMPLES + " windows of " + WINDOW_TOKENS
                + "+1 tokens, after a warm-up of " + WARMUP_STEPS + ":\n"
                + indented("device   " + device + "\nmemory   " + stream.memory() + "\n" + stream.text())
                + (keep == null ? "\nAll files were deleted (--keep DIR keeps them).\n"
                        : "\nAll files are in " + keep + ".\n")
                + "\nNext:\n"
                + (keep == null ? "    ./penstock tokenize examples/corpus -o out --append-eot\n" : "")
                + "    ./penstock inspect " + store + " --digest\n"
                + "    ./penstock batches " + store + " --window 128 --batch 16 --limit 3\n"
                + "    ./penstock stream " + store + " --window 128 --batch 16 --steps 1000 --step-ms 2\n"
                + "    ./penstock --help\n";
    }

    private static String indented(String text) {
        return text.indent(4);
    }
}
