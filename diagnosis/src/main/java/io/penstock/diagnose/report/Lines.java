// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.report;

import io.penstock.diagnose.markup.Axis;
import io.penstock.diagnose.markup.Markup;
import io.penstock.text.NumberText;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;

/** A chart of quantities over a run's seconds, in one unit from 0 up. */
final class Lines {

    private static final double HEIGHT = 210;
    private static final double LEFT = 70;
    private static final double TOP = 12;
    private static final double BOTTOM = 180;

    private final double right;
    private final double[] seconds;
    private final Markup svg = new Markup();
    private final Axis x;
    private final Axis y;

    /** A chart with axes: times ascend, values go up to the greatest, and the unit formats one. */
    Lines(String label, int width, double[] seconds, double greatest, DoubleFunction<String> unit) {
        this.right = width - 10;
        this.seconds = seconds;
        this.x = Axis.upTo(seconds.length == 0 ? 1 : seconds[seconds.length - 1], LEFT, right);
        this.y = Axis.of(greatest, BOTTOM, TOP);
        svg.open("svg", "viewBox", "0 0 " + width + " " + (int) HEIGHT, "role", "img", "aria-label", label);
        for (double tick : y.ticks()) {
            svg.empty("line", "class", "grid", "x1", LEFT, "x2", right, "y1", y.pixel(tick), "y2", y.pixel(tick));
            svg.element("text", unit.apply(tick), "class", "tick", "x", LEFT - 8, "y", y.pixel(tick) + 4,
                    "text-anchor", "end");
        }
        for (double tick : x.ticks()) {
            svg.element("text", NumberText.digits(tick) + " s", "class", "tick", "x", x.pixel(tick), "y", BOTTOM + 18,
                    "text-anchor", "middle");
        }
    }

    /** Marks points in time, such as epoch starts. */
    Lines marks(List<Double> at, String title) {
        for (double second : at) {
            svg.open("line", "class", "mark", "x1", x.pixel(second), "x2", x.pixel(second), "y1", TOP, "y2", BOTTOM);
            svg.element("title", title).close();
        }
        return this;
    }

    Lines line(double[] values, String cssClass) {
        svg.empty("path", "class", "line " + cssClass, "d", path(values));
        return this;
    }

    Lines area(double[] values, String cssClass) {
        if (values.length > 0) {
            svg.empty("path", "class", "area " + cssClass, "d", path(values) + point(" L", values.length - 1, 0)
                    + point(" L", 0, 0) + " Z");
        }
        return this;
    }

    Lines tips(List<String> tips) {
        for (int i = 0; i < tips.size(); i++) {
            double from = x.pixel(seconds[i]);
            double to = i + 1 < tips.size() ? x.pixel(seconds[i + 1]) : right;
            svg.open("rect", "class", "tip", "x", from, "y", TOP, "width", Math.max(1, to - from), "height",
                    BOTTOM - TOP);
            svg.element("title", tips.get(i)).close();
        }
        return this;
    }

    private String path(double[] values) {
        StringBuilder path = new StringBuilder();
        for (int i = 0; i < values.length; i++) {
            path.append(point(i == 0 ? "M" : " L", i, values[i]));
        }
        return path.toString();
    }

    private String point(String command, int i, double value) {
        return String.format(Locale.ROOT, "%s%.1f %.1f", command, x.pixel(seconds[i]), y.pixel(value));
    }

    String end() {
        return svg.close().toString();
    }
}
