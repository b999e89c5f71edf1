// SPDX-License-Identifier: Apache-2.0
package io.penstock.tune;

import io.penstock.json.Json;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The result of a search.
 *
 * @param chosen the recommended setting: the cheapest that is as fast as the fastest, or with a step the cheapest
 *     that fully overlaps loading with it; null if interrupted before any result
 * @param standard the loader's default setting
 * @param curves throughput by each setting in turn, the others fixed; the last compares the finalists
 * @param besideStep waits beside a step, cheapest setting first; empty without a step
 * @param stepNanos the step time; 0 without a step
 * @param hidden whether {@code chosen} fully overlaps loading with that step
 * @param overMemory number of settings left out because they need more memory than allowed
 * @param rounds number of rounds
 * @param nanos duration of the search
 * @param interrupted whether it ended early
 */
public record Tuning(@Nullable SearchPoint chosen, SearchPoint standard, List<Curve> curves, List<StepWait> besideStep,
        long stepNanos, boolean hidden, int overMemory, long rounds, long nanos, boolean interrupted) {

    /**
     * A setting's wait beside a step.
     *
     * @param candidate the setting
     * @param memoryBytes memory of its slots
     * @param waitNanos the mean wait per step: the median over the rounds
     * @param rounds number of rounds
     * @param hidden whether the wait is negligible
     */
    public record StepWait(SearchPoint candidate, long memoryBytes, double waitNanos, int rounds, boolean hidden) {
    }

    /** Copies the lists. */
    public Tuning {
        curves = List.copyOf(curves);
        besideStep = List.copyOf(besideStep);
    }

    /**
     * {@return the point of a setting on the last curve that includes it}
     *
     * @param candidate the setting
     */
    public Optional<Measured> measured(SearchPoint candidate) {
        return curves.reversed().stream().flatMap(curve -> curve.points().stream())
                .filter(point -> point.candidate().equals(candidate)).findFirst();
    }

    /** {@return the whole result: maps, lists and values for a JSON writer} */
    public Map<String, @Nullable Object> toMap() {
        Map<String, @Nullable Object> fields = Json.members("chosen", chosen == null ? null : fields(chosen),
                "default", fields(standard), "interrupted", interrupted, "rounds", rounds, "seconds", nanos / 1e9,
                "over_memory", overMemory);
        fields.put("curves", curves.stream().map(curve -> Json.members("setting", curve.setting(),
                "chosen", fields(curve.chosen().candidate()),
                "points", curve.points().stream().map(Tuning::fields).toList())).toList());
        if (stepNanos > 0) {
            fields.put("step_ms", stepNanos / 1e6);
            fields.put("hidden", hidden);
            fields.put("beside_step", besideStep.stream().map(Tuning::fields).toList());
        }
        return fields;
    }

    private static Map<String, @Nullable Object> fields(SearchPoint candidate) {
        return Json.members("workers", candidate.workers(), "prefetch", candidate.prefetch(),
                "read", candidate.readMode().toString(), "device_slots", candidate.deviceSlots());
    }

    private static Map<String, @Nullable Object> fields(Measured point) {
        Map<String, @Nullable Object> fields = fields(point.candidate());
        fields.putAll(Json.members("memory_bytes", point.memoryBytes(), "rounds", point.rounds(),
                "samples_per_second", point.samplesPerSecond(), "low", point.low(), "high", point.high(),
                "to_fastest", point.toFastest().ratio(), "verdict", point.standing().toString()));
        return fields;
    }

    private static Map<String, @Nullable Object> fields(StepWait wait) {
        Map<String, @Nullable Object> fields = fields(wait.candidate());
        fields.putAll(Json.members("memory_bytes", wait.memoryBytes(), "rounds", wait.rounds(),
                "wait_ms", wait.waitNanos() / 1e6, "hidden", wait.hidden()));
        return fields;
    }
}
