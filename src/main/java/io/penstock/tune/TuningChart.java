package io.penstock.tune;

import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * Draws the curves of a search as an SVG picture: a panel a setting, throughput upwards from zero, a dot at the median
 * with its interval, the chosen value filled. Colors follow the reader's light or dark scheme.
 */
public final class TuningChart {

    private static final int PANEL_WIDTH = 250;
    private static final int PANEL_HEIGHT = 190;
    private static final int LEFT = 74;
    private static final int TOP = 62;
    private static final int BOTTOM = 58;
    private static final int GAP = 26;
    private static final int GRID_LINES = 4;
    private static final double HEADROOM = 1.08;

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
    private final StringBuilder out = new StringBuilder();

    private TuningChart(Tuning tuning, double unitsPerSample, String unit, String title) {
        this.tuning = Objects.requireNonNull(tuning, "tuning");
        this.unitsPerSample = unitsPerSample;
        this.unit = unit;
        this.title = title;
    }

    /**
     * Draws.
     *
     * @param tuning what was found
     * @param unitsPerSample what a sample counts for, for example its tokens
     * @param unit what that is a second, for example {@code tokens/s}
     * @param title a line above the picture
     * @return an SVG document
     */
    public static String svg(Tuning tuning, double unitsPerSample, String unit, String title) {
        return new TuningChart(tuning, unitsPerSample, unit, title).draw();
    }

    private String draw() {
        List<Curve> curves = tuning.curves().stream().filter(curve -> !curve.setting().equals("final")).toList();
        double highest = curves.stream().flatMap(curve -> curve.points().stream())
                .mapToDouble(Measured::high).max().orElse(1) * unitsPerSample * HEADROOM;
        int width = LEFT + Math.max(1, curves.size()) * (PANEL_WIDTH + GAP);
        int height = TOP + PANEL_HEIGHT + BOTTOM;
        line("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\""
                + " role=\"img\">", width, height, width, height);
        line("  <title>%s</title>", escaped(title));
        out.append(STYLE);
        line("  <rect class=\"back\" width=\"%d\" height=\"%d\"/>", width, height);
        line("  <text class=\"title\" x=\"16\" y=\"24\">%s</text>", escaped(title));
        line("  <text class=\"soft\" x=\"16\" y=\"44\">%s; median of the rounds and its 95 %% interval; filled: chosen"
                + "</text>", escaped(unit));
        double step = niceStep(highest / GRID_LINES);
        for (int c = 0; c < curves.size(); c++) {
            panel(curves.get(c), LEFT + c * (PANEL_WIDTH + GAP), highest, step, c == 0);
        }
        line("</svg>");
        return out.toString();
    }

    private void panel(Curve curve, int left, double highest, double step, boolean labelled) {
        for (double value = 0; value <= highest; value += step) {
            double y = y(value, highest);
            line("  <line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", left,
                    left + PANEL_WIDTH, y, y);
            if (labelled) {
                line("  <text class=\"soft\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>", left - 8, y + 4,
                        readable(value));
            }
        }
        List<Measured> points = curve.points();
        StringBuilder path = new StringBuilder();
        for (int i = 0; i < points.size(); i++) {
            path.append(String.format(Locale.ROOT, "%s%.1f,%.1f", i == 0 ? "" : " ", x(i, points.size(), left),
                    y(points.get(i).samplesPerSecond() * unitsPerSample, highest)));
        }
        if (!curve.setting().equals("read")) {
            line("  <polyline class=\"curve\" points=\"%s\"/>", path);
        }
        for (int i = 0; i < points.size(); i++) {
            Measured point = points.get(i);
            double x = x(i, points.size(), left);
            line("  <line class=\"range\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", x, x,
                    y(point.low() * unitsPerSample, highest), y(point.high() * unitsPerSample, highest));
            line("  <circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>",
                    point == curve.chosen() ? "dot chosen" : "dot", x,
                    y(point.samplesPerSecond() * unitsPerSample, highest));
            line("  <text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>", x, TOP + PANEL_HEIGHT + 18,
                    escaped(curve.value(point.candidate())));
        }
        line("  <text class=\"soft\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>", left + PANEL_WIDTH / 2,
                TOP + PANEL_HEIGHT + 40, escaped(curve.setting().replace('_', ' ')));
    }

    private static double x(int index, int count, int left) {
        return left + PANEL_WIDTH * (index + 0.5) / count;
    }

    private static double y(double value, double highest) {
        return TOP + PANEL_HEIGHT * (1 - Math.min(1, value / highest));
    }

    /** 1, 2 or 5 times a power of ten, at least so much. */
    private static double niceStep(double least) {
        double power = Math.pow(10, Math.floor(Math.log10(Math.max(least, Double.MIN_NORMAL))));
        for (double factor : new double[] {1, 2, 5}) {
            if (factor * power >= least) {
                return factor * power;
            }
        }
        return 10 * power;
    }

    private static String readable(double value) {
        String prefixes = " kMGTP";
        double scaled = value;
        int prefix = 0;
        while (scaled >= 999.5 && prefix < prefixes.length() - 1) {
            scaled /= 1000;
            prefix++;
        }
        String digits = scaled == Math.rint(scaled) ? Long.toString((long) scaled)
                : String.format(Locale.ROOT, "%.3g", scaled);
        return prefix == 0 ? digits : digits + " " + prefixes.charAt(prefix);
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private void line(String format, Object... values) {
        out.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}
