// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.html;

import io.penstock.markup.Axis;
import io.penstock.markup.Markup;
import io.penstock.text.NumberText;
import java.util.List;

/** Horizontal bars: one stacked bar, or rows of bars. */
final class Bars {

    private static final double WIDTH = 860;
    private static final double ROW = 26;
    private static final double LABELS = 150;

    /** A bar, or a part of a stacked bar; {@code whisker} is a second, larger value to mark, NaN for none. */
    record Bar(String label, double value, String text, String cssClass, double whisker) {
    }

    static String stacked(String label, List<Bar> parts) {
        double sum = parts.stream().mapToDouble(Bar::value).sum();
        Markup svg = new Markup();
        svg.open("svg", "viewBox", "0 0 " + (int) WIDTH + " 44", "role", "img", "aria-label", label);
        double at = 0;
        for (Bar part : parts) {
            double width = sum == 0 ? 0 : WIDTH * part.value() / sum;
            String tip = part.label() + ": " + part.text() + ", " + NumberText.percent(part.value() / sum);
            svg.open("rect", "class", part.cssClass(), "x", at, "y", 4.0, "width", width, "height", 36.0);
            svg.element("title", tip).close();
            if (width > 9.0 * part.label().length()) {
                svg.element("text", part.label(), "class", "inside", "x", at + width / 2, "y", 27.0,
                        "text-anchor", "middle");
            }
            at += width;
        }
        return svg.close().toString();
    }

    static String rows(String label, List<Bar> bars) {
        double greatest = bars.stream().mapToDouble(bar -> Double.isNaN(bar.whisker()) ? bar.value()
                : Math.max(bar.value(), bar.whisker())).max().orElse(1);
        double end = WIDTH - 130;
        Axis x = Axis.of(greatest, LABELS, end);
        Markup svg = new Markup();
        svg.open("svg", "viewBox", "0 0 " + (int) WIDTH + " " + (int) (ROW * bars.size() + 4), "role", "img",
                "aria-label", label);
        double y = 4;
        for (Bar bar : bars) {
            double right = x.pixel(Math.max(0, bar.value()));
            svg.element("text", bar.label(), "class", "label", "x", LABELS - 10, "y", y + 15, "text-anchor", "end");
            svg.open("rect", "class", bar.cssClass(), "x", LABELS, "y", y + 2, "width",
                    Math.max(1, right - LABELS), "height", ROW - 8);
            svg.element("title", bar.label() + ": " + bar.text()).close();
            double text = right;
            if (!Double.isNaN(bar.whisker()) && bar.whisker() > bar.value()) {
                double to = x.pixel(bar.whisker());
                svg.empty("line", "class", "whisker", "x1", right, "x2", to, "y1", y + 11, "y2", y + 11);
                svg.empty("line", "class", "whisker", "x1", to, "x2", to, "y1", y + 6, "y2", y + 16);
                text = to;
            }
            svg.element("text", bar.text(), "class", "value", "x", text + 8, "y", y + 15);
            y += ROW;
        }
        return svg.close().toString();
    }
}
