// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.PartClock;
import io.penstock.dataset.source.SampleMap;
import io.penstock.image.ImageDecoding;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.transform.ImageTransform;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The steps of a pipeline over decoded images of one shape, or over image files of all sizes.
 *
 * @param steps the steps, each with its name's number
 * @param images the size of decoded images; null for files
 * @param channels of the images
 * @param decoding how files become pixels
 * @param output what pixels become after the last step; null if they stay
 */
record AugmentMap(List<Named> steps, @Nullable Size images, int channels, ImageDecoding decoding,
        @Nullable ImageTransform output) implements SampleMap {

    private static final ThreadLocal<Workspace> OF_THREAD = ThreadLocal.withInitial(Workspace::new);

    /** Stands for the unknown size of a file's image: large, so that every crop fits. */
    private static final Size ANY = new Size(1 << 15, 1 << 15);

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
     * @param decoding how files become pixels; null for the default
     * @throws IllegalArgumentException if the field has neither decoded images nor files
     */
    static AugmentMap of(List<Named> steps, TensorSpec images, @Nullable ImageDecoding decoding) {
        if (images.dtype() == DType.U8 && images.rank() == 1) {
            ImageDecoding files = decoding == null ? ImageDecoding.rgb() : decoding;
            return new AugmentMap(steps, null, files.format().channels(), files, null);
        }
        if (!Augment.areImages(images)) {
            throw new IllegalArgumentException("found " + images + ", expected u8[H,W,C] with C at most "
                    + ImageTransform.MAX_CHANNELS + ", or image files as u8[*]");
        }
        if (decoding != null) {
            throw new IllegalArgumentException("found " + images + ", which is decoded, expected image files as u8[*]");
        }
        checkBytes(images.dim(0) * images.dim(1), images.dim(2));
        return new AugmentMap(steps, new Size((int) images.dim(0), (int) images.dim(1)), (int) images.dim(2),
                ImageDecoding.rgb(), null);
    }

    /** Maps the field of a dataset by the pipeline of that name and text, which so ends. */
    Dataset mapped(Dataset samples, String field, String pipeline, String text, Ending ending) {
        TensorSpec augmented = result(field);
        ImageTransform transform = ending.transform(augmented);
        String what = images == null ? text + ", of files to " + decoding : text;
        if (transform == null) {
            return steps.isEmpty() ? samples : samples.map(field, augmented, what, pipeline, this);
        }
        return samples.map(field, transform.result(field), what + ", " + transform, pipeline,
                to(transform));
    }

    /** The same steps, with an output behind them. */
    AugmentMap to(ImageTransform transform) {
        return new AugmentMap(steps, images, channels, decoding, transform);
    }

    /**
     * Returns the size of the images.
     *
     * @throws IllegalArgumentException if they are files of all sizes
     */
    Size size() {
        if (images == null) {
            throw new IllegalArgumentException("found image files of all sizes, expected decoded images of one size "
                    + "beside masks, boxes and keypoints, and for the device");
        }
        return images;
    }

    /** Whether images are files. */
    boolean decodes() {
        return images == null;
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
        List<Size> sizes = new ArrayList<>(List.of(size()));
        for (Named named : steps) {
            Size size = named.step.check(sizes.getLast(), channels);
            checkBytes((long) size.height() * size.width(), channels);
            sizes.add(size);
        }
        return List.copyOf(sizes);
    }

    /**
     * Returns the field of the steps' results, without the output.
     *
     * @throws IllegalArgumentException if a step cannot take what the one before it makes, or results are not of one
     *     size
     */
    TensorSpec result(String field) {
        Size size = images == null ? ANY : images;
        boolean isKnown = images != null;
        for (Named named : steps) {
            size = named.step.check(size, channels);
            isKnown |= named.step.fixesSize();
            if (isKnown) {
                checkBytes((long) size.height() * size.width(), channels);
            }
        }
        if (!isKnown) {
            throw new IllegalArgumentException("'" + field + "' has image files of all sizes, expected a step that "
                    + "makes one size: randomResizedCrop, resize to height and width, or a crop");
        }
        return new TensorSpec(field, DType.U8, size.height(), size.width(), channels);
    }

    /**
     * Decoding of files, with the crops, the resize and the flips that are done by it; the steps by their names,
     * without the usual pipeline's; and the output.
     */
    @Override
    public List<String> parts() {
        List<String> parts = new ArrayList<>();
        if (decodes()) {
            parts.add("decode");
        }
        String usual = Augment.NAME + ".";
        steps.stream().map(Named::name).map(name -> name.startsWith(usual) ? name.substring(usual.length()) : name)
                .forEach(parts::add);
        if (output != null) {
            parts.add("normalize");
        }
        return List.copyOf(parts);
    }

    @Override
    public Optional<Mapper> open() {
        return Optional.of(new AugmentWorker(this));
    }

    @Override
    public void map(Tensor in, RandomGenerator random, Tensor out) throws IOException {
        try (var worker = new AugmentWorker(this)) {
            worker.map(in.segment(), 0, in.segment().byteSize(), random, out.segment(), 0, out.segment().byteSize(),
                    PartClock.NONE);
        }
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

    /** A file is decoded by native code, which must not read a mapping. */
    @Override
    public boolean readsInPlace() {
        return images != null;
    }
}
