// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.device.DeviceStream;
import io.penstock.diagnose.Diagnosis;
import io.penstock.diagnose.Summary.Headroom;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.sampling.BatchSampler;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "stream",
        sortOptions = false,
        abbreviateSynopsis = true,
        description = "Runs a loader with a simulated trainer; reports throughput, step times and the bottleneck.",
        footer = {"", "Example: penstock stream out --window 1024 --batch 32 --steps 10000 --step-ms 5",
            "", "In each step the simulated trainer takes a batch, reads one element of each field if the CPU can reach"
                + " it, holds the batch for --step-ms, and returns it. The wait is the part of a step before the batch"
                + " is on the device. Token rates count input tokens. Percentiles are exact to 1/128.",
            "", "Ctrl-C ends the run early: it reports what was measured until then and exits with status 130."})
final class StreamCommand implements Callable<Integer> {

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

    @Mixin
    private DeviceOptions target;

    @Option(names = "--steps", paramLabel = "N",
            description = "Batches to take, across epochs; default: the rest of the first epoch.")
    private @Nullable Long steps;

    @Option(names = "--step-ms", defaultValue = "0", paramLabel = "T",
            description = "Milliseconds that the trainer holds each batch, asleep; default: ${DEFAULT-VALUE}.")
    private double stepMillis;

    @Option(names = "--warmup", defaultValue = "0", paramLabel = "N",
            description = "Batches to take before measuring; default: ${DEFAULT-VALUE}.")
    private long warmup;

    @Mixin
    private StateOption state;

    @Mixin
    private DiagnosisOptions diagnosing;

    @Mixin
    private StoreOptions storeOptions;

    @Override
    public Integer call() throws IOException {
        checkOptions();
        try (SampleSource source = sources.open(names, samples, storeOptions, plan);
                ChosenDevice device = UsageException.valid(target::open)) {
            BatchSampler batches = state.resumed(plan.batches(source), source,
                    storeOptions.remote());
            long count = steps != null ? steps : PlanOptions.restOfEpoch(batches);
            long stepNanos = Math.round(stepMillis * 1e6);
            long opened = System.nanoTime();
            DataLoaderBuilder builder = plan.loader(source, batches).device(device.device())
                    .transfer(target.transfer());
            diagnosing.set(state.set(builder));
            StreamRun.Measured measured;
            StreamReport result;
            try (DeviceStream stream = diagnosing.openStream(device.device());
                    DataLoader loader = UsageException.valid(builder::open);
                    Diagnosis diagnosis = diagnosing.open(loader);
                    DiagnosisOptions.Offer _ = diagnosing.offer(diagnosis);
                    ProgressBar bar = report.progressBar("stream", " batches")) {
                try {
                    measured = new StreamRun(loader, stream, opened, stepNanos, bar)
                            .run(warmup, count, () -> diagnosing.begin(diagnosis));
                } catch (RuntimeException e) {
                    state.saveAfter(e, loader, storeOptions.remote());
                    throw e;
                }
                Headroom headroom = diagnosing.synthetic(diagnosis, loader, measured, stepNanos, bar);
                result = new StreamReport(measured, source.windowTokens(), plan.workers(), loader.memory(), stepNanos,
                        headroom);
                if (measured.firstBatchNanos() < 0 && !measured.interrupted()) {
                    plan.reportNoBatch(source, batches, report);
                }
                // The figures first: what is written after them may fail.
                report.print(report.isJson() ? fields(source, batches, device, result, diagnosis)
                        : text(source, batches, device, result, diagnosis));
                state.save(measured.end(), storeOptions.remote());
                diagnosing.write(diagnosis);
            }
            if (!report.isJson()) {
                report.print(diagnosing.text() + state.text(measured.end()));
            }
            return measured.interrupted() ? ExitCode.INTERRUPTED : ExitCode.SUCCESS;
        }
    }

    private void checkOptions() {
        UsageException.requireAtLeast(0, "--warmup", warmup);
        if (steps != null) {
            UsageException.requireAtLeast(1, "--steps", steps);
        }
        if (!(stepMillis >= 0 && stepMillis <= 1e9)) {
            throw new UsageException("--step-ms: found " + stepMillis + ", expected 0 to 10^9");
        }
        state.check();
        diagnosing.check();
    }

    private Map<String, @Nullable Object> fields(SampleSource source, BatchSampler batches, ChosenDevice device,
            StreamReport result, @Nullable Diagnosis diagnosis) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>(plan.fields(source, batches));
        fields.put("device", device.device().name());
        fields.put("device_reason", device.reason());
        fields.put("start_epoch", batches.startEpoch());
        fields.put("start_position", batches.startPosition());
        fields.put("warmup_steps", warmup);
        fields.put("stand_in_step_ms", stepMillis);
        fields.putAll(diagnosing.clockFields(diagnosis));
        fields.putAll(diagnosing.pastFields(diagnosis));
        fields.putAll(result.fields());
        return fields;
    }

    private String text(SampleSource source, BatchSampler batches, ChosenDevice device, StreamReport result,
            @Nullable Diagnosis diagnosis) {
        return plan.text(source, batches)
                + "device   " + device + "\n"
                + "memory   " + result.memory() + "\n\n"
                + diagnosing.clockText(diagnosis)
                + diagnosing.pastText(diagnosis)
                + result.text();
    }
}
