// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.SampleMap.PartClock;
import io.penstock.image.ImageDecoding;
import io.penstock.image.StepParameters;
import io.penstock.image.reading.JpegLibrary;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.transform.ImageTransform;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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
 * @param imageBytes the memory for an image of a device that decodes; 0 if workers decode
 */
public record AugmentMap(List<NamedStep> steps, @Nullable Size images, int channels, ImageDecoding decoding,
        @Nullable ImageTransform output, long imageBytes) implements SampleMap {

    /** Stands for the unknown size of a file's image: so large that every crop fits. */
    private static final Size ANY = new Size(1 << 15, 1 << 15);

    /**
     * Steps over a field of images.
     *
     * @param decoding how files become pixels; null for the default
     * @throws IllegalArgumentException if the field has neither decoded images nor files
     */
    public static AugmentMap of(List<NamedStep> steps, TensorSpec images, @Nullable ImageDecoding decoding) {
        if (images.dtype() == DType.U8 && images.rank() == 1) {
            ImageDecoding files = decoding == null ? ImageDecoding.rgb() : decoding;
            return new AugmentMap(steps, null, files.format().channels(), files, null, 0);
        }
        if (!areImages(images)) {
            throw new IllegalArgumentException("found " + images + ", expected u8[H,W,C] with C at most "
                    + ImageTransform.MAX_CHANNELS + ", or image files as u8[*]");
        }
        if (decoding != null) {
            throw new IllegalArgumentException("found " + images + ", which is decoded, expected image files as u8[*]");
        }
        checkBytes(images.dim(0) * images.dim(1), images.dim(2));
        return new AugmentMap(steps, new Size((int) images.dim(0), (int) images.dim(1)), (int) images.dim(2),
                ImageDecoding.rgb(), null, 0);
    }

    /** Returns the same steps with an output after them. */
    public AugmentMap to(ImageTransform transform) {
        return new AugmentMap(steps, images, channels, decoding, transform, imageBytes);
    }

    /** Returns the same steps over files for a device to decode, which has this much memory for an image. */
    public AugmentMap toFiles(long memory) {
        return new AugmentMap(steps, images, channels, decoding, output, memory);
    }

    /**
     * Returns the size of the images.
     *
     * @throws IllegalArgumentException if they are files of all sizes
     */
    public Size size() {
        if (images == null) {
            throw new IllegalArgumentException("found image files of all sizes, expected decoded images of one size "
                    + "for the device");
        }
        return images;
    }

    /** Whether images are files. */
    public boolean decodes() {
        return images == null;
    }

    /** Tells whether a field has decoded images that a pipeline takes. */
    public static boolean areImages(TensorSpec field) {
        return field.dtype() == DType.U8 && field.rank() == 3 && !field.isVariable() && field.dim(2) >= 1
                && field.dim(2) <= ImageTransform.MAX_CHANNELS;
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
    public List<Size> sizes() {
        return sizes(size());
    }

    private List<Size> sizes(Size first) {
        List<Size> sizes = new ArrayList<>(List.of(first));
        boolean isKnown = images != null;
        for (NamedStep named : steps) {
            Size size = named.step().check(sizes.getLast(), channels);
            isKnown |= named.form().is(Form.Trait.SIZE);
            if (isKnown) {
                checkBytes((long) size.height() * size.width(), channels);
            }
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
    public TensorSpec result(String field) {
        Size size = sizes(images == null ? ANY : images).getLast();
        if (images == null && steps.stream().noneMatch(named -> named.form().is(Form.Trait.SIZE))) {
            throw new IllegalArgumentException("'" + field + "' has image files of all sizes, expected a step that "
                    + "makes one size: randomResizedCrop, resize to height and width, or a crop");
        }
        return new TensorSpec(field, DType.U8, size.height(), size.width(), channels);
    }

    /**
     * Returns the parts: decoding, with the crops, the resize and the flips that are part of it; then the steps by
     * their names, without the pipeline's default name; then the output.
     */
    @Override
    public List<String> parts() {
        List<String> parts = new ArrayList<>();
        if (decodes()) {
            parts.add(JpegLibrary.preferred().part());
        }
        String usual = Pipeline.USUAL + ".";
        steps.stream().map(NamedStep::name).map(name -> name.startsWith(usual) ? name.substring(usual.length()) : name)
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
    public void map(Tensor in, RandomGenerator random, Tensor out) {
        try (var worker = new AugmentWorker(this)) {
            worker.map(in.segment(), 0, in.segment().byteSize(), random, out.segment(), 0, out.segment().byteSize(),
                    PartClock.NONE);
        }
    }

    /** Draws the parameters of all steps for an image of a size. */
    public static List<StepParameters> draw(List<NamedStep> steps, RandomGenerator random, Size image) {
        List<StepParameters> drawn = new ArrayList<>();
        double[] values = new double[Step.MAX_PARAMETERS];
        Size size = image;
        for (NamedStep named : steps) {
            named.draw(random, size.height(), size.width(), values);
            drawn.add(named.parameters(values));
            size = named.step().check(size, 1);
        }
        return List.copyOf(drawn);
    }

    /** Returns true for decoded images only: a file is decoded by native code, which must not read a mapping. */
    @Override
    public boolean readsInPlace() {
        return images != null;
    }
}
