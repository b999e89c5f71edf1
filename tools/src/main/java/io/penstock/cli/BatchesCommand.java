// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.internal.Sha256;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.WorkBalance;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "batches",
        sortOptions = false,
        abbreviateSynopsis = true,
        description = "Prints the batches that a trainer would receive: their samples and their fields.",
        footer = {"", "Example: penstock batches out --window 1024 --batch 32 --limit 3 --digest",
            "", "Prints one line per batch. With --json each line is an object with: batch (counted from the start of"
                + " --epoch, skipped batches included; from 0 if --state continues a run), epoch, samples (indices in"
                + " the store), count, valid (samples with weight), fields (name, dtype, shape, sha256).",
            "", "The batches do not depend on --workers, --prefetch, --read or --read-ahead."})
final class BatchesCommand implements Callable<Integer> {

    private static final int SAMPLES_SHOWN = 6;
    private static final long BALANCE_STEPS = 1000;

    @Mixin
    private Report report;

    @Parameters(arity = "0..*", paramLabel = "STORE",
            description = PlanOptions.STORES)
    private List<String> names = List.of();

    @Mixin
    private SourceOptions sources;

    @Mixin
    private SampleOptions samples;

    @Mixin
    private PlanOptions plan;

    @Option(names = "--limit", paramLabel = "BATCHES",
            description = "Batches to print; default: the rest of the epoch.")
    private @Nullable Long limit;

    @Mixin
    private StateOption state;

    @Option(names = "--explain-balance",
            description = "Instead of batches: print the slowest rank's work over the mean of the ranks, without"
                    + " --balance-window and with it.")
    private boolean explainBalance;

    @Option(names = "--digest", description = "Print the SHA-256 of each field (row-major, little-endian).")
    private boolean digest;

    @Mixin
    private StoreOptions storeOptions;

    @Override
    public Integer call() throws IOException {
        state.check();
        if (limit != null) {
            UsageException.requireAtLeast(0, "--limit", limit);
        }
        try (SampleSource source = sources.open(names, samples, storeOptions, plan)) {
            if (explainBalance) {
                return explainBalance(plan.evenness(source, limit == null ? BALANCE_STEPS : limit));
            }
            BatchSampler batches = state.resumed(plan.batches(source), source,
                    storeOptions.remote());
            long count = limit == null ? PlanOptions.restOfEpoch(batches) : limit;
            try (DataLoader loader = UsageException.valid(state.set(plan.loader(source, batches))::open)) {
                long taken = 0;
                try {
                    for (; taken < count && loader.hasNext(); taken++) {
                        try (Batch batch = loader.next()) {
                            if (!report.printLine(report.isJson() ? fields(batch) : text(batch))) {
                                return ExitCode.FAILURE;
                            }
                        }
                    }
                } catch (RuntimeException e) {
                    state.saveAfter(e, loader, storeOptions.remote());
                    throw e;
                }
                if (taken == 0 && count > 0) {
                    plan.reportNoBatch(source, batches, report);
                }
                state.save(loader.state(), storeOptions.remote());
            }
        }
        return ExitCode.SUCCESS;
    }

    private int explainBalance(List<WorkBalance.Evenness> evenness) {
        WorkBalance.Evenness before = evenness.getFirst();
        WorkBalance.Evenness after = evenness.getLast();
        if (report.isJson()) {
            report.printLine(Json.members("steps", before.steps(), "steps_after", after.steps(), "before", Json.members(
                    "mean", before.mean(),
                    "worst", before.worst()), "after", Json.members("mean", after.mean(), "worst", after.worst())));
        } else {
            report.printLine("the slowest rank's work over the mean of the ranks, in "
                    + NumberText.count(before.steps(), "step") + (after.steps() == before.steps() ? ""
                            : ", after in " + NumberText.count(after.steps(), "step")));
            report.printLine(row("before", before));
            report.printLine(row("after", after));
        }
        return ExitCode.SUCCESS;
    }

    private static String row(String which, WorkBalance.Evenness evenness) {
        return String.format(Locale.ROOT, "  %-6s  mean %.3f  worst %.3f", which, evenness.mean(), evenness.worst());
    }

    /** The batch's number in the run from {@code --epoch} on, or in one that a state continues. */
    private long number(Batch batch) {
        return (state.isResumed() ? 0 : plan.skip()) + batch.number();
    }

    private Map<String, @Nullable Object> fields(Batch batch) {
        Map<String, @Nullable Object> fields = Json.members("batch", number(batch),
                "epoch", batch.epoch(),
                "samples", LongStream.range(0, batch.count()).map(row -> batch.sample((int) row)).boxed().toList(),
                "count", batch.count(), "valid", batch.valid());
        List<Map<String, @Nullable Object>> tensors = new ArrayList<>();
        for (TensorSpec spec : batch.fields()) {
            Map<String, @Nullable Object> tensor = Json.members("name", spec.name(), "dtype", spec.dtype().toString(),
                    "shape", LongStream.of(spec.shape()).boxed().toList());
            if (digest) {
                tensor.put("sha256", sha256(batch.tensor(spec.name())));
            }
            tensors.add(tensor);
        }
        fields.put("fields", tensors);
        return fields;
    }

    private String text(Batch batch) {
        StringBuilder line = new StringBuilder();
        line.append("batch ").append(number(batch)).append(", epoch ").append(batch.epoch())
                .append(": ").append(NumberText.count(batch.count(), "sample"));
        if (batch.valid() < batch.count()) {
            line.append(" (").append(batch.valid()).append(" valid)");
        }
        line.append(" [");
        for (int row = 0; row < Math.min(batch.count(), SAMPLES_SHOWN); row++) {
            line.append(row == 0 ? "" : " ").append(batch.sample(row));
        }
        line.append(batch.count() > SAMPLES_SHOWN ? " …]" : "]");
        for (TensorSpec spec : batch.fields()) {
            line.append("  ").append(spec);
            if (digest) {
                line.append(" sha256 ").append(sha256(batch.tensor(spec.name())));
            }
        }
        return line.toString();
    }

    private static String sha256(Tensor tensor) {
        return Sha256.hex(tensor.segment(), _ -> { });
    }
}
