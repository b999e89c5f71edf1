// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.Steps.Step;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Steps much longer than the typical one. */
final class Tails {

    /** The share of equal distances between them that makes it a period. */
    private static final double PERIODIC_SHARE = 0.6;
    private static final int PERIODIC_MIN = 4;

    /** Steps longer than twice the median. */
    static List<Step> slow(Facts facts) {
        return facts.steady.stream().filter(step -> step.nanos() > 2 * facts.medianStepNanos).toList();
    }

    static Summary.Tail of(Facts facts) {
        List<Step> slow = slow(facts);
        double nanos = slow.stream().mapToDouble(Step::nanos).sum();
        return new Summary.Tail(slow.size(), facts.stepNanos == 0 ? 0 : nanos / facts.stepNanos, period(slow));
    }

    private static long period(List<Step> slow) {
        Map<Long, Integer> distances = new HashMap<>();
        for (int i = 1; i < slow.size(); i++) {
            long distance = slow.get(i).account().sequence() - slow.get(i - 1).account().sequence();
            distances.merge(distance, 1, Integer::sum);
        }
        return distances.entrySet().stream()
                .filter(entry -> entry.getKey() > 1 && entry.getValue() >= PERIODIC_MIN
                        && entry.getValue() >= PERIODIC_SHARE * (slow.size() - 1))
                .mapToLong(Map.Entry::getKey).findFirst().orElse(0);
    }
}
