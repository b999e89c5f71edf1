// SPDX-License-Identifier: Apache-2.0
package io.penstock.tune;

import io.penstock.diagnose.markup.Axis;
import io.penstock.diagnose.markup.Markup;
import io.penstock.text.NumberText;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * Draws the curves of a search as an SVG image, with one panel per setting. The vertical axis is throughput and starts
 * at zero. Each dot is a median, its line the interval; the dot of the chosen value is filled. Colors follow the
 * reader's light or dark mode.
 */
public final class TuningChart {

    private static final int PANEL_WIDTH = 250;
    private static final int PANEL_HEIGHT = 190;
    private static final int LEFT = 74;
    private static final int TOP = 62;
    private static final int BOTTOM = 58;
    private static final int GAP = 26;

    private static final String STYLE = """
              <style>
                svg { color-scheme: light dark; --ink: #1c2430; --soft: #66707d; --line: #d5dae1; --mark: #0b6bcb;
                  --back: #ffffff; background: var(--back); font: 12px system-ui, sans-serif; }
                @media (prefers-color-scheme: dark) {
                  svg { --ink: #e6e9ee; --soft: #98a2b0; --line: #39414d; --mark: #62b0ff; --back: #14181e; }
                }
                text { fill: var(--ink); } .soft { fill: var(--soft); } .title { font-size: 15px; font-weight: 600; }
                .grid { stroke: var(--line); } .curve { fill: none; stroke: var(--mark); stroke-width: 1.5; }
                .range { stroke: var(--mark); stroke-width: 1.5; }
                .dot { fill: var(--back); stroke: var(--mark); stroke-width: 1.5; } .chosen { fill: var(--mark); }
                .back { fill: var(--back); }
              </style>
            """;

    private final Tuning tuning;
    private final double unitsPerSample;
    private final String unit;
    private final String title;
    private final Markup svg = new Markup();

    private TuningChart(Tuning tuning, double unitsPerSample, String unit, String title) {
        this.tuning = Objects.requireNonNull(tuning, "tuning");
        this.unitsPerSample = unitsPerSample;
        this.unit = unit;
        this.title = title;
    }

    /**
     * {@return the chart, an SVG document}
     *
     * @param tuning the search's result
     * @param unitsPerSample units per sample, for example its tokens
     * @param unit the unit of the rate, for example {@code tokens/s}
     * @param title a line above the image
     */
    public static String svg(Tuning tuning, double unitsPerSample, String unit, String title) {
        return new TuningChart(tuning, unitsPerSample, unit, title).draw();
    }

    private String draw() {
        List<Curve> curves = tuning.curves().stream().filter(curve -> !curve.setting().equals("final")).toList();
        double highest = curves.stream().flatMap(curve -> curve.points().stream())
                .mapToDouble(Measured::high).max().orElse(1) * unitsPerSample;
        int width = LEFT + Math.max(1, curves.size()) * (PANEL_WIDTH + GAP);
        int height = TOP + PANEL_HEIGHT + BOTTOM;
        svg.open("svg", "xmlns", "http://www.w3.org/2000/svg", "viewBox", "0 0 " + width + " " + height,
                "width", width, "height", height, "role", "img");
        svg.element("title", title).raw(STYLE).empty("rect", "class", "back", "width", width, "height", height);
        svg.element("text", title, "class", "title", "x", 16, "y", 24);
        svg.element("text", unit + "; median of the rounds and its 95 % interval; filled: chosen", "class", "soft",
                "x", 16, "y", 44);
        Axis y = Axis.of(highest, TOP + PANEL_HEIGHT, TOP);
        for (int c = 0; c < curves.size(); c++) {
            panel(curves.get(c), LEFT + c * (PANEL_WIDTH + GAP), y, c == 0);
        }
        return svg.close().toString();
    }

    private void panel(Curve curve, int left, Axis axis, boolean labeled) {
        for (double tick : axis.ticks()) {
            double y = axis.pixel(tick);
            svg.empty("line", "class", "grid", "x1", left, "x2", left + PANEL_WIDTH, "y1", y, "y2", y);
            if (labeled) {
                svg.element("text", NumberText.round(tick, ""), "class", "soft", "x", left - 8, "y", y + 4,
                        "text-anchor", "end");
            }
        }
        List<Measured> points = curve.points();
        StringBuilder path = new StringBuilder();
        for (int i = 0; i < points.size(); i++) {
            path.append(String.format(Locale.ROOT, "%s%.1f,%.1f", i == 0 ? "" : " ", x(i, points.size(), left),
                    axis.pixel(points.get(i).samplesPerSecond() * unitsPerSample)));
        }
        if (!curve.setting().equals("read")) {
            svg.empty("polyline", "class", "curve", "points", path);
        }
        for (int i = 0; i < points.size(); i++) {
            Measured point = points.get(i);
            double x = x(i, points.size(), left);
            svg.empty("line", "class", "range", "x1", x, "x2", x, "y1", axis.pixel(point.low() * unitsPerSample),
                    "y2", axis.pixel(point.high() * unitsPerSample));
            svg.empty("circle", "class", point == curve.chosen() ? "dot chosen" : "dot", "cx", x,
                    "cy", axis.pixel(point.samplesPerSecond() * unitsPerSample), "r", 4);
            svg.element("text", curve.value(point.candidate()), "x", x, "y", TOP + PANEL_HEIGHT + 18,
                    "text-anchor", "middle");
        }
        svg.element("text", curve.setting().replace('_', ' '), "class", "soft", "x", left + PANEL_WIDTH / 2,
                "y", TOP + PANEL_HEIGHT + 40, "text-anchor", "middle");
    }

    private static double x(int index, int count, int left) {
        return left + PANEL_WIDTH * (index + 0.5) / count;
    }
}
