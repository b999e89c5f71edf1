// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.report;

import io.penstock.diagnose.Cause;
import io.penstock.diagnose.Distribution;
import io.penstock.diagnose.Finding;
import io.penstock.diagnose.Severity;
import io.penstock.diagnose.Summary;
import io.penstock.diagnose.Summary.CauseRow;
import io.penstock.diagnose.Summary.InputPipeline;
import io.penstock.diagnose.Summary.InterludeRow;
import io.penstock.diagnose.Summary.MachineUse;
import io.penstock.diagnose.Summary.PartRow;
import io.penstock.diagnose.Summary.Prediction;
import io.penstock.diagnose.Summary.RankSteps;
import io.penstock.diagnose.Summary.SampleStep;
import io.penstock.diagnose.Summary.SampleUse;
import io.penstock.diagnose.Summary.SlowRow;
import io.penstock.diagnose.Summary.StageRow;
import io.penstock.diagnose.Summary.StepPoint;
import io.penstock.diagnose.Verdict;
import io.penstock.diagnose.markup.Markup;
import io.penstock.diagnose.report.Bars.Bar;
import io.penstock.text.NumberText;
import io.penstock.text.TimeText;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.DoubleFunction;
import java.util.function.IntFunction;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A run's summary as one HTML page: what limits training, the parts of a step, the run over time, the stages' times, a
 * timeline of a few batches, predictions for other settings. The page needs no network, script or other file, and
 * follows the reader's light or dark mode.
 */
public final class HtmlReport {

    private static final String STYLE = resource("report.css");
    /** The widths of a chart, in pixels of its text. */
    private static final int WIDE = 860;
    private static final int NARROW = 380;

    private final Summary summary;
    /** NaN without one. */
    private final double gpuHourPrice;
    private final InputPipeline input;
    private final Markup page = new Markup();

    private HtmlReport(Summary summary, double gpuHourPrice) {
        this.gpuHourPrice = gpuHourPrice;
        this.summary = summary;
        this.input = summary.input();
    }

    /**
     * {@return the page, an HTML document to be written as UTF-8}
     *
     * @param summary the run's summary
     */
    public static String of(Summary summary) {
        return of(summary, Double.NaN);
    }

    /**
     * {@return the page, with the price of the hours that GPUs waited}
     *
     * @param summary the run's summary
     * @param gpuHourPrice the price of an hour of one GPU, in any currency; NaN without one
     */
    public static String of(Summary summary, double gpuHourPrice) {
        return new HtmlReport(summary, gpuHourPrice).write();
    }

    private String write() {
        page.raw("<!DOCTYPE html>\n").open("html", "lang", "en").open("head").empty("meta", "charset", "utf-8")
                .empty("meta", "name", "viewport", "content", "width=device-width, initial-scale=1")
                .element("title", summary.run() + ": " + summary.findings().getFirst().verdict().label())
                .open("style").raw(STYLE).close().close()
                .open("body").open("main");
        head();
        findings();
        stepParts();
        overTime();
        stages();
        samples();
        timeline();
        whatIf();
        spreads();
        ranks();
        cost();
        interludes();
        machine();
        settings();
        return page.close().close().close().toString();
    }

    // ---- the sections

    private void head() {
        Finding first = summary.findings().getFirst();
        page.open("header").element("p", summary.run() + " · "
                + summary.generatedAt().truncatedTo(ChronoUnit.SECONDS), "class", "run");
        page.element("h1", first.verdict().label(), "class", first.severity().label());
        page.element("p", first.summary(), "class", "lead");
        page.open("div", "class", "figures");
        if (input.headroom() != null) {
            figure(NumberText.percent(input.headroom().ratio()), "of the throughput without waiting for input: "
                    + NumberText.round(input.headroom().syntheticSamplesPerSecond(), "/s"));
        }
        figure(NumberText.round(input.samplesPerSecond(), "/s"),
                "samples, " + NumberText.round(input.bytesPerSecond(), "B/s"));
        figure(TimeText.of(input.stepMillis().mean()), "per step, mean of " + input.stepMillis().count() + " steps");
        figure(NumberText.percent(input.waitMillis().mean() / input.stepMillis().mean()),
                "of the step spent waiting for input");
        page.close().close();
    }

    private void figure(String value, String label) {
        page.open("div").element("b", value).element("span", label).close();
    }

    private void findings() {
        section("What to do", "Most severe first.");
        summary.findings().stream().filter(this::isCard)
                .sorted(Comparator.comparing(Finding::severity).reversed()).forEach(this::finding);
        List<Finding> notes = summary.findings().stream().filter(finding -> !isCard(finding)).toList();
        if (!notes.isEmpty()) {
            page.open("details", "class", "notes")
                    .element("summary", "Also noted: " + notes.stream().map(finding -> finding.verdict().label())
                            .collect(Collectors.joining(", ")));
            notes.forEach(this::finding);
            page.close();
        }
        page.close();
    }

    /** The run's verdict, and whatever is worth a change; the rest is good to know. */
    private boolean isCard(Finding finding) {
        return finding == summary.findings().getFirst() || finding.severity() != Severity.INFO
                || finding.verdict() == Verdict.WARMUP;
    }

    private void finding(Finding finding) {
        page.open("article", "class", "finding " + finding.severity().label())
                .open("h3").element("span", finding.severity().label(), "class", "tag")
                .text(" " + finding.verdict().label());
        if (!finding.ranks().isEmpty()) {
            page.text(" (rank " + finding.ranks().stream().map(String::valueOf).collect(Collectors.joining(", "))
                    + ")");
        }
        page.close().element("p", finding.summary());
        if (!finding.action().isEmpty()) {
            page.open("p", "class", "next").element("b", "Next: ").text(finding.action()).close();
        }
        if (!finding.evidence().isEmpty()) {
            page.open("details").element("summary", "Evidence").open("table");
            finding.evidence().forEach((name, value) -> row(name.replace('_', ' '), shown(value)));
            page.close().close();
        }
        page.close();
    }

    private static String shown(@Nullable Object value) {
        return value instanceof Double number ? NumberText.digits(number) : String.valueOf(value);
    }

    /** The mean step: waiting by cause, computing, and the rest. */
    private void stepParts() {
        section("Parts of a step", "The trainer's mean step in time order: waits by cause, computing, and the rest.");
        List<Bar> parts = new ArrayList<>();
        double waited = 0;
        for (CauseRow row : input.causes()) {
            double millis = row.millis() / Math.max(1, input.stepMillis().count());
            waited += millis;
            addPart(parts, "wait: " + row.cause().label(), millis, cssClass(row.cause()));
        }
        addPart(parts, input.stages().isEmpty() ? "wait" : "wait: short waits",
                Math.max(0, input.waitMillis().mean() - waited), "c-other");
        summary.ranks().stream().filter(rank -> rank.rank() == input.rank()).forEach(rank -> {
            addPart(parts, "copy", input.stages().isEmpty() ? rank.h2dMillis() : 0, "c-copy");
            addPart(parts, "compute", rank.computeMillis(), "c-compute");
            addPart(parts, "residual", rank.residualMillis(), "c-residual");
        });
        chart(width -> Bars.stacked("The parts of a step", parts, width));
        page.open("ul", "class", "legend");
        double sum = parts.stream().mapToDouble(Bar::value).sum();
        for (Bar part : parts) {
            page.open("li").element("i", "", "class", part.cssClass())
                    .text(part.label() + " " + part.text() + " (" + NumberText.percent(part.value() / sum) + ")")
                    .close();
        }
        page.close().close();
    }

    private static void addPart(List<Bar> parts, String label, double millis, String cssClass) {
        if (millis > 0) {
            parts.add(new Bar(label, millis, TimeText.of(millis), cssClass, Double.NaN));
        }
    }

    private void overTime() {
        List<StepPoint> series = input.series();
        if (series.size() < 2) {
            return;
        }
        section("Over time", "From the first recorded step; vertical lines mark epochs.");
        double start = series.getFirst().atSeconds();
        double[] seconds = values(point -> point.atSeconds() - start);
        double[] rates = values(StepPoint::samplesPerSecond);
        double[] waits = values(StepPoint::waitMillis);
        double[] longest = values(StepPoint::maxWaitMillis);
        double[] steps = values(StepPoint::stepMillis);
        List<Double> epochs = new ArrayList<>();
        for (int i = 1; i < series.size(); i++) {
            if (series.get(i).epoch() != series.get(i - 1).epoch()) {
                epochs.add(seconds[i]);
            }
        }
        List<String> tips = series.stream().map(HtmlReport::tip).toList();
        page.element("h3", "Throughput");
        chart(width -> new Lines("Throughput over time", width, seconds, max(rates),
                value -> NumberText.round(value, "/s"))
                .marks(epochs, "a new epoch").area(rates, "c-compute").line(rates, "c-compute")
                .tips(tips).end());
        page.element("h3", "Step and wait");
        legend("c-compute", "step, mean", "c-wait", "wait, mean", "c-tail", "wait, longest");
        chart(width -> new Lines("Step and wait over time", width, seconds,
                Math.max(max(steps), Math.min(max(longest), 3 * max(steps))), TimeText::of)
                .marks(epochs, "a new epoch").line(capped(longest, 3 * max(steps)), "c-tail")
                .line(steps, "c-compute").area(waits, "c-wait").line(waits, "c-wait").tips(tips).end());
        page.close();
    }

    private static String tip(StepPoint point) {
        return "steps " + point.firstStep() + " to " + (point.firstStep() + point.steps() - 1) + " of epoch "
                + point.epoch() + ": " + NumberText.round(point.samplesPerSecond(), "samples/s") + ", step "
                + TimeText.of(point.stepMillis()) + ", wait " + TimeText.of(point.waitMillis()) + ", longest "
                + TimeText.of(point.maxWaitMillis()) + (point.cause() == null ? ""
                : ", mostly " + point.cause().label()) + ", " + NumberText.digits(point.readyBatches())
                + " batches ready";
    }

    private void stages() {
        if (input.stages().isEmpty()) {
            return;
        }
        section("Time per stage", "Mean time of a batch in each stage that works on it, with a whisker to the 95th"
                + " percentile. Several threads work in parallel.");
        List<Bar> bars = new ArrayList<>();
        for (StageRow row : input.stages().stream().filter(row -> row.stage().isWork()).toList()) {
            bars.add(new Bar(row.stage().label(), row.millis().mean(), TimeText.of(row.millis().mean()) + " · "
                    + NumberText.percent(row.utilization()) + " of " + NumberText.count(row.threads(), "thread"),
                    "c-" + row.stage().label(), row.millis().p95()));
        }
        chart(width -> Bars.rows("Stages", bars, width));
        table("stage", "mean", "p50", "p95", "p99", "longest", "running", "blocked", "bytes");
        for (StageRow row : input.stages()) {
            page.open("tr").element("th", row.stage().label() + (row.stage().isWork() ? "" : " (a batch waits)"));
            spreadCells(row.millis());
            page.element("td", TimeText.of(row.cpuMillis())).element("td", TimeText.of(row.blockedMillis()))
                    .element("td", row.bytes() == 0 ? "n/a" : NumberText.round(row.bytes(), "B")).close();
        }
        page.close().close();
        parts();
        causes();
        page.close();
    }

    private void parts() {
        if (input.parts().isEmpty()) {
            return;
        }
        page.element("h3", "Decoding and steps");
        table("part", "total", "share");
        for (PartRow row : input.parts()) {
            row(row.part(), TimeText.of(row.totalMillis()), NumberText.percent(row.share()));
        }
        page.close().close();
    }

    private void causes() {
        if (input.causes().isEmpty()) {
            return;
        }
        page.element("h3", "Causes of waiting");
        table("cause", "total", "share", "largest cause of");
        for (CauseRow row : input.causes()) {
            row(row.cause().label(), TimeText.of(row.millis()), NumberText.percent(row.share()),
                    row.waits() + " waits");
        }
        page.close().close();
    }

    private void samples() {
        SampleUse use = summary.samples();
        if (use == null) {
            return;
        }
        section("Single samples", "Of samples that are decoded, mapped or generated. Slow ones take at least eight"
                + " times the median.");
        table("step", "samples", "p50", "p99", "total", "slow samples", "their share of the time");
        for (SampleStep step : use.steps()) {
            row(step.step(), String.valueOf(step.samples()), TimeText.of(step.p50Millis()),
                    TimeText.of(step.p99Millis()), TimeText.of(step.totalMillis()),
                    String.valueOf(step.slowSamples()), NumberText.percent(step.slowShare()));
        }
        page.close().close();
        page.element("h3", "The slowest samples");
        table("sample", "index", "stored", "in all", "read", "decode", "transform");
        for (SlowRow slow : use.slowest()) {
            row(slow.name(), String.valueOf(slow.sample()), slow.bytes() == 0 ? null
                    : NumberText.round(slow.bytes(), "B"), TimeText.of(slow.millis()), TimeText.of(slow.readMillis()),
                    TimeText.of(slow.decodeMillis()), TimeText.of(slow.transformMillis()));
        }
        page.close().close().close();
    }

    private void timeline() {
        if (input.timeline().isEmpty()) {
            return;
        }
        section("Timeline of a few batches",
                "Numbers are steps. The upper lanes are workers, the lowest lane is the trainer.");
        legend("c-slot", "waits for a slot", "c-plan", "is planned", "c-collate", "is built", "c-copy", "is copied",
                "c-wait", "the trainer waits", "c-compute", "the trainer holds it");
        chart(width -> Timeline.of(input.timeline(), width));
        page.close();
    }

    private void whatIf() {
        if (input.whatIf().isEmpty()) {
            return;
        }
        Prediction present = input.whatIf().getFirst();
        section("What if", (present.trusted() ? "Predicted from recorded stage times. For" : "Not trusted: for")
                + " the present settings the prediction is off by " + NumberText.percent(present.errorShare())
                + (present.trusted() ? "." : ", more than 10 %."));
        List<Bar> bars = new ArrayList<>();
        for (Prediction prediction : input.whatIf()) {
            String label = prediction == present ? "present settings" : prediction.change();
            bars.add(new Bar(label, prediction.samplesPerSecond(),
                    NumberText.round(prediction.samplesPerSecond(), "/s") + (prediction == present ? ""
                            : " (" + NumberText.change(prediction.gain()) + ")") + ", "
                            + prediction.limit(), prediction.trusted() ? "c-plan" : "c-other", Double.NaN));
        }
        chart(width -> Bars.rows("Predicted throughput", bars, width));
        page.close();
    }

    private void spreads() {
        section("Distributions", "Steady state, without the first batch of each epoch.");
        table("", "mean", "p50", "p95", "p99", "longest");
        spreadRow("step", input.stepMillis());
        spreadRow("wait in next()", input.waitMillis());
        if (input.onDevice() != null) {
            spreadRow("stream idle, waiting for a batch", input.onDevice().exposedMillis());
            spreadRow("stream at work", input.onDevice().computeMillis());
        }
        spreadRow("wait for an epoch's first batch", input.coldStart().waitMillis());
        page.close().close();
        page.open("table");
        row("wait for the first batch", TimeText.of(input.coldStart().openMillis()));
        row("steps longer than twice the median", input.tail().steps() + ", "
                + NumberText.percent(input.tail().timeShare()) + " of the time" + (input.tail().every() == 0 ? ""
                : ", every " + input.tail().every() + " steps"));
        row("JVM pauses", input.gc().pauses() + ", " + TimeText.of(input.gc().pauseMillis()) + ", "
                + NumberText.percent(input.gc().stepShare()) + " of the steps");
        slots();
        row("storage bytes per batch byte", NumberText.digits(input.readAmplification()));
        page.close().close();
    }

    private void slots() {
        if (input.slots() == null) {
            return;
        }
        row("batches ready at a request", NumberText.digits(input.readyBatches().mean()) + " of "
                + input.slots().capacity() + " slots");
        row("workers wait for slots while the trainer waits", TimeText.of(input.slots().starvedMillis()));
        row("workers wait for slots while the trainer computes (normal)",
                TimeText.of(input.slots().backpressureMillis()));
    }

    private void ranks() {
        if (summary.ranks().size() < 2) {
            return;
        }
        section("Ranks", "Mean times per step; the input pipeline above is that of rank " + input.rank() + ".");
        table("rank", "host", "steps", "step", "input wait", "copy", "compute", "residual");
        for (RankSteps rank : summary.ranks()) {
            row(String.valueOf(rank.rank()), rank.host(), String.valueOf(rank.steps()),
                    TimeText.of(rank.stepMillis()), TimeText.of(rank.inputWaitMillis()),
                    TimeText.of(rank.h2dMillis()), TimeText.of(rank.computeMillis()),
                    TimeText.of(rank.residualMillis()));
        }
        page.close().close().close();
    }

    private void cost() {
        WaitCost cost = WaitCost.of(summary, gpuHourPrice);
        if (!(cost.gpuHours() > 0)) {
            return;
        }
        section("Cost", "Hours that GPUs waited for input, one GPU a rank.");
        table("cause", "GPU hours", "price");
        for (WaitCost.CauseCost row : cost.causes()) {
            row(row.cause().replace('_', ' '), NumberText.digits(row.gpuHours()), price(row.money()));
        }
        row("in all", NumberText.digits(cost.gpuHours()), price(cost.money()));
        page.close().close().close();
    }

    private static @Nullable String price(double money) {
        return Double.isNaN(money) ? null : NumberText.digits(money);
    }

    private void interludes() {
        if (summary.interludes().isEmpty()) {
            return;
        }
        section("Left out", "What the trainer marked as no training: in no step, throughput or share above.");
        table("mark", "times", "time", "of the run");
        for (InterludeRow row : summary.interludes()) {
            row(row.name(), String.valueOf(row.count()), TimeText.of(row.millis()), NumberText.percent(row.share()));
        }
        page.close().close().close();
    }

    private void machine() {
        MachineUse use = summary.machine();
        if (use == null) {
            return;
        }
        section("Machine", "What was seen of it during the steps.");
        page.open("table");
        row("GPU", use.gpu());
        figure("GPU busy", use.gpuUtilization(), NumberText::percent);
        figure("GPU memory, most", use.gpuMemoryBytes(), HtmlReport::bytes);
        figure("GPU memory of this process, most", use.gpuProcessBytes(), HtmlReport::bytes);
        figure("power, mean", use.gpuWatts(), value -> NumberText.digits(value) + " W");
        figure("temperature, highest", use.gpuCelsius(), value -> NumberText.digits(value) + " °C");
        figure("clock, of the possible one", use.gpuClockShare(), NumberText::percent);
        figure("RAM of the process, most", use.residentBytes(), HtmlReport::bytes);
        figure("cores used", use.cores(), NumberText::digits);
        figure("cores used by loaders", use.loaderCores(), NumberText::digits);
        figure("cores that the control group allows", use.limitCores(), NumberText::digits);
        figure("periods in which the group had to wait", use.throttledShare(), NumberText::percent);
        figure("time in which a task lacked a core", use.cpuPressure(), NumberText::percent);
        figure("time in which a task waited for storage", use.ioPressure(), NumberText::percent);
        figure("read from storage", use.diskBytesPerSecond(), value -> bytes(value) + "/s");
        figure("received from the network", use.networkBytesPerSecond(), value -> bytes(value) + "/s");
        page.close().close();
    }

    /** A row, unless the machine does not tell. */
    private void figure(String name, double value, DoubleFunction<String> text) {
        if (!Double.isNaN(value)) {
            row(name, text.apply(value));
        }
    }

    private static String bytes(double value) {
        return NumberText.round(value, "B");
    }

    private void settings() {
        Summary.Fingerprint print = summary.fingerprint();
        section("Environment and settings", "");
        page.open("table");
        row("Penstock", print.penstock());
        row("JDK", print.jdk());
        row("system", print.os() + ", " + print.cores() + " cores");
        row("device", print.gpu() == null ? "host" : print.gpu()
                + (print.driver() == null ? "" : ", driver " + print.driver()));
        row("dataset", print.dataset());
        row("batch size", String.valueOf(print.batchSize()));
        row("ranks", String.valueOf(print.worldSize()));
        row("workers", String.valueOf(print.workers()));
        row("slots", print.hostSlots() + " on the host, " + print.deviceSlots() + " on the device");
        row("read mode", print.readMode() + ", page cache " + print.cacheState());
        row("clock", summary.clock());
        row("measurement overhead", TimeText.of(summary.overhead().nanosPerStep() / 1e6) + " per step, "
                + NumberText.percent(summary.overhead().share()));
        page.close().close();
    }

    // ---- pieces

    private void section(String title, String note) {
        page.open("section").element("h2", title);
        if (!note.isEmpty()) {
            page.element("p", note, "class", "note");
        }
    }

    /** A chart, drawn twice: a narrow screen shows the narrow one whole instead of shrinking the text of the other. */
    private void chart(IntFunction<String> drawn) {
        page.open("div", "class", "wide").raw(drawn.apply(WIDE)).close()
                .open("div", "class", "narrow").raw(drawn.apply(NARROW)).close();
    }

    private void legend(String... classesAndTexts) {
        page.open("p", "class", "legend");
        for (int i = 0; i < classesAndTexts.length; i += 2) {
            page.element("i", "", "class", classesAndTexts[i]).text(classesAndTexts[i + 1] + " ");
        }
        page.close();
    }

    /** Opens a table in a frame that scrolls. */
    private void table(String... titles) {
        page.open("div", "class", "scroll").open("table").open("tr");
        Stream.of(titles).forEach(title -> page.element("th", title));
        page.close();
    }

    private double[] values(ToDoubleFunction<StepPoint> what) {
        return input.series().stream().mapToDouble(what).toArray();
    }

    private void row(String name, @Nullable String... cells) {
        page.open("tr").element("th", name);
        for (String cell : cells) {
            page.element("td", cell == null ? "–" : cell);
        }
        page.close();
    }

    private void spreadRow(String name, Distribution millis) {
        if (millis.count() > 0) {
            page.open("tr").element("th", name);
            spreadCells(millis);
            page.close();
        }
    }

    private void spreadCells(Distribution millis) {
        for (double value : new double[] {millis.mean(), millis.p50(), millis.p95(), millis.p99(), millis.max()}) {
            page.element("td", TimeText.of(value));
        }
    }

    private static String cssClass(Cause cause) {
        return switch (cause) {
            case READ_BLOCKED -> "c-blocked";
            case READ_CPU -> "c-read";
            default -> "c-" + cause.label();
        };
    }

    private static double max(double[] values) {
        return Arrays.stream(values).reduce(0, Math::max);
    }

    /** Clips peaks that would flatten everything else. */
    private static double[] capped(double[] values, double most) {
        return Arrays.stream(values).map(value -> Math.min(value, most)).toArray();
    }

    private static String resource(String name) {
        try (InputStream in = HtmlReport.class.getResourceAsStream(name)) {
            return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
