// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.diagnose.Cause;
import io.penstock.diagnose.Distribution;
import io.penstock.diagnose.Finding;
import io.penstock.diagnose.Severity;
import io.penstock.diagnose.Stage;
import io.penstock.diagnose.Summary;
import io.penstock.diagnose.Summary.InputPipeline;
import io.penstock.diagnose.Summary.StageRow;
import io.penstock.diagnose.SummaryExamples;
import io.penstock.diagnose.Verdict;
import io.penstock.text.NumberText;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class HtmlReportTest {

    private static final Pattern TAG = Pattern.compile("<(/?)([a-z0-9]+)([^<>]*?)(/?)>", Pattern.CASE_INSENSITIVE);

    private static Summary named(String name) {
        Summary run = SummaryExamples.run(1, 120, 1, 0.1, SummaryExamples.FINGERPRINT);
        return new Summary(name, run.generatedAt(), run.durationSeconds(), run.fingerprint(), run.clock(), run.ranks(),
                run.findings(), run.input(), run.overhead());
    }

    /** A run of which everything is known that a page can show. */
    private static Summary known() {
        Summary run = named("run");
        return new Summary("run", run.generatedAt(), run.durationSeconds(), run.fingerprint(), run.clock(), run.ranks(),
                run.findings(), run.input(), run.overhead(),
                List.of(new Summary.InterludeRow("checkpoint", 2, 3_000, 0.125)),
                new Summary.MachineUse("Simulated", 0.93, 20e9, 18e9, 412, 71, 0.88, 3.5e9, 1.75, 0.5, 0.02,
                        Double.NaN, 2.5e8, 1e6, 4, 0.03),
                new Summary.SampleUse(List.of(new Summary.SampleStep("decode", 6400, 0.5, 12, 4200, 20, 0.41)),
                        List.of(new Summary.SlowRow("large <1>.jpg", 17, 9_000_000, 81, 1, 80, 0))));
    }

    @Test
    void machineMarksSamplesAndCostAreShown() {
        String page = HtmlReport.of(known(), 2500).replaceAll(">\\s+<", "><");
        for (String shown : List.of("<th>GPU busy</th><td>93.0 %</td>", "412 W", "71 °C",
                "<th>checkpoint</th><td>2</td><td>3 s</td><td>12.5 %</td>", "large &lt;1&gt;.jpg", "41.0 %",
                "<th>in all</th>", "<h2>Machine</h2>")) {
            assertTrue(page.contains(shown), shown);
        }
        assertFalse(page.contains("waited for storage"), "what is not known is left out");
        double hours = 2400 * known().ranks().getFirst().inputWaitMillis() / 3.6e6;
        assertTrue(page.contains("<th>in all</th><td>" + NumberText.digits(hours) + "</td><td>"
                + NumberText.digits(2500 * hours) + "</td>"), page);
        assertFalse(HtmlReport.of(named("run")).contains("<h2>Machine</h2>"));
    }

    @Test
    void elementsNestAndAllAreClosed() {
        String page = HtmlReport.of(known(), 2.5);
        String body = page.substring(page.indexOf("</style>"));
        Deque<String> open = new ArrayDeque<>(List.of("html", "head", "style").reversed());
        Matcher tags = TAG.matcher(body);
        int count = 0;
        while (tags.find()) {
            count++;
            if (!tags.group(1).isEmpty()) {
                assertEquals(open.pop(), tags.group(2));
            } else if (tags.group(4).isEmpty()) {
                open.push(tags.group(2));
            }
        }
        assertEquals(List.of(), List.copyOf(open));
        assertTrue(count > 500, count + " tags");
    }

    @Test
    void nothingIsLoadedFromElsewhere() {
        String page = HtmlReport.of(named("run"));
        for (String reference : List.of("http:", "https:", "src=", "href=", "@import", "url(", "<script")) {
            assertFalse(page.contains(reference), reference);
        }
    }

    @Test
    void namesAreTextAndNeverMarkup() {
        String page = HtmlReport.of(named("<script>alert(\"a & b\")</script>"));
        assertFalse(page.contains("<script"));
        assertTrue(page.contains("&lt;script&gt;alert(&quot;a &amp; b&quot;)"));
    }

    @Test
    void whatWasNotMeasuredIsADashAndDrawsNothing() {
        assertFalse(Pattern.compile("NaN|Infinity|null").matcher(HtmlReport.of(named("run"))).find());
    }

    @Test
    void aRunWithoutStepsStillHasAPage() {
        Summary none = SummaryExamples.run(1, 0, 1, 0.1, SummaryExamples.FINGERPRINT);
        assertTrue(HtmlReport.of(none).contains("INPUT-BOUND"));
    }

    private static Summary with(List<Finding> findings, List<StageRow> stages) {
        Summary run = named("run");
        InputPipeline in = run.input();
        return new Summary("run", run.generatedAt(), run.durationSeconds(), run.fingerprint(), run.clock(), run.ranks(),
                findings, new InputPipeline(in.rank(), in.role(), in.samplesPerSecond(), in.bytesPerSecond(),
                        in.stepMillis(), in.waitMillis(), in.onDevice(), stages, in.parts(), in.causes(),
                        in.slots(), in.readyBatches(), in.coldStart(), in.tail(), in.gc(), in.readAmplification(),
                        in.headroom(), in.whatIf(), in.series(), in.timeline()), run.overhead());
    }

    private static Finding finding(Verdict verdict, Severity severity) {
        return new Finding(verdict, severity, 0.5, "What is.", "What to do.", List.of(), Map.of());
    }

    private static int count(String page, String what) {
        return page.split(Pattern.quote(what), -1).length - 1;
    }

    @Test
    void aHealthyRunHasOneCardAndTheRestIsFoldedAway() {
        List<Finding> healthy = List.of(finding(Verdict.COMPUTE_BOUND, Severity.INFO),
                finding(Verdict.LOADER_AHEAD, Severity.INFO), finding(Verdict.COLD_START, Severity.INFO));
        String page = HtmlReport.of(with(healthy, List.of()));
        int notes = page.indexOf("<details class=\"notes\"");
        assertEquals(1, count(page.substring(0, notes), "<article"));
        assertEquals(2, count(page.substring(notes), "<article"));
        assertTrue(page.contains("Also noted: LOADER-AHEAD, COLD-START"));

        String slow = HtmlReport.of(with(List.of(finding(Verdict.INPUT_BOUND, Severity.CRIT),
                finding(Verdict.DECODE, Severity.WARN)), List.of()));
        assertEquals(2, count(slow, "<article"));
        assertFalse(slow.contains("<details class=\"notes\""));
    }

    @Test
    void aStageThatWaitsHasARowAndNoBar() {
        Distribution long50 = Distribution.of(new double[] {50, 50});
        String page = HtmlReport.of(with(named("run").findings(), List.of(
                new StageRow(Stage.COLLATE, Distribution.of(new double[] {1, 2}), 3, 3, 0, 100, 2, 0.5),
                new StageRow(Stage.ORDER, long50, 100, 0, 100, 0, 2, Double.NaN),
                new StageRow(Stage.SLOT, long50, 100, 0, 100, 0, 2, 0.5))));
        String chart = page.substring(page.indexOf("aria-label=\"Stages\""));
        chart = chart.substring(0, chart.indexOf("</svg>"));
        assertTrue(chart.contains("c-collate"), chart);
        assertFalse(chart.contains("order") || chart.contains("slot"), chart);
        assertTrue(page.contains("order (a batch waits)") && page.contains("slot (a batch waits)"));
    }

    @Test
    void waitingForTheOrderAndCopyingHaveColorsOfTheirOwn() {
        String page = HtmlReport.of(named("run"));
        assertFalse(color(page, "c-order").equals(color(page, "c-copy")));
    }

    private static String color(String page, String cssClass) {
        Matcher rule = Pattern.compile(Pattern.quote("." + cssClass) + "\\b[^{]*\\{ color: ([^;]+);").matcher(page);
        assertTrue(rule.find(), cssClass);
        return rule.group(1);
    }

    @Test
    void everyChartIsDrawnForANarrowScreenTooWhichShowsThatOneAlone() {
        String page = HtmlReport.of(named("run"));
        int charts = count(page, "<svg");
        assertTrue(charts >= 10, charts + " charts");
        assertEquals(charts / 2, Pattern.compile("<div class=\"wide\">\\s*<svg viewBox=\"0 0 860 ").matcher(page)
                .results().count());
        assertEquals(charts / 2, Pattern.compile("<div class=\"narrow\">\\s*<svg viewBox=\"0 0 380 ").matcher(page)
                .results().count());
        assertTrue(page.contains("(max-width: 600px) { .wide { display: none; } .narrow { display: block; } }"));
    }

    @Test
    void labelsOfBarsAreWholeInsideTheirChart() {
        String label = "one worker more and the decoding of pictures on the device";
        String text = "12.3 M/s (+1234.5 %), workers and the trainer";
        for (int width : new int[] {380, 860}) {
            String svg = Bars.rows("bars", List.of(new Bars.Bar(label, 3, text, "c-plan", Double.NaN),
                    new Bars.Bar("none", 1, "1 /s", "c-plan", Double.NaN)), width);
            Matcher texts = Pattern.compile("<text class=\"(?:label|value)\" x=\"([-0-9.]+)\" y=\"[0-9.]+\""
                    + "(?: text-anchor=\"(start|end)\")?>([^<]*)<").matcher(svg);
            int found = 0;
            while (texts.find()) {
                double x = Double.parseDouble(texts.group(1));
                double length = 6.4 * texts.group(3).length();
                double left = "end".equals(texts.group(2)) ? x - length : x;
                assertTrue(left >= 0 && left + length <= width, width + ": " + texts.group());
                found++;
            }
            assertEquals(4, found, svg);
        }
    }

    @Test
    void noTwoPartsOfAStepHaveTheSameColor() {
        String page = HtmlReport.of(named("run"));
        Map<String, String> colors = new HashMap<>();
        List<String> classes = new ArrayList<>(List.of("compute", "residual"));
        for (Cause cause : Cause.values()) {
            classes.add(switch (cause) {
                case READ_BLOCKED -> "blocked";
                case READ_CPU -> "read";
                default -> cause.label();
            });
        }
        for (String name : classes) {
            Matcher color = Pattern.compile("\\.c-" + name + "\\b[^{]*\\{ color: var\\((--\\w+)\\)").matcher(page);
            assertTrue(color.find(), name);
            Matcher value = Pattern.compile(color.group(1) + ": (#\\w+)").matcher(page);
            assertTrue(value.find(), color.group(1));
            String light = value.group(1);
            assertTrue(value.find(), color.group(1) + " of the dark mode");
            assertNull(colors.put(light, name), name + " is " + light);
            assertNull(colors.put("dark " + value.group(1), name), name + " is dark " + value.group(1));
        }
    }

    @Test
    void findingsAreShownMostSevereFirstAndTheDateHasNoFractionsOfSeconds() {
        Summary run = named("run");
        List<Finding> findings = List.of(
                new Finding(Verdict.INPUT_BOUND, Severity.WARN, 0.1, "warned", "", List.of(), Map.of()),
                new Finding(Verdict.DECODE, Severity.CRIT, 0.3, "critical", "", List.of(), Map.of()));
        String page = HtmlReport.of(new Summary("run", Instant.parse("2026-11-26T08:14:20.021213243Z"),
                run.durationSeconds(), run.fingerprint(), run.clock(), run.ranks(), findings, run.input(),
                run.overhead()));
        assertTrue(page.contains("2026-11-26T08:14:20Z<"));
        assertTrue(page.indexOf("finding crit") > 0 && page.indexOf("finding crit") < page.indexOf("finding warn"));
    }

    @Test
    void whatTheTrainerWaitedForItsFirstBatchIsNotCalledTheTimeSinceOpening() {
        String page = HtmlReport.of(named("run"));
        assertTrue(page.contains("wait for the first batch"));
        assertFalse(page.contains("after opening"));
    }

    @Test
    void aDeviceWithoutADriverIsShownByItsName() {
        Summary run = named("run");
        Summary.Fingerprint of = run.fingerprint();
        for (String driver : new String[] {null, "570.1"}) {
            var print = new Summary.Fingerprint(of.penstock(), of.jdk(), of.os(), of.cores(), "H100", driver,
                    of.dataset(), of.batchSize(), of.worldSize(), of.workers(), of.hostSlots(), of.deviceSlots(),
                    of.readMode(), of.cacheState());
            String page = HtmlReport.of(new Summary(run.run(), run.generatedAt(), run.durationSeconds(), print,
                    run.clock(), run.ranks(), run.findings(), run.input(), run.overhead()));
            assertFalse(page.contains("driver null"), "of a runtime that says none");
            assertTrue(page.contains(driver == null ? "H100<" : "H100, driver 570.1<"), "the device");
        }
    }
}
