// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.dataset.source.SampleMap;
import io.penstock.memory.Tensor;
import io.penstock.sampling.KeyedRandom;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Runs the steps of a pipeline on images of one shape.
 *
 * @param steps the steps, each with its name's number
 * @param height of the images
 * @param width of the images
 * @param channels of the images
 */
record AugmentMap(List<Named> steps, int height, int width, int channels) implements SampleMap {

    private static final ThreadLocal<Workspace> OF_THREAD = ThreadLocal.withInitial(Workspace::new);

    /**
     * A step of a pipeline.
     *
     * @param name which keys its random numbers
     * @param number {@link KeyedRandom#step} of the name
     * @param step what it does
     */
    record Named(String name, long number, Step step) {
    }

    /** What a thread reuses for all images. */
    private static final class Workspace {
        final Canvas canvas = new Canvas();
        final double[] values = new double[Step.MAX_PARAMETERS];
    }

    @Override
    public void map(Tensor in, RandomGenerator random, Tensor out) {
        Workspace workspace = OF_THREAD.get();
        Canvas canvas = workspace.canvas;
        canvas.load(in.segment(), height, width, channels);
        for (int i = 0; i < steps.size(); i++) {
            Named named = steps.get(i);
            draw(named, random, canvas.height(), canvas.width(), workspace.values);
            named.step.apply(workspace.values, 0, canvas);
        }
        canvas.store(out.segment());
    }

    /** Applies given parameters. */
    void apply(List<StepParameters> parameters, Tensor in, Tensor out) {
        Workspace workspace = OF_THREAD.get();
        Canvas canvas = workspace.canvas;
        canvas.load(in.segment(), height, width, channels);
        for (int i = 0; i < steps.size(); i++) {
            Named named = steps.get(i);
            List<String> names = named.step.parameters();
            StepParameters given = parameters.get(i);
            if (!given.step().equals(named.name) || !given.values().keySet().equals(Set.copyOf(names))) {
                throw new IllegalArgumentException("found " + given + ", expected " + names + " of " + named.name);
            }
            for (int k = 0; k < names.size(); k++) {
                workspace.values[k] = given.values().getOrDefault(names.get(k), 0.0);
            }
            named.step.apply(workspace.values, 0, canvas);
        }
        canvas.store(out.segment());
    }

    /** Draws a step's parameters by its own key. A step that is not random needs no generator. */
    static void draw(Named named, RandomGenerator random, int height, int width, double[] values) {
        if (named.step.isRandom()) {
            keyed(random).select(named.number);
        }
        named.step.draw(random, height, width, values, 0);
    }

    private static KeyedRandom keyed(RandomGenerator random) {
        if (random instanceof KeyedRandom keyed) {
            return keyed;
        }
        random.nextLong();                                      // outside a loader's batch this throws, and says so
        throw new IllegalStateException("found random numbers of " + random + ", expected a loader's");
    }

    @Override
    public boolean readsInPlace() {
        return true;
    }
}
