// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.diagnose.Summary;
import io.penstock.diagnose.SummaryExamples;
import org.junit.jupiter.api.Test;

class WaitCostTest {

    @Test
    void hoursAreThoseOfTheWaitsAndDividedByCause() {
        Summary run = SummaryExamples.run(1, 400, 1, 0.1, SummaryExamples.FINGERPRINT);
        Summary.RankSteps rank = run.ranks().getFirst();
        double hours = rank.steps() * rank.inputWaitMillis() / 3.6e6;
        WaitCost cost = WaitCost.of(run, 4);
        assertEquals(hours, cost.gpuHours(), 1e-12);
        assertEquals(4 * hours, cost.money(), 1e-12);
        assertEquals("decode", cost.causes().getFirst().cause());
        assertEquals(0.9 * hours, cost.causes().getFirst().gpuHours(), 1e-12);
        assertEquals(0.4 * hours, cost.causes().getLast().money(), 1e-12);
        assertEquals(Double.NaN, WaitCost.of(run, Double.NaN).money());
    }
}
