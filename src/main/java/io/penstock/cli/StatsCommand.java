package io.penstock.cli;

import io.penstock.collate.Collator;
import io.penstock.diagnose.data.DataDrift;
import io.penstock.diagnose.data.DataFinding;
import io.penstock.diagnose.data.DataProfile;
import io.penstock.diagnose.data.DataShapeException;
import io.penstock.diagnose.data.DataStatistics;
import io.penstock.diagnose.data.DriftLimits;
import io.penstock.loader.DataLoader;
import io.penstock.sampling.BatchSampler;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code penstock stats}. */
@Command(
        name = "stats",
        sortOptions = false,
        description = "Says what is in the batches, and what has changed since a baseline or over epochs.",
        footer = {"",
            "Measured of each field: padding, rows of one value, values that are no numbers; of ids how often each is"
                + " met, of numbers mean and deviation by channel, of lengths both. A change is reported if it stands"
                + " 5 sigma out of the noise between batches and is of a size that matters: 0.01 bits between"
                + " histograms, 0.1 deviations of a mean, 10 %% of a deviation, 5 points of padding. That takes at"
                + " least 8 batches on either side, and an order that is shuffled where not whole epochs are read.",
            "", "With --fail-on-drift the exit status is 1 if anything has changed.",
            "", "Example: penstock stats out --window 128 --save baseline.json",
            "         penstock stats out --window 128 --baseline baseline.json --fail-on-drift"})
final class StatsCommand implements Callable<Integer> {

    @Mixin
    private Report report;

    @Parameters(arity = "1..*", paramLabel = "STORE",
            description = "A store, by one of its files or its folder. Several are taken one behind the other, or mixed"
                    + " by --weights.")
    private List<Path> paths;

    @Option(names = "--baseline", paramLabel = "FILE",
            description = "What to compare with, as --save wrote it. Repeated: the files of several ranks, merged.")
    private List<Path> baselines = new ArrayList<>();

    @Option(names = "--save", paramLabel = "FILE", description = "Write what was seen, as a baseline for later runs.")
    private Path save;

    @Option(names = "--fail-on-drift", description = "Exit with 1 if anything has changed.")
    private boolean failOnDrift;

    @Option(names = "--allow-other-shape",
            description = "Compare the fields that a baseline of other fields has too; default: refuse it.")
    private boolean allowOtherShape;

    @Option(names = "--epochs", defaultValue = "1", paramLabel = "N",
            description = "How many epochs to read; later ones are compared with the first. Default: the one that it"
                    + " begins in.")
    private long epochs;

    @Option(names = "--limit", paramLabel = "BATCHES", description = "End after so many; default: with the epochs.")
    private Long limit;

    @Option(names = "--every", defaultValue = "1", paramLabel = "BATCHES",
            description = "Look at one batch of so many; default: at each.")
    private int every;

    @Option(names = "--values", defaultValue = "65536", paramLabel = "N",
            description = "The most values of a field to read in a batch, spread evenly; default: ${DEFAULT-VALUE}.")
    private int values;

    @Mixin
    private SampleOptions samples;

    @Mixin
    private PlanOptions plan;

    @Mixin
    private StoreOptions storeOptions;

    @Override
    public Integer call() throws IOException {
        plan.check("--epochs", epochs, 1);
        plan.check("--every", every, 1);
        plan.check("--values", values, 1);
        if (limit != null) {
            plan.check("--limit", limit, 1);
        }
        plan.checkFolder("--save", save);
        DataProfile baseline = baseline();
        try (SampleSource source = samples.open(paths, storeOptions)) {
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
            try (DataLoader loader = plan.valid(plan.loader(source, batches).collator(watched)
                    .endEpoch(batches.startState().epoch() + epochs)::open);
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

    private DataProfile baseline() throws IOException {
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
        long start = batches.startState().epoch();
        long count = 0;
        for (long epoch = start; epoch < start + epochs; epoch++) {
            count += batches.batchesInEpoch(epoch);
        }
        return limit == null ? count : Math.min(limit, count);
    }

    /** Takes all batches, and says how many there were; -1 after an interrupt. */
    private long take(DataLoader loader, long count, DataStatistics statistics, DataProfile baseline,
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
                            + " (--allow-other-shape compares what both have)", other);
                }
            }
            bar.update(taken, count);
        }
        return taken;
    }
}
