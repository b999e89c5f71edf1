// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A verdict on a run with its evidence.
 *
 * @param verdict the verdict
 * @param severity how much it matters
 * @param score orders verdicts of one severity: usually the share of the step, from 0 to 1
 * @param summary what was found, one sentence with figures
 * @param action what to do next, one sentence
 * @param ranks the ranks concerned; empty for all
 * @param evidence the figures, with units in their names
 */
public record Finding(Verdict verdict, Severity severity, double score, String summary, String action,
        List<Integer> ranks, Map<String, @Nullable Object> evidence) {

    /** Creates information without figures. */
    static Finding info(Verdict verdict, String summary, String action) {
        return new Finding(verdict, Severity.INFO, 0, summary, action, List.of(), Map.of());
    }

    Finding withSeverity(Severity other) {
        return new Finding(verdict, other, score, summary, action, ranks, evidence);
    }

    Finding withAction(String other) {
        return new Finding(verdict, severity, score, summary, other, ranks, evidence);
    }

    Finding ofRank(int rank) {
        return new Finding(verdict, severity, score, summary, action, List.of(rank), evidence);
    }
}
