package io.penstock.diagnose.html;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.diagnose.Summary;
import io.penstock.diagnose.SummaryExamples;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
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

    @Test
    void elementsNestAndAllAreClosed() {
        String page = HtmlReport.of(named("run"));
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
}
