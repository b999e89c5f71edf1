// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.metrics;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes metrics in Prometheus's text exposition format, version 0.0.4: a HELP and a TYPE line per name, then one line
 * per combination of labels.
 */
final class PrometheusText {

    static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    static String write(Metrics metrics) {
        Map<String, List<Metric>> families = new LinkedHashMap<>();
        for (Metric metric : metrics.all()) {
            families.computeIfAbsent(metric.prometheusName(), name -> new ArrayList<>()).add(metric);
        }
        StringBuilder text = new StringBuilder();
        families.forEach((name, family) -> {
            Metric first = family.getFirst();
            text.append("# HELP ").append(name).append(' ').append(escaped(first.help(), false)).append('\n');
            text.append("# TYPE ").append(name).append(' ')
                    .append(first.type() == Metric.Type.COUNTER ? "counter" : "gauge").append('\n');
            for (Metric metric : family) {
                text.append(name);
                appendLabels(text, metric.labels());
                text.append(' ').append(number(metric.value().getAsDouble())).append('\n');
            }
        });
        return text.toString();
    }

    private static void appendLabels(StringBuilder text, Map<String, String> labels) {
        char before = '{';
        for (Map.Entry<String, String> label : labels.entrySet()) {
            text.append(before).append(label.getKey()).append("=\"").append(escaped(label.getValue(), true))
                    .append('"');
            before = ',';
        }
        text.append(labels.isEmpty() ? "" : "}");
    }

    private static String escaped(String text, boolean quoted) {
        String escaped = text.replace("\\", "\\\\").replace("\n", "\\n");
        return quoted ? escaped.replace("\"", "\\\"") : escaped;
    }

    private static String number(double value) {
        if (value == Math.rint(value) && Math.abs(value) < 1e15) {
            return Long.toString((long) value);
        }
        return Double.isInfinite(value) ? value > 0 ? "+Inf" : "-Inf" : Double.toString(value);
    }
}
