// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.device.Device;
import io.penstock.device.DeviceStream;
import io.penstock.diagnose.Diagnosis;
import io.penstock.diagnose.Distribution;
import io.penstock.diagnose.Summary;
import io.penstock.diagnose.Summary.DeviceSteps;
import io.penstock.diagnose.Summary.Headroom;
import io.penstock.diagnose.metrics.Metrics;
import io.penstock.diagnose.metrics.PrometheusEndpoint;
import io.penstock.diagnose.report.ChromeTrace;
import io.penstock.diagnose.report.HtmlReport;
import io.penstock.diagnose.report.TraceWindow;
import io.penstock.diagnose.watch.StatusFile;
import io.penstock.io.publish.AtomicFile;
import io.penstock.json.Json;
import io.penstock.json.RecordJson;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.Replay;
import io.penstock.text.NumberText;
import io.penstock.text.ShellText;
import io.penstock.text.TimeText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Reports and traces of a run. */
final class DiagnosisOptions {

    /** The HTML page in a report's folder. */
    static final String HTML_FILE = "report.html";
    /** The synthetic run can be short: all its steps are alike. */
    private static final long SYNTHETIC_STEPS = 2000;
    private static final double SYNTHETIC_SECONDS = 3;
    private static final int MOST_PORT = 65_535;

    @Option(names = "--report", paramLabel = "DIR",
            description = "Write a diagnosis to DIR (final_summary.json, final_summary.txt, report.html), for penstock"
                    + " report and compare.")
    private @Nullable Path folder;

    @Option(names = "--run-name", paramLabel = "NAME",
            description = "Name of the run in its report; default: ${DEFAULT-VALUE}.")
    private String name = "penstock";

    @Option(names = "--synthetic",
            description = "Then replay one loaded batch and report real throughput as a share of that ceiling.")
    private boolean synthetic;

    @Option(names = "--trace", paramLabel = "FILE",
            description = "Write a trace of the steps to FILE, for ui.perfetto.dev or chrome://tracing.")
    private @Nullable Path trace;

    @Option(names = "--trace-steps", paramLabel = "WAIT,WARMUP,ACTIVE",
            description = "Steps to trace: skip WAIT and WARMUP steps, then trace ACTIVE steps. Default: the latest"
                    + " steps on record.")
    private TraceWindow window = TraceWindow.ALL;

    @Option(names = "--device-clock",
            description = "Take batches on a stream and time copies, stages and the stream's stalls by the device's"
                    + " clock; --report judges by it. For batches that are copied.")
    private boolean deviceClock;

    @Option(names = "--watch", paramLabel = "PORT|FOLDER",
            description = "Offer this run to penstock watch: on a port of this machine, with metrics for Prometheus; or"
                    + " as a small file in FOLDER.")
    private @Nullable String watch;

    @Option(names = "--baseline", paramLabel = "FILE",
            description = "Compare this run with earlier ones of the same data, settings and machine, which FILE keeps;"
                    + " this run is added.")
    private @Nullable Path baseline;

    /** Ends when the run ends. */
    @FunctionalInterface
    interface Offer extends AutoCloseable {
        @Override
        void close();
    }

    void check() {
        UsageException.requireOutputFolder("--report", folder);
        UsageException.requireFile("--trace", trace);
        UsageException.requireFile("--baseline", baseline);
        if (watch != null && isPort() && (Integer.parseInt(watch) < 1 || Integer.parseInt(watch) > MOST_PORT)) {
            throw new UsageException("--watch: found port " + watch + ", expected 1 to 65535");
        }
    }

    void set(DataLoaderBuilder builder) {
        builder.name(name);
        if (deviceClock) {
            builder.withDeviceClock();
        }
    }

    /** {@return the stream to take batches on; null without {@code --device-clock}} */
    @Nullable DeviceStream openStream(Device device) {
        return deviceClock ? device.openStream("trainer") : null;
    }

    /** {@return a diagnosis that has begun; null if no option asks for one} */
    @Nullable Diagnosis open(DataLoader loader) throws IOException {
        if (deviceClock && loader.memory().deviceSlots() == 0) {
            throw new UsageException("--device-clock: found batches that are used in place, expected --transfer copy"
                    + " or a CUDA device");
        }
        if (folder == null && trace == null && watch == null && baseline == null && !synthetic && !deviceClock) {
            return null;
        }
        Diagnosis diagnosis = Diagnosis.of(loader);
        if (baseline != null) {
            try {
                diagnosis.baseline(baseline);
            } catch (IOException e) {
                diagnosis.close();
                throw e;
            }
        }
        return diagnosis;
    }

    private boolean isPort() {
        return watch != null && watch.matches("\\d{1,7}");
    }

    /** Offers the run to those who watch it, if {@code --watch} asks for that. */
    Offer offer(@Nullable Diagnosis diagnosis) throws IOException {
        if (watch == null || diagnosis == null) {
            return () -> { };
        }
        return isPort() ? PrometheusEndpoint.open(Metrics.of(name, diagnosis), diagnosis::status,
                        Integer.parseInt(watch))::close
                : StatusFile.open(diagnosis::status, diagnosis.loader().info().rank(), Path.of(watch))::close;
    }

    /** What the device's clock says, for JSON; nothing without {@code --device-clock}. */
    Map<String, @Nullable Object> clockFields(@Nullable Diagnosis diagnosis) {
        if (diagnosis == null || !deviceClock) {
            return Map.of();
        }
        DeviceSteps steps = diagnosis.summary().input().onDevice();
        return Json.members("device_clock", steps == null ? null : RecordJson.members(steps));
    }

    /** The same as a line of text. */
    String clockText(@Nullable Diagnosis diagnosis) {
        if (diagnosis == null || !deviceClock) {
            return "";
        }
        DeviceSteps steps = diagnosis.summary().input().onDevice();
        return "clock    " + (steps == null ? "too few steps for the device's clock"
                : "copy p50 " + median(steps.copyMillis()) + ", stages p50 " + median(steps.stageMillis())
                        + ", stream stalled p50 " + median(steps.exposedMillis()) + ", overlap "
                        + NumberText.percent(steps.overlap())) + "\n";
    }

    /** This run beside its past, for JSON; nothing without {@code --baseline}. */
    Map<String, @Nullable Object> pastFields(@Nullable Diagnosis diagnosis) {
        return diagnosis == null || baseline == null ? Map.of()
                : Json.members("past", diagnosis.past().map(RecordJson::members).orElse(null));
    }

    /** The same as a line of text. */
    String pastText(@Nullable Diagnosis diagnosis) {
        if (diagnosis == null || baseline == null) {
            return "";
        }
        return "past     " + diagnosis.past().map(past -> (past.isSlower() ? "SLOWER: " : "") + past.text())
                .orElse("no earlier run like this, or fewer than 200 steps") + "\n";
    }

    private static String median(Distribution millis) {
        return TimeText.millis(millis.p50() * 1e6);
    }

    /** The warm-up is over. */
    void begin(@Nullable Diagnosis diagnosis) {
        if (diagnosis != null) {
            diagnosis.restart();
        }
    }

    /**
     * Measures the same simulated trainer on one batch that is loaded already; null without {@code --synthetic}, or if
     * the real run measured nothing.
     */
    @Nullable Headroom synthetic(@Nullable Diagnosis diagnosis, DataLoader loader, StreamRun.Measured real,
            long stepNanos, ProgressBar bar) {
        if (diagnosis == null || !synthetic || real.steps() == 0 || real.interrupted() || !loader.hasNext()) {
            return null;
        }
        diagnosis.stop();
        long steps = Math.clamp((long) (SYNTHETIC_SECONDS * 1e9 / Math.max(1, stepNanos)), 1, SYNTHETIC_STEPS);
        try (Replay replay = loader.replay()) {
            var run = new StreamRun(loader, replay::next, () -> true, System.nanoTime(), stepNanos, bar);
            StreamRun.Measured ceiling = run.run(Math.ceilDiv(steps, 10L), steps);
            if (ceiling.nanos() == 0 || ceiling.interrupted()) {
                return null;
            }
            return diagnosis.headroom(ceiling.samples() * 1e9 / ceiling.nanos(), real.samples() * 1e9 / real.nanos());
        }
    }

    /** Writes the report and the trace, if the options ask for them. */
    void write(@Nullable Diagnosis diagnosis) throws IOException {
        if (diagnosis == null) {
            return;
        }
        if (folder != null) {
            Summary summary = diagnosis.summary();
            summary.write(folder);
            AtomicFile.write(folder.resolve(HTML_FILE), HtmlReport.of(summary));
        }
        if (trace != null) {
            ChromeTrace.write(diagnosis.recording(), window, trace);
        }
    }

    /** Where they were written, as text. */
    String text() {
        return (folder == null ? "" : "Report written to " + folder + ": open " + folder.resolve(HTML_FILE)
                + ", or run\n    penstock report " + ShellText.quoted(folder) + "\n")
                + (trace == null ? "" : "Trace written to " + trace + ": open it in ui.perfetto.dev.\n");
    }
}
