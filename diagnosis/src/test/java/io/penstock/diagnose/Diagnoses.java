// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.Summary.Fingerprint;

/** Summaries of what was played. */
final class Diagnoses {

    private Diagnoses() {
    }

    static Summary summary(Recording recording) {
        var settings = recording.settings();
        return new Summarizer(new Facts(recording)).summary(new Fingerprint("1", "25", "linux", 8, null, null,
                settings.dataset(), settings.batchSize(), settings.worldSize(), settings.workers(),
                settings.memory().hostSlots(), settings.memory().deviceSlots(), settings.readMode().toString(), "warm"),
                150, null);
    }

    /** Returns the finding with a verdict, which a summary has to have. */
    static Finding finding(Summary summary, Verdict verdict) {
        return summary.findings().stream().filter(finding -> finding.verdict() == verdict).findFirst()
                .orElseThrow();
    }
}
