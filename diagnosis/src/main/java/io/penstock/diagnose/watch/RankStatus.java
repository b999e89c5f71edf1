// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.watch;

import io.penstock.json.Json;
import io.penstock.json.JsonException;
import io.penstock.json.RecordJson;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What one rank says of its latest steps. Means are over the latest fifty steps without the three longest, so that one
 * pause names nobody. NaN is what is not known. The texts of a status that was read have no control characters.
 *
 * @param run the run's name
 * @param rank the rank
 * @param worldSize number of ranks
 * @param host the machine's name
 * @param pid the process
 * @param atMillis when this was said, by that machine's clock, since 1970
 * @param step number of batches taken
 * @param idleSeconds since the latest complete step was begun
 * @param doing what the trainer marked as no training and does now; empty for nothing
 * @param window number of steps that the means are over
 * @param stepsPerSecond one over the mean step
 * @param samplesPerSecond samples in these steps over their time
 * @param stepMillis mean step
 * @param parts where the mean step goes: causes of waiting, {@code compute}, {@code residual}; they add up to it
 * @param exchangeMillis the part of {@code compute} in which ranks wait for each other: marked backward passes; NaN
 *     without marks
 * @param waitedSeconds time that the trainer waited for input, since the run began
 * @param gpu the GPU's name, or why there is none
 * @param gpuUtilization 0 to 1
 * @param gpuMemoryBytes used of its memory
 * @param gpuTotalBytes all of its memory
 * @param residentBytes RAM of the process
 */
public record RankStatus(String run, int rank, int worldSize, String host, long pid, long atMillis, long step,
        double idleSeconds, String doing, int window, double stepsPerSecond, double samplesPerSecond,
        double stepMillis, List<StepPart> parts, double exchangeMillis, double waitedSeconds, String gpu,
        double gpuUtilization, double gpuMemoryBytes, double gpuTotalBytes, double residentBytes) {

    /** The part in which the trainer computes. */
    public static final String COMPUTE = "compute";
    /** The part that nothing accounts for. */
    public static final String RESIDUAL = "residual";
    /** More would be no status. */
    static final int MOST_BYTES = 64 << 10;
    private static final int MOST_PARTS = 32;
    private static final int MOST_CHARS = 100;
    private static final int MOST_RANKS = 1 << 20;
    private static final String FORMAT = "penstock-rank-1";

    /**
     * A part of the step.
     *
     * @param name a cause's label, or {@link #COMPUTE}, {@link #RESIDUAL}
     * @param millis mean time
     */
    public record StepPart(String name, double millis) {
    }

    /** Copies. */
    public RankStatus {
        parts = List.copyOf(parts);
    }

    /** {@return the mean time of a part; 0 if it is not among the parts} */
    double millis(String part) {
        return parts.stream().filter(one -> one.name.equals(part)).mapToDouble(StepPart::millis).sum();
    }

    /**
     * {@return the mean time of a step that the rank spends by itself, in which it waits for no other rank: without the
     * backward pass or, where that is not marked, without computing; NaN without steps}
     */
    public double ownMillis() {
        return stepMillis - (exchangeMillis >= 0 ? exchangeMillis : millis(COMPUTE));
    }

    /** {@return this as one line of JSON} */
    public String toJson() {
        Map<String, @Nullable Object> json = Json.members("format", FORMAT);
        json.putAll(RecordJson.members(this));
        return Json.write(json);
    }

    /**
     * Reads a status of anybody.
     *
     * @throws IllegalArgumentException if it is none
     */
    static RankStatus parse(byte[] json) {
        RankStatus read;
        try {
            if (!(Json.parse(json) instanceof Map<?, ?> members) || !FORMAT.equals(members.get("format"))) {
                throw new IllegalArgumentException("found no status of a rank");
            }
            read = RecordJson.record(members, RankStatus.class, "status");
        } catch (JsonException | ClassCastException | IllegalStateException e) {
            throw new IllegalArgumentException("found no status of a rank: " + e.getMessage(), e);
        }
        if (read.rank < 0 || read.worldSize > MOST_RANKS || read.rank >= Math.max(1, read.worldSize)
                || read.parts.size() > MOST_PARTS || read.parts.stream().anyMatch(part -> !(part.millis >= 0))) {
            throw new IllegalArgumentException("found rank " + read.rank + " of " + read.worldSize + " with "
                    + read.parts.size() + " parts, expected a status of a rank");
        }
        return new RankStatus(plain(read.run), read.rank, read.worldSize, plain(read.host), read.pid, read.atMillis,
                read.step, read.idleSeconds, plain(read.doing), read.window, read.stepsPerSecond,
                read.samplesPerSecond, read.stepMillis, read.parts.stream().map(part ->
                new StepPart(plain(part.name), part.millis)).toList(), read.exchangeMillis, read.waitedSeconds,
                plain(read.gpu), read.gpuUtilization, read.gpuMemoryBytes, read.gpuTotalBytes, read.residentBytes);
    }

    /** Whoever wrote the text does not steer the terminal that shows it. */
    static String plain(@Nullable String text) {
        String all = Objects.requireNonNullElse(text, "");
        StringBuilder plain = new StringBuilder();
        all.codePoints().limit(MOST_CHARS).forEach(c -> {
            int type = Character.getType(c);
            boolean shown = type != Character.CONTROL && type != Character.FORMAT && type != Character.SURROGATE
                    && type != Character.LINE_SEPARATOR && type != Character.PARAGRAPH_SEPARATOR;
            plain.appendCodePoint(shown ? c : '?');
        });
        return plain.toString();
    }
}
