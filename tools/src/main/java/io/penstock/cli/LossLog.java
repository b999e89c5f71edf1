// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.io.local.RegularFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.function.DoubleUnaryOperator;

/**
 * A trainer's log of losses, and which of its steps are the worst: those whose loss is furthest above the running
 * median, so that a loss that falls does not matter.
 *
 * <p>The running median is that of {@value #HALF} entries before a step, the step, and {@value #HALF} after it. Near
 * the start of the log, where a loss falls fast, it takes as many before as after. A deviation is what the loss is
 * above it, divided by the spread: 1.4826 times the median distance of the 101 entries around it from that median,
 * which is a standard deviation if they are normally distributed and do not fall. The spread is at least a tenth of
 * that of the whole log about its running medians.
 *
 * @param entries in the order of their steps; of a step that was logged twice, the last
 */
record LossLog(List<Entry> entries) {

    private static final int HALF = 50;
    private static final double TO_STANDARD_DEVIATION = 1.4826;
    private static final double LEAST_SHARE_OF_SPREAD = 0.1;
    private static final double STANDS_OUT = 5;
    private static final int FEWEST = 3;
    private static final int MOST = 50;

    /**
     * A step of the log.
     *
     * @param step its number
     * @param loss its loss; may be infinite or not a number
     * @param median the running median there
     * @param deviations how many standard deviations it is above that
     */
    record Entry(long step, double loss, double median, double deviations) {
    }

    /** Reads a CSV file with a header; its columns {@code step} and {@code loss} matter. */
    static LossLog read(Path file) throws IOException {
        List<String> lines;
        try {
            ByteBuffer bytes = ByteBuffer.wrap(RegularFile.readAllBytes(file));
            lines = StandardCharsets.UTF_8.newDecoder().decode(bytes).toString().lines().toList();
        } catch (CharacterCodingException e) {
            throw new BadInputException(file + ": found bytes that are not UTF-8, expected a CSV file", e);
        }
        List<String> header = lines.isEmpty() ? List.of()
                : fields(lines.getFirst()).stream().map(name -> name.toLowerCase(Locale.ROOT)).toList();
        int step = header.indexOf("step");
        int loss = header.indexOf("loss");
        if (step < 0 || loss < 0) {
            throw new BadInputException(file + ": line 1: found columns " + header + ", expected step and loss");
        }
        TreeMap<Long, Double> losses = new TreeMap<>();
        for (int i = 1; i < lines.size(); i++) {
            List<String> fields = fields(lines.get(i));
            if (fields.size() <= Math.max(step, loss)) {
                if (lines.get(i).isBlank()) {
                    continue;
                }
                throw new BadInputException(file + ": line " + (i + 1) + ": found " + fields.size()
                        + " columns, expected " + header.size());
            }
            if (!fields.get(loss).isEmpty()) {          // empty: a line of something else that is logged
                losses.put(step(file, i + 1, fields.get(step)), loss(file, i + 1, fields.get(loss)));
            }
        }
        return of(losses);
    }

    private static long step(Path file, int line, String text) {
        try {
            long step = text.endsWith(".0") ? Long.parseLong(text, 0, text.length() - 2, 10) : Long.parseLong(text);
            if (step >= 0) {
                return step;
            }
        } catch (NumberFormatException _) {
            // Said below.
        }
        throw new BadInputException(file + ": line " + line + ": found step '" + text + "', expected a whole number");
    }

    private static double loss(Path file, int line, String text) {
        try {
            return switch (text.toLowerCase(Locale.ROOT)) {
                case "nan", "+nan", "-nan" -> Double.NaN;
                case "inf", "+inf", "infinity" -> Double.POSITIVE_INFINITY;
                case "-inf", "-infinity" -> Double.NEGATIVE_INFINITY;
                default -> Double.parseDouble(text);
            };
        } catch (NumberFormatException e) {
            throw new BadInputException(file + ": line " + line + ": found loss '" + text + "', expected a number", e);
        }
    }

    /** The fields of a line of CSV; one in quotes may have commas, and two quotes for one. */
    private static List<String> fields(String line) {
        List<String> fields = new ArrayList<>();
        StringBuilder field = new StringBuilder();
        boolean quoted = false;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (c == '"') {
                if (quoted && i + 1 < line.length() && line.charAt(i + 1) == '"') {
                    field.append('"');
                    i++;
                } else {
                    quoted = !quoted;
                }
            } else if (c == ',' && !quoted) {
                fields.add(field.toString().strip());
                field.setLength(0);
            } else if (c != '\uFEFF') {                 // the mark that some programs begin a file with
                field.append(c);
            }
        }
        fields.add(field.toString().strip());
        return fields;
    }

    /** The log of losses by step. */
    static LossLog of(TreeMap<Long, Double> losses) {
        long[] steps = losses.keySet().stream().mapToLong(step -> step).toArray();
        double[] values = losses.values().stream().mapToDouble(loss -> loss).toArray();
        int count = values.length;
        double[] medians = new double[count];
        double[] distances = new double[count];
        double[] scratch = new double[2 * HALF + 1];
        for (int i = 0; i < count; i++) {
            medians[i] = median(values, Math.max(0, i - HALF), Math.min(count, i + Math.min(i, HALF) + 1),
                    value -> value, scratch);
            distances[i] = Math.abs(values[i] - medians[i]);
        }
        double least = LEAST_SHARE_OF_SPREAD * median(distances, 0, count, distance -> distance, new double[count]);
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            double center = medians[i];
            double spread = TO_STANDARD_DEVIATION * Math.max(least, median(values, Math.max(0, i - HALF),
                    Math.min(count, i + HALF + 1), value -> Math.abs(value - center), scratch));
            entries.add(new Entry(steps[i], values[i], medians[i], deviations(values[i], medians[i], spread)));
        }
        return new LossLog(entries);
    }

    private static double deviations(double loss, double median, double spread) {
        double above = loss - median;
        if (Double.isNaN(above)) {
            return Double.POSITIVE_INFINITY;
        }
        return spread > 0 ? above / spread : above > 0 ? Double.POSITIVE_INFINITY : 0;
    }

    /** The median of what is finite among some values, or of something of each; 0 if nothing is. */
    private static double median(double[] values, int from, int to, DoubleUnaryOperator of, double[] scratch) {
        int count = 0;
        for (int i = from; i < to; i++) {
            if (Double.isFinite(values[i])) {
                scratch[count++] = of.applyAsDouble(values[i]);
            }
        }
        if (count == 0) {
            return 0;
        }
        Arrays.sort(scratch, 0, count);
        return count % 2 == 1 ? scratch[count / 2] : (scratch[count / 2 - 1] + scratch[count / 2]) / 2;
    }

    /**
     * The worst steps, the worst first.
     *
     * @param count how many; 0: those that are 5 deviations above the median, but 3 to 50, and at most a quarter of
     *     the log
     */
    List<Entry> worst(int count) {
        List<Entry> sorted = entries.stream().sorted(Comparator.comparingDouble(Entry::deviations).reversed()).toList();
        long standOut = sorted.stream().filter(entry -> entry.deviations() >= STANDS_OUT).count();
        long chosen = count > 0 ? count : Math.min(Math.clamp(standOut, FEWEST, MOST), Math.max(1, sorted.size() / 4));
        return sorted.subList(0, (int) Math.min(chosen, sorted.size()));
    }
}
