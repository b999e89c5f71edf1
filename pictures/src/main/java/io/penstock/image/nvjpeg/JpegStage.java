// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.nvjpeg;

import io.penstock.device.Device;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.device.DeviceUnavailableException;
import io.penstock.device.DeviceUnavailableException.Reason;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;

/**
 * Decodes the JPEG files of a field on a CUDA device, and resizes them to one size as their frames say. Its outputs are
 * the images, u8 [B, height, width, 3], in the field's place, and bool [B] that says which of them were decoded: a file
 * that is damaged gives a black image.
 *
 * @param field of u8 [B, rowBytes], rows as {@link io.penstock.image.reading.FramedFile} lays them out
 * @param height of the images
 * @param width of the images
 * @param rowBytes of a sample
 * @param scratchBytes the device's memory for decoded images, in two pieces
 */
public record JpegStage(String field, int height, int width, int rowBytes, long scratchBytes)
        implements DeviceStage {

    /** What is appended to the images' name to name the field that tells which of them were decoded. */
    public static final String DECODED = "_decoded";

    /** The memory that each group of images is decoded to. */
    long pieceBytes() {
        return scratchBytes / 2 / SlabLayout.ALIGNMENT_BYTES * SlabLayout.ALIGNMENT_BYTES;
    }

    /** Returns what a decoded image and its weights may take of scratch memory; a larger one is for a worker. */
    public long imageBytes() {
        return pieceBytes() - 2 * SlabLayout.ALIGNMENT_BYTES;
    }

    /**
     * Describes the decoder of a device: those of equal descriptions make equal pixels.
     *
     * @return for example {@code nvJPEG 13.0.1, JPEG engine}
     * @throws DeviceUnavailableException if the device cannot decode here; says why
     */
    public static String decoder(Device device) {
        if (!device.name().startsWith("cuda:")) {
            throw new DeviceUnavailableException(Reason.NO_DEVICE, device.name() + " is not a CUDA device", null);
        }
        try (NvJpeg decoder = NvJpeg.open(device, 1)) {
            return decoder.description();
        } catch (DeviceException e) {
            throw new DeviceUnavailableException(Reason.INITIALIZATION_FAILED, String.valueOf(e.getMessage()), e);
        }
    }

    @Override
    public OpenStage open(Device device, SlabLayout fields) {
        int files = fields.indexOf(field);
        TensorSpec found = fields.fields().get(files);
        long batch = found.rank() > 0 ? found.dim(0) : 0;
        TensorSpec expected = new TensorSpec(field, DType.U8, batch, rowBytes);
        if (!found.equals(expected)) {
            throw new IllegalArgumentException("found " + found + ", expected " + expected);
        }
        return new OpenJpegs(this, device, files, (int) batch);
    }

    SlabLayout outputs(int batch) {
        return SlabLayout.of(new TensorSpec(field, DType.U8, batch, height, width, 3),
                new TensorSpec(field + DECODED, DType.BOOL, batch));
    }

    /** Names the field. */
    @Override
    public String toString() {
        return "decode " + field;
    }
}
