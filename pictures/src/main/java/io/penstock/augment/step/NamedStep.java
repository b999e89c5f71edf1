// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.image.StepParameters;
import io.penstock.sampling.KeyedRandom;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * A step of a pipeline.
 *
 * @param name which keys its random numbers
 * @param number {@link KeyedRandom#step} of the name
 * @param step what it does
 * @param form the step's
 */
public record NamedStep(String name, long number, Step step, Form form) {

    /** Names a step. */
    static NamedStep of(String name, Step step) {
        return new NamedStep(name, KeyedRandom.step(name), step, step.form());
    }

    /** Draws the step's parameters by its own key. A step that is not random needs no generator. */
    public void draw(RandomGenerator random, int height, int width, double[] values) {
        draw(random, height, width, values, 0);
    }

    /** Draws the parameters into the array, from an index on. */
    void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        if (!form.is(Form.Trait.FIXED)) {
            keyed(random).select(number);
        }
        step.draw(random, height, width, values, at);
    }

    private static KeyedRandom keyed(RandomGenerator random) {
        if (random instanceof KeyedRandom keyed) {
            return keyed;
        }
        random.nextLong();                                      // outside a loader's batch this throws, and says so
        throw new IllegalStateException("found random numbers of " + random + ", expected a loader's");
    }

    /** Gives the drawn numbers their names. */
    public StepParameters parameters(double[] values) {
        Map<String, Double> byName = new LinkedHashMap<>();
        for (String parameter : form.parameters()) {
            byName.put(parameter, values[byName.size()]);
        }
        return new StepParameters(name, byName);
    }

    /**
     * Puts given parameters into an array.
     *
     * @throws IllegalArgumentException if they are not this step's
     */
    public void values(StepParameters given, double[] into) {
        List<String> names = form.parameters();
        if (!given.step().equals(name) || !given.values().keySet().equals(Set.copyOf(names))) {
            throw new IllegalArgumentException("found " + given + ", expected " + names + " of " + name);
        }
        for (int k = 0; k < names.size(); k++) {
            into[k] = given.values().getOrDefault(names.get(k), 0.0);
        }
    }
}
