// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.report;

import io.penstock.diagnose.Summary;
import io.penstock.text.NumberText;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What waiting cost: the hours that GPUs waited for input, one GPU a rank, and their price. Over several ranks, the
 * causes have the shares of the rank that waits longest.
 *
 * @param gpuHours hours in all
 * @param money their price; NaN without one
 * @param causes the same by cause, the dearest first
 */
public record WaitCost(double gpuHours, double money, List<CauseCost> causes) {

    private static final double MILLIS_AN_HOUR = 3.6e6;

    /**
     * A cause's part.
     *
     * @param cause its label
     * @param gpuHours hours that GPUs waited for it
     * @param money their price; NaN without one
     */
    public record CauseCost(String cause, double gpuHours, double money) {
    }

    /**
     * {@return what waiting cost in the steps of a summary}
     *
     * @param summary the run
     * @param gpuHourPrice the price of an hour of one GPU, in any currency; NaN without one
     */
    public static WaitCost of(Summary summary, double gpuHourPrice) {
        double hours = summary.ranks().stream().mapToDouble(rank -> rank.steps() * (rank.inputWaitMillis()
                + (rank.h2dMillis() > 0 ? rank.h2dMillis() : 0))).sum() / MILLIS_AN_HOUR;
        List<CauseCost> rows = summary.input().causes().isEmpty()
                ? List.of(new CauseCost("input", hours, hours * gpuHourPrice))
                : summary.input().causes().stream().map(cause -> new CauseCost(cause.cause().label(),
                        hours * cause.share(), hours * cause.share() * gpuHourPrice)).toList();
        return new WaitCost(hours, hours * gpuHourPrice, rows);
    }

    /** {@return this as one sentence} */
    public String text() {
        return "GPUs waited " + amount(gpuHours, money) + ": " + causes.stream().map(row ->
                row.cause.replace('_', ' ') + " " + amount(row.gpuHours, row.money)).collect(Collectors.joining(", "))
                + ".";
    }

    private static String amount(double hours, double money) {
        return NumberText.digits(hours) + " h" + (Double.isNaN(money) ? "" : " (" + NumberText.digits(money) + ")");
    }
}
