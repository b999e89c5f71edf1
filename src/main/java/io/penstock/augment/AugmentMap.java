// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.dataset.source.PartClock;
import io.penstock.dataset.source.SampleMap;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.transform.ImageTransform;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

        /** Names values. */
        StepParameters parameters(double[] values) {
            Map<String, Double> byName = new LinkedHashMap<>();
            for (String parameter : step.parameters()) {
                byName.put(parameter, values[byName.size()]);
            }
            return new StepParameters(name, byName);
        }

        /**
         * Puts given parameters into an array.
         *
         * @throws IllegalArgumentException if they are not this step's
         */
        void values(StepParameters given, double[] into) {
            List<String> names = step.parameters();
            if (!given.step().equals(name) || !given.values().keySet().equals(Set.copyOf(names))) {
                throw new IllegalArgumentException("found " + given + ", expected " + names + " of " + name);
            }
            for (int k = 0; k < names.size(); k++) {
                into[k] = given.values().getOrDefault(names.get(k), 0.0);
            }
        }
    }

    /** What a thread reuses for all images. */
    static final class Workspace {
        final Canvas canvas = new Canvas();
        final Placement placement = new Placement();
        final double[] values = new double[Step.MAX_PARAMETERS];
        private double[] numbers = {};

        /** Returns an array of at least that many numbers, with stale values. */
        double[] numbers(int count) {
            if (numbers.length < count) {
                numbers = new double[count];
            }
            return numbers;
        }
    }

    /** Returns what this thread reuses. */
    static Workspace workspace() {
        return OF_THREAD.get();
    }

    /**
     * Steps over a field of images.
     *
     * @throws IllegalArgumentException if the field has no such images
     */
    static AugmentMap of(List<Named> steps, TensorSpec images) {
        if (!Augment.areImages(images)) {
            throw new IllegalArgumentException("found " + images + ", expected u8[H,W,C] with C at most "
                    + ImageTransform.MAX_CHANNELS);
        }
        checkBytes(images.dim(0) * images.dim(1), images.dim(2));
        return new AugmentMap(steps, (int) images.dim(0), (int) images.dim(1), (int) images.dim(2));
    }

    /** Checks that a worker can hold an image in an array. */
    private static void checkBytes(long pixels, long channels) {
        if (pixels > (Integer.MAX_VALUE - 8) / channels) {
            throw new IllegalArgumentException(
                    "an image of " + pixels + " pixels of " + channels + " bytes, expected below 2 GiB");
        }
    }

    /**
     * Returns the sizes of the images: before the first step and behind each.
     *
     * @throws IllegalArgumentException if a step cannot take what the one before it makes
     */
    List<Size> sizes() {
        List<Size> sizes = new ArrayList<>(List.of(new Size(height, width)));
        for (Named named : steps) {
            Size size = named.step.check(sizes.getLast(), channels);
            checkBytes((long) size.height() * size.width(), channels);
            sizes.add(size);
        }
        return List.copyOf(sizes);
    }

    /**
     * Returns the field of the results.
     *
     * @throws IllegalArgumentException if a step cannot take what the one before it makes
     */
    TensorSpec result(String field) {
        Size size = sizes().getLast();
        return new TensorSpec(field, DType.U8, size.height(), size.width(), channels);
    }

    /** The steps' names, without the pipeline's if that has none of its own. */
    @Override
    public List<String> parts() {
        String usual = Augment.NAME + ".";
        return steps.stream().map(Named::name)
                .map(name -> name.startsWith(usual) ? name.substring(usual.length()) : name).toList();
    }

    @Override
    public void map(Tensor in, RandomGenerator random, Tensor out) {
        map(in, random, out, PartClock.NONE);
    }

    @Override
    public void map(Tensor in, RandomGenerator random, Tensor out, PartClock clock) {
        Workspace workspace = OF_THREAD.get();
        Canvas canvas = workspace.canvas;
        canvas.load(in.segment(), height, width, channels);
        for (int i = 0; i < steps.size(); i++) {
            Named named = steps.get(i);
            draw(named, random, canvas.height(), canvas.width(), workspace.values);
            named.step.apply(workspace.values, 0, canvas);
            clock.done(i);
        }
        canvas.store(out.segment());
    }

    /** Applies given parameters. */
    void apply(List<StepParameters> parameters, Tensor in, Tensor out) {
        TensorSpec expected = result("image");
        var found = new TensorSpec("image", out.dtype(), out.shape());
        if (!found.equals(expected) || parameters.size() != steps.size()) {
            throw new IllegalArgumentException("found " + parameters.size() + " steps to " + found + ", expected "
                    + steps.size() + " to " + expected);
        }
        Workspace workspace = OF_THREAD.get();
        Canvas canvas = workspace.canvas;
        canvas.load(in.segment(), height, width, channels);
        for (int i = 0; i < steps.size(); i++) {
            Named named = steps.get(i);
            named.values(parameters.get(i), workspace.values);
            named.step.apply(workspace.values, 0, canvas);
        }
        canvas.store(out.segment());
    }

    /** Draws the parameters of all steps for an image of a size. */
    static List<StepParameters> draw(List<Named> steps, RandomGenerator random, Size image) {
        List<StepParameters> drawn = new ArrayList<>();
        double[] values = new double[Step.MAX_PARAMETERS];
        Size size = image;
        for (Named named : steps) {
            draw(named, random, size.height(), size.width(), values);
            drawn.add(named.parameters(values));
            size = named.step.check(size, 1);
        }
        return List.copyOf(drawn);
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
