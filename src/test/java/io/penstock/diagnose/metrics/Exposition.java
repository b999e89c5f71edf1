// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.metrics;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads Prometheus's text format, version 0.0.4, as its specification has it, and refuses all else: HELP and TYPE once
 * and before a family's samples, families in one piece, names and escapes as they may be, no sample twice.
 *
 * @param samples values by name and labels, as {@code name{a="b"}}
 * @param types the type of each family
 */
record Exposition(Map<String, Double> samples, Map<String, String> types) {

    private static final Pattern META = Pattern.compile("# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)");
    private static final Pattern SAMPLE = Pattern.compile(
            "([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{.*\\})? ([+-]?Inf|NaN|[+-]?[0-9.]+([eE][+-]?[0-9]+)?)");
    private static final Pattern LABEL = Pattern.compile(
            "\\G[{,]([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\\\\\"\n]|\\\\[\\\\\"n])*)\"");

    static Exposition parse(String text) {
        if (!text.endsWith("\n")) {
            throw new IllegalArgumentException("the last line does not end");
        }
        Map<String, Double> samples = new LinkedHashMap<>();
        Map<String, String> types = new LinkedHashMap<>();
        Set<String> helped = new LinkedHashSet<>();
        String family = null;
        for (String line : text.substring(0, text.length() - 1).split("\n", -1)) {
            Matcher meta = META.matcher(line);
            Matcher sample = SAMPLE.matcher(line);
            if (meta.matches()) {
                family = meta.group(2);
                boolean isFirst = meta.group(1).equals("HELP") ? helped.add(family)
                        : types.put(family, meta.group(3)) == null;
                check(isFirst && samples.keySet().stream().noneMatch((family + "{")::startsWith), line);
                check(meta.group(1).equals("HELP") || Set.of("counter", "gauge").contains(meta.group(3)), line);
            } else {
                check(sample.matches() && sample.group(1).equals(family) && types.containsKey(family), line);
                check(!types.get(family).equals("counter") || family.endsWith("_total"), line);
                String labels = sample.group(2) == null ? "" : labels(sample.group(2));
                double value = Double.parseDouble(sample.group(3).replace("Inf", "Infinity"));
                check(samples.put(family + labels, value) == null, line);
            }
        }
        return new Exposition(samples, types);
    }

    private static String labels(String text) {
        Map<String, String> labels = new LinkedHashMap<>();
        Matcher label = LABEL.matcher(text);
        int end = 0;
        while (label.find()) {
            String value = label.group(2).replace("\\n", "\n").replace("\\\"", "\"").replace("\\\\", "\\");
            check(labels.put(label.group(1), value) == null, text);
            end = label.end();
        }
        check(text.substring(end).equals("}"), text);
        return labels.toString();
    }

    private static void check(boolean condition, String line) {
        if (!condition) {
            throw new IllegalArgumentException("not as the format has it: " + line);
        }
    }
}
