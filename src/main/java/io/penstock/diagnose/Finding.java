package io.penstock.diagnose;

import java.util.List;
import java.util.Map;

/**
 * A verdict on a run, with what it rests on.
 *
 * @param verdict which one
 * @param severity how much it matters
 * @param score what verdicts of one severity are ordered by: mostly the share of the step, from 0 to 1
 * @param summary what is so, in a sentence with the figures
 * @param action what to do next, in a sentence
 * @param ranks the ranks that it is about; empty for all
 * @param evidence the figures, by names that carry their units
 */
public record Finding(Verdict verdict, Severity severity, double score, String summary, String action,
        List<Integer> ranks, Map<String, Object> evidence) {
}
