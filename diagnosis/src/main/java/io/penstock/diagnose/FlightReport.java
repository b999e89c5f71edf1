// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Percentage;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/**
 * Reports summaries to the JDK's flight recorder. Loads no JFR class while this JVM has had no recording, because the
 * first event class takes a tenth of a second.
 */
final class FlightReport {

    /** A JVM may lack the recorder. */
    private static final boolean HAS_RECORDER = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    /** Records a summary's findings if this JVM has had a recording. */
    static void of(Summary summary) {
        if (HAS_RECORDER && FlightRecorder.isInitialized()) {
            summary.findings().forEach(finding -> record(summary, finding));
        }
    }

    private static void record(Summary summary, Finding finding) {
        var event = new DiagnosisEvent();
        if (event.isEnabled()) {
            event.run = summary.run();
            event.verdict = finding.verdict().label();
            event.severity = finding.severity().label();
            event.score = finding.score();
            event.cause = finding.evidence().get("cause") instanceof String cause ? cause : null;
            event.summary = finding.summary();
            event.action = finding.action();
            event.commit();
        }
    }

    /** A finding of a summary as a JFR event. */
    @Name("penstock.Diagnosis")
    @Label("Diagnosis")
    @Description("A finding of a summary of the steps so far")
    @Category("Penstock")
    @StackTrace(false)
    @SuppressWarnings("NullAway.Init")
    static final class DiagnosisEvent extends Event {

        @Label("Run")
        String run;

        @Label("Verdict")
        String verdict;

        @Label("Severity")
        String severity;

        @Label("Score")
        @Description("For most verdicts the share of the step")
        @Percentage
        double score;

        @Label("Cause")
        @Description("What the trainer waited for, if the verdict is about waiting")
        @Nullable String cause;

        @Label("Summary")
        String summary;

        @Label("Action")
        String action;
    }
}
