// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.report;

import io.penstock.diagnose.Summary.BatchTimes;
import io.penstock.diagnose.markup.Axis;
import io.penstock.diagnose.markup.Markup;
import io.penstock.text.TimeText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A timeline of a few batches: a lane per worker, one for the copy, one for the trainer. */
final class Timeline {

    private static final double LEFT = 90;
    private static final double LANE = 34;
    /** With more batches, their numbers would not fit. */
    private static final int MOST_BATCHES = 20;

    private final int width;
    private final List<BatchTimes> batches;
    private final TreeMap<Integer, Double> workerLanes = new TreeMap<>();
    private final double begin;
    private final Axis x;
    private final Markup svg = new Markup();

    private Timeline(List<BatchTimes> batches, int width) {
        this.width = width;
        this.batches = batches;
        this.begin = batches.stream().mapToDouble(BatchTimes::claimed).min().orElse(0);
        double end = batches.stream().mapToDouble(batch -> Math.max(batch.taken(), batch.closed())).max().orElse(1);
        this.x = Axis.upTo(end - begin, LEFT, width - 10);
    }

    static String of(List<BatchTimes> batches, int width) {
        return new Timeline(batches.subList(0, Math.min(batches.size(), MOST_BATCHES)), width).draw();
    }

    private String draw() {
        for (BatchTimes batch : batches) {
            workerLanes.put(batch.worker(), 0.0);
        }
        List<String> lanes = new ArrayList<>();
        for (Map.Entry<Integer, Double> lane : workerLanes.entrySet()) {
            lane.setValue(lanes.size() * LANE);
            lanes.add("worker " + lane.getKey());
        }
        boolean copies = batches.stream().anyMatch(batch -> !Double.isNaN(batch.submitted()));
        double copyLane = lanes.size() * LANE;
        if (copies) {
            lanes.add("copy");
        }
        double trainerLane = lanes.size() * LANE;
        lanes.add("trainer");
        double height = lanes.size() * LANE;
        svg.open("svg", "viewBox", "0 0 " + width + " " + (int) (height + 24), "role", "img", "aria-label",
                "Timeline of " + batches.size() + " batches");
        for (double tick : x.ticks()) {
            svg.empty("line", "class", "grid", "x1", x.pixel(tick), "x2", x.pixel(tick), "y1", 0.0, "y2", height);
            svg.element("text", TimeText.of(tick), "class", "tick", "x", x.pixel(tick), "y", height + 16,
                    "text-anchor", "middle");
        }
        for (int lane = 0; lane < lanes.size(); lane++) {
            svg.element("text", lanes.get(lane), "class", "label", "x", LEFT - 10, "y", lane * LANE + 20,
                    "text-anchor", "end");
        }
        for (BatchTimes batch : batches) {
            double lane = workerLanes.getOrDefault(batch.worker(), 0.0);
            piece(lane, batch.claimed(), batch.slot(), "c-slot", batch, "waits for a slot");
            piece(lane, batch.slot(), batch.planned(), "c-plan", batch, "plan");
            piece(lane, batch.planned(), batch.made(), "c-collate", batch, "read, decode, transform, collate");
            if (!Double.isNaN(batch.submitted())) {
                piece(copyLane, batch.submitted(), Math.max(batch.submitted(), batch.taken()), "c-copy", batch,
                        "copy, until taken");
            }
            piece(trainerLane, batch.requested(), batch.taken(), "c-wait", batch, "the trainer waits");
            piece(trainerLane, batch.taken(), batch.closed(), "c-compute", batch, "the trainer holds it");
        }
        return svg.close().toString();
    }

    private void piece(double lane, double from, double to, String cssClass, BatchTimes batch, String what) {
        if (Double.isNaN(from) || Double.isNaN(to) || to <= from) {
            return;
        }
        double left = x.pixel(from - begin);
        double width = Math.max(0.5, x.pixel(to - begin) - left);
        svg.open("rect", "class", cssClass, "x", left, "y", lane + 4, "width", width, "height", LANE - 8);
        svg.element("title", "batch " + batch.step() + ": " + what + ", " + TimeText.of(to - from)).close();
        String number = Long.toString(batch.step());
        if (width > 8.0 * number.length() + 4 && !cssClass.equals("c-slot")) {
            svg.element("text", number, "class", "inside", "x", left + width / 2, "y", lane + 21, "text-anchor",
                    "middle");
        }
    }
}
