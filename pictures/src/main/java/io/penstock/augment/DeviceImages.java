// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.augment.step.AugmentMap;
import io.penstock.augment.step.Crop;
import io.penstock.augment.step.Ending;
import io.penstock.augment.step.NamedStep;
import io.penstock.augment.step.Pipeline;
import io.penstock.augment.step.PixelOp.Kind;
import io.penstock.augment.step.RandomResizedCrop;
import io.penstock.augment.step.Resize;
import io.penstock.augment.step.Sometimes;
import io.penstock.augment.step.Step;
import io.penstock.dataset.Dataset;
import io.penstock.device.Device;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceUnavailableException;
import io.penstock.image.ImageDecoding;
import io.penstock.image.PixelFormat;
import io.penstock.image.ResizeFilter;
import io.penstock.image.nvjpeg.JpegStage;
import io.penstock.image.reading.FramedFile;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.transform.ImageTransform;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A pipeline over JPEG files that are decoded on the device, by NVIDIA's nvJPEG; where that is missing, by the workers,
 * as {@link Augment#mapped} does. The log says which.
 *
 * {@snippet :
 * Augment augment = Augment.images().randomResizedCrop(224, 224).horizontalFlip(0.5)
 *         .colorJitter(0.4, 0.4, 0.4, 0.1).to(DType.BF16, ImageTransform.Layout.NCHW);
 * DeviceImages train = DeviceImages.of(augment, device);
 * DataLoaderBuilder loader = DataLoader.builder(train.mapped(images, "jpg"))
 *         .device(device).onDevice(train.stages("jpg"));
 * }
 *
 * <p><b>What runs where.</b> Workers read files, check their headers, and draw parameters. The files travel in the
 * batch. The device decodes them and makes the crops, the resize and the horizontal flips at the pipeline's beginning
 * in one pass; the rest runs by {@link Augment#stage}. Workers decode what is not for nvJPEG: PNG, CMYK,
 * arithmetic coding, unusual chroma sampling, images that are turned upright, and files or images that are too large.
 *
 * <p><b>Pixels.</b> Draws are those of {@link Augment#mapped}, and so are the pixels but for decoding: nvJPEG rounds in
 * another way than libjpeg-turbo, so most values differ by little, at strong color edges by more. Runs with different
 * decoders are not the same run: the dataset's fingerprint, which saved states compare, names the decoder.
 *
 * <p><b>Damage.</b> A file with a bad header, or that is cut off, is a bad sample like any other. Where nvJPEG refuses
 * a file, the image is black, and a further field of the batch, named like the images with {@code _decoded} behind it,
 * {@code bool[B]}, is 0 there. The log tells their number. nvJPEG does not notice all damage: such an image has
 * wrong pixels.
 *
 * <p>Immutable and thread-safe.
 */
public final class DeviceImages {

    private static final System.Logger LOG = System.getLogger(DeviceImages.class.getName());

    private static final int USUAL_FILE_BYTES = 256 << 10;
    private static final long USUAL_SCRATCH_BYTES = 256L << 20;
    private static final int ROW_ALIGNMENT_BYTES = 16;

    private final Augment augment;
    /** The steps that frame an image, and the steps after them. */
    private final Augment framing;
    private final Augment rest;
    /** One result of the framing steps: u8 [H, W, 3]. */
    private final TensorSpec image;
    /** nvJPEG's description; null if it is missing. */
    private final @Nullable String decoder;
    private final int fileBytes;
    private final long scratchBytes;

    private DeviceImages(Augment augment, Augment framing, Augment rest, TensorSpec image, @Nullable String decoder,
            int fileBytes, long scratchBytes) {
        this.augment = augment;
        this.framing = framing;
        this.rest = rest;
        this.image = image;
        this.decoder = decoder;
        this.fileBytes = fileBytes;
        this.scratchBytes = scratchBytes;
    }

    /**
     * Looks for nvJPEG on a device. It is {@code libnvjpeg.so.13}, or the file that the property
     * {@code penstock.nvjpeg} or the variable {@code PENSTOCK_NVJPEG} names.
     *
     * @param augment the pipeline; a step of its beginning must make one size
     * @param device the device of the loader; loaders of several devices need nvJPEG on all of them
     * @return the pipeline, for that device
     * @throws IllegalArgumentException if the pipeline does not decode to RGB whole, or none of the crops, resizes and
     *     horizontal flips at its beginning makes one size
     */
    public static DeviceImages of(Augment augment, Device device) {
        Pipeline pipeline = augment.pipeline();
        ImageDecoding decoding = pipeline.decoding() == null ? ImageDecoding.rgb() : pipeline.decoding();
        if (decoding.format() != PixelFormat.RGB || decoding.isScaled()) {
            throw new IllegalArgumentException("found files decoded to " + decoding + ", expected RGB, whole");
        }
        List<NamedStep> steps = pipeline.steps();
        int framing = framing(steps);
        var first = new Augment(new Pipeline(pipeline.name(), steps.subList(0, framing), Ending.NONE, decoding));
        var rest = new Augment(
                new Pipeline(pipeline.name(), steps.subList(framing, steps.size()), pipeline.ending(), null));
        TensorSpec image = first.over(new TensorSpec("image", DType.U8, TensorSpec.VARIABLE)).result("image");
        String decoder = null;
        try {
            decoder = JpegStage.decoder(device);
            LOG.log(System.Logger.Level.INFO, "JPEG files are decoded on {0} by {1}", device.name(), decoder);
        } catch (DeviceUnavailableException e) {
            LOG.log(System.Logger.Level.INFO, "JPEG files are decoded by the workers: {0}", e.getMessage());
        }
        return new DeviceImages(augment, first, rest, image, decoder,
                Math.max(USUAL_FILE_BYTES, Math.toIntExact(image.byteSize())), USUAL_SCRATCH_BYTES);
    }

    /** Counts the leading steps that only frame the image: crops, one resize, and horizontal flips. */
    private static int framing(List<NamedStep> steps) {
        boolean isResized = false;
        for (int i = 0; i < steps.size(); i++) {
            Step step = steps.get(i).step();
            boolean resizes = step instanceof RandomResizedCrop
                    || step instanceof Resize resize && resize.filter() != ResizeFilter.NEAREST;
            boolean moves = step instanceof Crop crop && crop.padding().pixels() == 0
                    || step instanceof Sometimes flip && flip.op().kind() == Kind.FLIP_HORIZONTALLY;
            if (!moves && (!resizes || isResized)) {
                return i;
            }
            isResized |= resizes;
        }
        return steps.size();
    }

    /**
     * Sets the size of the largest file that travels in the batch; a larger one is decoded by its worker. Each sample
     * takes this room in the batch: 256 KiB if not set, or as much as its pixels.
     *
     * @param bytes from the size of an image's pixels, in bytes
     * @return the pipeline with this limit
     * @throws IllegalArgumentException if that is less than an image's pixels, or 1 GiB or more
     */
    public DeviceImages fileBytes(long bytes) {
        if (bytes < image.byteSize() || bytes >= 1 << 30) {
            throw new IllegalArgumentException(bytes + " bytes for a file, expected " + image.byteSize()
                    + ", which an image takes, to below 1 GiB");
        }
        return new DeviceImages(augment, framing, rest, image, decoder, (int) bytes, scratchBytes);
    }

    /**
     * Sets the memory of the device for decoded images: 256 MiB if not set. More lets nvJPEG decode more files at once;
     * an image that takes more than half of it is decoded by its worker.
     *
     * @param bytes at least 1 MiB
     * @return the pipeline with this memory
     * @throws IllegalArgumentException if that is less than 1 MiB
     */
    public DeviceImages scratchBytes(long bytes) {
        if (bytes < 1 << 20) {
            throw new IllegalArgumentException(bytes + " bytes for decoded images, expected at least 1 MiB");
        }
        return new DeviceImages(augment, framing, rest, image, decoder, fileBytes, bytes);
    }

    /**
     * Tells who decodes.
     *
     * @return for example {@code nvJPEG 13.0.1, JPEG engine}, or {@code workers}
     */
    public String decoder() {
        return decoder == null ? "workers" : decoder;
    }

    /**
     * Maps files for {@link #stages}, or, where workers decode, to the pipeline's results.
     *
     * @param files samples with a field of JPEG or PNG files; must stay open
     * @param field the field's name
     * @return the samples with what the device needs in the field's place, and a field of parameters if steps are left
     * @throws IllegalArgumentException if the field is missing or has no files, or {@link Augment#withParameters} or
     *     {@link Augment#mapped} refuse the pipeline
     */
    public Dataset mapped(Dataset files, String field) {
        if (decoder == null) {
            return augment.mapped(files, field);
        }
        TensorSpec found = files.fields().get(files.indexOf(field));
        if (found.dtype() != DType.U8 || found.rank() != 1) {
            throw new IllegalArgumentException("found " + found + ", expected image files as u8[*]");
        }
        JpegStage stage = stage(field);
        AugmentMap map = framing.over(found).toFiles(stage.imageBytes());
        Dataset mapped = files.map(field, new TensorSpec(field, DType.U8, stage.rowBytes()),
                augment + ", of files to " + map.decoding() + " by " + decoder, augment.name(), map);
        return rest.pipeline().steps().isEmpty() ? mapped : ParameterDraws.add(mapped, field, rest, rest.over(image));
    }

    /**
     * The loader's stages: decoding and framing, then what is left of the pipeline.
     *
     * @param field the name of the field of {@link #mapped}
     * @return the stages in order; none where workers decode
     */
    public DeviceStage[] stages(String field) {
        List<DeviceStage> stages = new ArrayList<>();
        if (decoder != null) {
            stages.add(stage(field));
            ImageTransform ending = rest.pipeline().ending().transform(image);
            if (!rest.pipeline().steps().isEmpty()) {
                stages.add(rest.stage(field));
            } else if (ending != null) {
                stages.add(ending.stage(field));
            }
        }
        return stages.toArray(DeviceStage[]::new);
    }

    private JpegStage stage(String field) {
        int rowBytes = Math.ceilDiv(FramedFile.HEADER_BYTES + fileBytes, ROW_ALIGNMENT_BYTES) * ROW_ALIGNMENT_BYTES;
        return new JpegStage(field, (int) image.dim(0), (int) image.dim(1), rowBytes, scratchBytes);
    }

    /** Describes the pipeline and the decoder. */
    @Override
    public String toString() {
        return augment + ", decoded by " + decoder();
    }
}
