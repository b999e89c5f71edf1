// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.collate.Collator;
import io.penstock.diagnose.data.DataDrift;
import io.penstock.diagnose.data.DataFinding;
import io.penstock.diagnose.data.DataProfile;
import io.penstock.diagnose.data.DataShapeException;
import io.penstock.diagnose.data.DataStatistics;
import io.penstock.diagnose.data.DriftLimits;
import io.penstock.format.npy.NpyWriter;
import io.penstock.json.Json;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.sampling.BatchSampler;
import io.penstock.store.IfExists;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.LongSummaryStatistics;
import java.util.concurrent.Callable;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "stats",
        sortOptions = false,
        abbreviateSynopsis = true,
        description = "Summarizes the values in the batches, and reports drift since a baseline or over epochs.",
        footer = {"", "Examples: penstock stats out --window 128 --save base.json",
            "          penstock stats out --window 128 --baseline base.json --fail-on-drift",
            "", "For each field it measures the shares of padding, of constant rows and of non-finite values; for ids"
                + " the frequency of each, for numbers the mean and standard deviation per channel, for lengths both.",
            "", "A change is reported if it exceeds the noise between batches by 5 sigma and also one of these limits:"
                + " 0.01 bits between histograms, 0.1 standard deviations of a mean, 10 %% of a standard deviation,"
                + " 5 points of padding. This needs at least 8 batches on each side, and a shuffled order unless whole"
                + " epochs are read.",
            "", "With --fail-on-drift the exit status is 1 if anything changed."})
final class StatsCommand implements Callable<Integer> {

    @Mixin
    private Report report;

    @Parameters(arity = "1..*", paramLabel = "STORE",
            description = PlanOptions.STORES)
    private List<String> names;

    @Option(names = "--baseline", paramLabel = "FILE",
            description = "Compare with FILE, written by --save. Repeat it to merge the files of several ranks.")
    private List<Path> baselines = new ArrayList<>();

    @Option(names = "--save", paramLabel = "FILE", description = "Save the statistics as a baseline for later runs.")
    private @Nullable Path save;

    @Option(names = "--cost", paramLabel = "FILE",
            description = "Instead of statistics: measure each sample's length L once, and write its cost"
                    + " L*(TOKENS + L), with the TOKENS of --balance-square, to FILE (.npy) for --balance-cost.")
    private @Nullable Path cost;

    @Option(names = "--fail-on-drift", description = "Exit with status 1 if anything changed.")
    private boolean failOnDrift;

    @Option(names = "--allow-other-shape",
            description = "If the baseline has other fields, compare the common ones; default: refuse it.")
    private boolean allowOtherShape;

    @Option(names = "--epochs", defaultValue = "1", paramLabel = "N",
            description = "Epochs to read; later ones are compared with the first. Default: ${DEFAULT-VALUE}.")
    private long epochs;

    @Option(names = "--limit", paramLabel = "BATCHES", description = "Batches to read; default: all of the epochs.")
    private @Nullable Long limit;

    @Option(names = "--every", defaultValue = "1", paramLabel = "BATCHES",
            description = "Sample one of every BATCHES batches; default: ${DEFAULT-VALUE}.")
    private int every;

    @Option(names = "--values", defaultValue = "65536", paramLabel = "N",
            description = "At most so many values per field and batch, evenly spaced; default: ${DEFAULT-VALUE}.")
    private int values;

    @Mixin
    private SampleOptions samples;

    @Mixin
    private PlanOptions plan;

    @Mixin
    private StoreOptions storeOptions;

    @Override
    public Integer call() throws IOException {
        UsageException.requireAtLeast(1, "--epochs", epochs);
        UsageException.requireAtLeast(1, "--every", every);
        UsageException.requireAtLeast(1, "--values", values);
        if (limit != null) {
            UsageException.requireAtLeast(1, "--limit", limit);
        }
        UsageException.requireFile("--save", save);
        UsageException.requireFile("--cost", cost);
        DataProfile baseline = baseline();
        try (SampleSource source = samples.open(names, storeOptions)) {
            if (cost != null) {
                return writeCosts(source, cost);
            }
            BatchSampler batches = plan.batches(source);
            DataStatistics statistics = DataStatistics.builder().every(every).maxValues(values).build();
            long count = count(batches);
            Collator watched = source.collator().then((made, slab) -> {
                if (made.number() < count) {            // workers are ahead of what is taken
                    statistics.apply(made, slab);
                }
            });
            long begin = System.nanoTime();
            long taken;
            try (DataLoader loader = UsageException.valid(plan.loader(source, batches).collator(watched)
                    .endEpoch(batches.startEpoch() + epochs)::open);
                    ProgressBar bar = report.progressBar("stats", " batches")) {
                taken = take(loader, count, statistics, baseline, bar);
            }
            if (taken < 0) {
                return ExitCode.INTERRUPTED;
            }
            DataProfile seen = statistics.profile().orElseThrow();
            List<DataFinding> overEpochs = new ArrayList<>(statistics.findings());
            statistics.findingsSoFar().stream().filter(finding -> overEpochs.stream().noneMatch(known ->
                    known.field().equals(finding.field()) && known.channel() == finding.channel()
                    && known.measure() == finding.measure())).forEach(overEpochs::add);
            List<DataFinding> sinceBaseline = baseline == null ? List.of()
                    : DataDrift.compareShared(baseline, seen, DriftLimits.DEFAULT);
            if (save != null) {
                seen.write(save);
            }
            StatsReport result = new StatsReport(seen, statistics.cost(), taken, System.nanoTime() - begin, baseline,
                    baselines, sinceBaseline, epochs, overEpochs, save);
            report.print(report.isJson() ? result.fields(plan.fields(source, batches))
                    : plan.text(source, batches) + result.text());
            return failOnDrift && result.hasDrift() ? ExitCode.FAILURE : ExitCode.SUCCESS;
        }
    }

    private int writeCosts(SampleSource source, Path file) throws IOException {
        LongUnaryOperator costs = UsageException.valid(() -> plan.costs(source));
        long[] all = LongStream.range(0, source.dataset().size()).map(costs).toArray();
        try (Arena arena = Arena.ofConfined()) {
            NpyWriter.write(file, Tensor.of(arena.allocateFrom(ValueLayout.JAVA_LONG, all), DType.I64, all.length),
                    IfExists.REPLACE);
        }
        LongSummaryStatistics summary = LongStream.of(all).summaryStatistics();
        report.print(report.isJson() ? Json.members("file", file.toString(), "samples", all.length, "least",
                summary.getMin(), "mean", summary.getAverage(), "greatest", summary.getMax())
                : String.format(Locale.ROOT, "cost     %s: %s, %,d to %,d, mean %,.0f%n", file,
                        NumberText.count(all.length, "sample"), summary.getMin(), summary.getMax(),
                        summary.getAverage()));
        return ExitCode.SUCCESS;
    }

    private @Nullable DataProfile baseline() throws IOException {
        DataProfile merged = null;
        for (Path file : baselines) {
            try {
                DataProfile one = DataProfile.read(file);
                merged = merged == null ? one : merged.merge(one);
            } catch (DataShapeException other) {
                throw new BadInputException(file + ": " + other.getMessage(), other);
            }
        }
        return merged;
    }

    private long count(BatchSampler batches) {
        long start = batches.startEpoch();
        long count = 0;
        for (long epoch = start; epoch < start + epochs; epoch++) {
            count += batches.batchesInEpoch(epoch);
        }
        return limit == null ? count : Math.min(limit, count);
    }

    /** Takes all batches and returns their number; -1 after an interrupt. */
    private long take(DataLoader loader, long count, DataStatistics statistics,
            @Nullable DataProfile baseline,
            ProgressBar bar) {
        long taken = 0;
        while (taken < count && loader.hasNext()) {
            if (Thread.interrupted()) {
                return -1;
            }
            loader.next().close();
            if (taken++ == 0 && baseline != null && !allowOtherShape) {
                try {
                    baseline.checkSameShape(statistics.profile().orElseThrow());
                } catch (DataShapeException other) {
                    throw new BadInputException(baselines.getFirst() + ": " + other.getMessage()
                            + " (--allow-other-shape compares the common fields)", other);
                }
            }
            bar.update(taken, count);
        }
        return taken;
    }
}
