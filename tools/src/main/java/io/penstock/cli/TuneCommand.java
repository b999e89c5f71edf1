// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.device.Device;
import io.penstock.io.Location;
import io.penstock.io.publish.AtomicFile;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.LoaderSettings;
import io.penstock.loader.TransferMode;
import io.penstock.sampling.BatchSampler;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.Store;
import io.penstock.tune.LoaderSource;
import io.penstock.tune.LoaderWorkbench;
import io.penstock.tune.PageCache;
import io.penstock.tune.SearchPoint;
import io.penstock.tune.SearchSpace;
import io.penstock.tune.Tuner;
import io.penstock.tune.Tuning;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "tune",
        sortOptions = false,
        abbreviateSynopsis = true,
        description = "Finds the cheapest of the fastest settings for this data and machine.",
        footer = {"", "Example: penstock tune out --window 1024 --batch 32 -o settings.json",
            "", "It varies workers, read mode, prefetch and, if batches are copied, device slots, one after the other."
                + " It measures each setting in short, interleaved rounds with a trainer that takes batches as fast as"
                + " they come, and compares settings within a round. Of the settings that are equally fast within"
                + " noise, the cheapest wins.",
            "", "--workers, --prefetch, --read and --settings set the starting point of the search.",
            "", "Ctrl-C ends the search early: it reports and writes the best settings so far and exits with status"
                + " 130."})
final class TuneCommand implements Callable<Integer> {

    @Mixin
    private Report report;

    @Parameters(arity = "1..*", paramLabel = "STORE",
            description = PlanOptions.STORES)
    private List<String> names;

    @Option(names = "--budget", defaultValue = "60s", paramLabel = "TIME", converter = AmountText.Time.class,
            description = "Time to search, for example 30s or 2m; default: ${DEFAULT-VALUE}.")
    private long budgetNanos;

    @Option(names = "--memory", defaultValue = "1G", paramLabel = "BYTES", converter = AmountText.Bytes.class,
            description = "Memory limit for a setting's slots, for example 64M or 2G; default: ${DEFAULT-VALUE}.")
    private long memoryBytes;

    @Option(names = "--step-ms", paramLabel = "T",
            description = "Training-step time in milliseconds; pick the cheapest settings that fully overlap loading"
                    + " with it.")
    private @Nullable Double stepMillis;

    @Option(names = "--cold",
            description = "Drop the store from the page cache before each round; fails if the OS keeps it there.")
    private boolean cold;

    @Option(names = {"-o", "--output"}, paramLabel = "FILE",
            description = "Write the settings to FILE, for 'stream --settings' and LoaderSettings.read.")
    private @Nullable Path output;

    @Option(names = "--svg", paramLabel = "FILE", description = "Write a chart of the throughput curves to FILE.")
    private @Nullable Path svg;

    @Option(names = "--search-seed", defaultValue = "42", paramLabel = "NUMBER",
            description = "Seed of the order of the rounds; default: ${DEFAULT-VALUE}.")
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
        PageCache pages = pages();
        try (ChosenDevice device = UsageException.valid(target::open);
                SampleSource source = samples.open(names, storeOptions)) {
            BatchSampler batches = plan.batches(source);
            Map<String, @Nullable Object> fields = plan.fields(source, batches);
            String text = plan.text(source, batches);
            LoaderSource loaders = () -> new LoaderSource.Opened(builder(source, batches, device.device()), () -> { });
            if (cold) {
                source.closer().run();
                loaders = () -> reopened(device.device());
            }
            TuneReport result = new TuneReport(source.path(), source.windowTokens(), cold,
                    pages.residency(), budgetNanos, memoryBytes, device.toString());
            return tune(pages, new LoaderWorkbench(loaders, cold ? pages : null), result, text, fields);
        }
    }

    /** The local files of the stores: those at their paths, and those that an index names, such as a manifest's. */
    private PageCache pages() throws IOException {
        List<Path> files = new ArrayList<>();
        for (Location location : storeOptions.locate(names)) {
            Path path = location.local().orElse(null);
            if (path == null) {
                continue;
            }
            files.add(path);
            try (Store store = storeOptions.open(location)) {
                Inspection.of(location, store, Inspection.Depth.STRUCTURE, Progress.NONE).files()
                        .forEach(file -> file.local().ifPresent(files::add));
            } catch (UnsupportedOperationException _) {
                // a format of someone else's, whose files are those at its path
            }
        }
        return PageCache.of(files);
    }

    private void checkOptions() {
        if (stepMillis != null && !(stepMillis > 0 && stepMillis <= 1e6)) {
            throw new UsageException("--step-ms: found " + stepMillis + ", expected more than 0, up to 10^6");
        }
        UsageException.requireFile("--output", output);
        UsageException.requireFile("--svg", svg);
    }

    private DataLoaderBuilder builder(SampleSource source, BatchSampler batches, Device device) {
        return plan.loader(source, batches).device(device).transfer(target.transfer());
    }

    /** A mapped page does not leave the page cache, so a cold round needs a closed store. */
    private LoaderSource.Opened reopened(Device device) throws IOException {
        SampleSource source = samples.open(names, storeOptions);
        try {
            return new LoaderSource.Opened(builder(source, plan.batches(source), device), source::close);
        } catch (Throwable t) {
            source.close();
            throw t;
        }
    }

    private int tune(PageCache pages, LoaderWorkbench bench, TuneReport result, String text,
            Map<String, @Nullable Object> fields) throws IOException {
        boolean copies = UsageException.valid(bench::copies);
        int processors = Runtime.getRuntime().availableProcessors();
        SearchSpace space = copies ? SearchSpace.copying(processors) : SearchSpace.inPlace(processors);
        Tuner tuner = new Tuner(bench, space, standard(bench.slabBytes(), copies)).budgetNanos(budgetNanos)
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
            tuning = UsageException.valid(() -> search(tuner));
        }
        double after = pages.residency();
        SearchPoint chosen = tuning.chosen();
        if (chosen != null) {
            write(tuning, chosen, result, after);
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

    /** A loader's defaults, overridden by the options. */
    private SearchPoint standard(long slabBytes, boolean copies) {
        LoaderSettings given = plan.settings();
        int workers = plan.workers();
        LoaderSettings defaults = LoaderSettings.defaults(workers, slabBytes,
                copies ? TransferMode.COPY : TransferMode.IN_PLACE);
        return new SearchPoint(workers,
                plan.prefetch().orElse(given.prefetch().orElseGet(defaults.prefetch()::getAsInt)),
                plan.readMode().or(given::readMode).or(defaults::readMode).orElseThrow(),
                given.deviceSlots().orElseGet(defaults.deviceSlots()::getAsInt));
    }

    private void write(Tuning tuning, SearchPoint chosen, TuneReport result, double residencyAfter) throws IOException {
        if (output != null) {
            chosen.settings(result.note(tuning, chosen, residencyAfter, LocalDate.now())).write(output);
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
                + (svg == null ? "" : "Chart written to " + svg + ".\n");
    }
}
