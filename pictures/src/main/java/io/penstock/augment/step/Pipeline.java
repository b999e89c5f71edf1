// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.image.ImageDecoding;
import io.penstock.sampling.KeyedRandom;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What is done to an image.
 *
 * @param name keys the random numbers of the steps
 * @param steps in order
 * @param ending what happens behind them
 * @param decoding how files become pixels; null for the default
 */
public record Pipeline(String name, List<NamedStep> steps, Ending ending, @Nullable ImageDecoding decoding) {

    /** The name of a pipeline that is given none. */
    public static final String USUAL = "penstock.augment";

    /** Returns a pipeline without steps. */
    public static Pipeline named(String name) {
        KeyedRandom.step(name);
        return new Pipeline(name, List.of(), Ending.NONE, null);
    }

    /** Adds a step. */
    public Pipeline with(Step step) {
        if (ending.dtype() != null) {
            throw new IllegalStateException(step + " after normalize or to, expected before: it changes u8 pixels");
        }
        String operation = step.form().operation();
        long before = each().stream().filter(other -> other.form().operation().equals(operation)).count();
        return new Pipeline(name, Fused.add(steps, NamedStep.of(
                name + "." + operation + (before == 0 ? "" : "." + (before + 1)), step)), ending, decoding);
    }

    public Pipeline with(Ending end) {
        return new Pipeline(name, steps, end, decoding);
    }

    public Pipeline with(ImageDecoding how) {
        return new Pipeline(name, steps, ending, how);
    }

    /** Returns the steps one by one. Before steps that are to be fused, there is a fused step without steps. */
    public List<Step> each() {
        return steps.stream().map(NamedStep::step).flatMap(step -> step instanceof Fused fused
                ? Stream.concat(Stream.of(Fused.NONE), fused.steps().stream().map(NamedStep::step))
                : Stream.of(step)).toList();
    }

    /** Returns the same steps, drawing under another name. */
    public Pipeline renamed(String other) {
        Pipeline renamed = named(other);
        for (Step step : each()) {
            renamed = renamed.with(step);
        }
        return new Pipeline(other, renamed.steps, ending, decoding);
    }

    @Override
    public String toString() {
        return name + ": " + steps.stream().map(named -> named.step().toString()).collect(Collectors.joining(", "));
    }
}
