package io.penstock.cli;

import io.penstock.device.Device;
import io.penstock.io.publish.AtomicFile;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.LoaderSettings;
import io.penstock.sampling.BatchSampler;
import io.penstock.tune.Candidate;
import io.penstock.tune.LoaderSource;
import io.penstock.tune.LoaderWorkbench;
import io.penstock.tune.PageCache;
import io.penstock.tune.SearchSpace;
import io.penstock.tune.Tuner;
import io.penstock.tune.Tuning;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code penstock tune}. */
@Command(
        name = "tune",
        sortOptions = false,
        description = "Finds the settings that load this data fastest on this machine, of those as fast the cheapest.",
        footer = {"",
            "It measures workers, read modes, prefetch and, where batches are copied, device slots, one after the"
                + " other, in short rounds that take turns, with a trainer that takes batches as fast as they come."
                + " Settings are compared within rounds; the cheapest that is as fast as the fastest wins.",
            "", "--workers, --prefetch, --read and --settings say where the search begins.",
            "", "Ctrl-C ends it early: it reports and writes what is known by then, and the exit status is 130.",
            "", "Example: penstock tune out --window 1024 --batch 32 --budget 30s -o settings.json"})
final class TuneCommand implements Callable<Integer> {


    @Mixin
    private Report report;

    @Parameters(arity = "1..*", paramLabel = "STORE",
            description = "A store, by one of its files or its folder. Several are taken one behind the other, or mixed"
                    + " by --weights.")
    private List<Path> paths;

    @Option(names = "--budget", defaultValue = "60s", paramLabel = "TIME", converter = AmountText.Time.class,
            description = "How long to search, such as 30s or 2m; default: ${DEFAULT-VALUE}.")
    private long budgetNanos;

    @Option(names = "--memory", defaultValue = "1G", paramLabel = "BYTES", converter = AmountText.Bytes.class,
            description = "The most memory of a setting's slots, such as 64M or 2G; default: ${DEFAULT-VALUE}.")
    private long memoryBytes;

    @Option(names = "--step-ms", paramLabel = "T",
            description = "Want the cheapest setting that hides the loading beside a step of this length.")
    private Double stepMillis;

    @Option(names = "--cold",
            description = "Have the system forget the store's pages before each round; fails where it does not.")
    private boolean cold;

    @Option(names = {"-o", "--output"}, paramLabel = "FILE",
            description = "Write the settings, for 'stream --settings' and LoaderSettings.read.")
    private Path output;

    @Option(names = "--svg", paramLabel = "FILE", description = "Draw the throughput curves.")
    private Path svg;

    @Option(names = "--search-seed", defaultValue = "42", paramLabel = "NUMBER",
            description = "What the order of the rounds is drawn from; default: ${DEFAULT-VALUE}.")
    private long searchSeed;

    @Mixin
    private DeviceOptions target;

    @Mixin
    private SampleOptions samples;

    @Mixin
    private PlanOptions plan;

    @Mixin
    private StoreOptions storeOptions;

    @Override
    public Integer call() throws IOException {
        checkOptions();
        PageCache pages = PageCache.of(paths);
        try (ChosenDevice device = plan.valid(target::open);
                SampleSource source = samples.open(paths, storeOptions)) {
            BatchSampler batches = plan.batches(source);
            Map<String, Object> fields = plan.fields(source, batches);
            String text = plan.text(source, batches);
            LoaderSource loaders = () -> new LoaderSource.Opened(builder(source, batches, device.device()), () -> { });
            if (cold) {
                source.closer().run();
                loaders = () -> reopened(device.device());
            }
            TuneReport result = new TuneReport(source.path().toString(), source.windowTokens(), cold,
                    pages.residency(), budgetNanos, memoryBytes, device.toString());
            return tune(pages, new LoaderWorkbench(loaders, cold ? pages : null), result, text, fields);
        }
    }

    private void checkOptions() {
        if (stepMillis != null && !(stepMillis > 0 && stepMillis <= 1e6)) {
            throw plan.wrong("--step-ms: found " + stepMillis + ", expected more than 0, up to 10^6");
        }
        plan.checkFolder("--output", output);
        plan.checkFolder("--svg", svg);
    }

    private DataLoaderBuilder builder(SampleSource source, BatchSampler batches, Device device) {
        return plan.loader(source, batches).device(device).transfer(target.transfer());
    }

    /** A mapped page does not leave the page cache, so a cold round wants a store that was closed. */
    private LoaderSource.Opened reopened(Device device) throws IOException {
        SampleSource source = samples.open(paths, storeOptions);
        try {
            return new LoaderSource.Opened(builder(source, plan.batches(source), device), source::close);
        } catch (Throwable t) {
            source.close();
            throw t;
        }
    }

    private int tune(PageCache pages, LoaderWorkbench bench, TuneReport result, String text,
            Map<String, Object> fields) throws IOException {
        boolean copies = plan.valid(bench::copies);
        SearchSpace space = SearchSpace.of(Runtime.getRuntime().availableProcessors(), copies);
        Tuner tuner = new Tuner(bench, space, standard(bench.slabBytes())).budgetNanos(budgetNanos)
                .memoryBytes(memoryBytes).seed(searchSeed);
        if (stepMillis != null) {
            tuner.stepNanos(Math.round(stepMillis * 1e6));
        }
        if (!report.isJson()) {
            report.print(text + result.intention(space, copies, pages, tuner.roundNanos()));
        }
        Tuning tuning;
        try (ProgressBar bar = report.progressBar("tune", "")) {
            tuner.progress(spent -> bar.share(Math.min(spent, budgetNanos), budgetNanos));
            tuning = plan.valid(() -> search(tuner));
        }
        double after = pages.residency();
        if (tuning.chosen() != null) {
            write(tuning, result, after);
        }
        if (report.isJson()) {
            fields.remove("read");
            fields.putAll(result.fields(after));
            fields.putAll(tuning.toMap());
            report.print(fields);
        } else {
            report.print(result.text(tuning, after) + written(tuning));
        }
        return tuning.interrupted() ? ExitCode.INTERRUPTED : ExitCode.SUCCESS;
    }

    private static Tuning search(Tuner tuner) {
        try {
            return tuner.run();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What a loader does by itself, but for what the options say. */
    private Candidate standard(long slabBytes) {
        LoaderSettings told = plan.settings();
        int workers = plan.workers();
        LoaderSettings untold = LoaderSettings.defaults(workers, slabBytes);
        return new Candidate(workers,
                plan.prefetch().orElse(told.prefetch().orElseGet(untold.prefetch()::getAsInt)),
                plan.readMode().or(told::readMode).or(untold::readMode).orElseThrow(),
                told.deviceSlots().orElseGet(untold.deviceSlots()::getAsInt));
    }

    private void write(Tuning tuning, TuneReport result, double residencyAfter) throws IOException {
        if (output != null) {
            tuning.chosen().settings(result.note(tuning, residencyAfter, LocalDate.now())).write(output);
        }
        if (svg != null) {
            AtomicFile.write(svg, result.chart(tuning, residencyAfter));
        }
    }

    private String written(Tuning tuning) {
        if (tuning.chosen() == null) {
            return "";
        }
        return (output == null ? "" : "Settings written to " + output + ".\n")
                + (svg == null ? "" : "Curves drawn in " + svg + ".\n");
    }
}
