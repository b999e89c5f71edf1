// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.report;

import io.penstock.diagnose.markup.Axis;
import io.penstock.diagnose.markup.Markup;
import io.penstock.text.NumberText;
import java.util.List;

/** Horizontal bars: one stacked bar, or rows of bars. */
final class Bars {

    private static final double ROW = 26;
    /** What a letter of a label takes at most, in pixels. */
    private static final double LETTER = 7;
    private static final double GAP = 10;
    /** The least of a bar's room beside its label; with less, the label stands above the bar. */
    private static final double LEAST_BAR = 200;

    /** A bar, or a part of a stacked bar; {@code whisker} is a second, larger value to mark, NaN for none. */
    record Bar(String label, double value, String text, String cssClass, double whisker) {
    }

    static String stacked(String label, List<Bar> parts, int width) {
        double sum = parts.stream().mapToDouble(Bar::value).sum();
        Markup svg = new Markup();
        svg.open("svg", "viewBox", "0 0 " + width + " 44", "role", "img", "aria-label", label);
        double at = 0;
        for (Bar part : parts) {
            double of = sum == 0 ? 0 : width * part.value() / sum;
            String tip = part.label() + ": " + part.text() + ", " + NumberText.percent(part.value() / sum);
            svg.open("rect", "class", part.cssClass(), "x", at, "y", 4.0, "width", of, "height", 36.0);
            svg.element("title", tip).close();
            if (of > 9.0 * part.label().length()) {
                svg.element("text", part.label(), "class", "inside", "x", at + of / 2, "y", 27.0,
                        "text-anchor", "middle");
            }
            at += of;
        }
        return svg.close().toString();
    }

    static String rows(String label, List<Bar> bars, int width) {
        double greatest = bars.stream().mapToDouble(bar -> Double.isNaN(bar.whisker()) ? bar.value()
                : Math.max(bar.value(), bar.whisker())).max().orElse(1);
        double texts = GAP + LETTER * bars.stream().mapToInt(bar -> bar.text().length()).max().orElse(0);
        double labels = GAP + LETTER * bars.stream().mapToInt(bar -> bar.label().length()).max().orElse(0);
        boolean isAbove = width - labels - texts < LEAST_BAR;
        double left = isAbove ? 0 : labels;
        double row = isAbove ? 2 * ROW - 8 : ROW;
        Axis x = Axis.upTo(greatest, left, Math.max(left + 1, width - texts));
        Markup svg = new Markup();
        svg.open("svg", "viewBox", "0 0 " + width + " " + (int) (row * bars.size() + 4), "role", "img",
                "aria-label", label);
        double y = 4;
        for (Bar bar : bars) {
            double right = x.pixel(Math.max(0, bar.value()));
            svg.element("text", bar.label(), "class", "label", "x", isAbove ? 0 : left - GAP, "y", y + 15,
                    "text-anchor", isAbove ? "start" : "end");
            y += row - ROW;
            svg.open("rect", "class", bar.cssClass(), "x", left, "y", y + 2, "width",
                    Math.max(1, right - left), "height", ROW - 8);
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
