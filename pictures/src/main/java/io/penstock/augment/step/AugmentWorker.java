// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.SampleMap.PartClock;
import io.penstock.error.CodecException;
import io.penstock.image.StepParameters;
import io.penstock.image.reading.FrameDecoder;
import io.penstock.image.reading.PixelRows;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.transform.ImageTransform.ImageRows;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Runs the steps of a pipeline on one image after the other, for one thread. */
public final class AugmentWorker implements SampleMap.Mapper {

    private final AugmentMap map;
    private final Canvas canvas = new Canvas();
    private final double[] values = new double[Step.MAX_PARAMETERS];
    /** Null for decoded images. */
    private final @Nullable FrameDecoder decoder;
    /** Null if pixels stay {@code u8}. */
    private final @Nullable ImageRows output;
    private final @Nullable PixelRows outputRows;

    /** The first step's index among the parts whose time is measured, and that of writing the pixels. */
    private final int firstPart;
    private final int lastPart;

    AugmentWorker(AugmentMap map) {
        this.map = map;
        firstPart = map.decodes() ? 1 : 0;
        lastPart = Math.max(0, map.parts().size() - 1);
        decoder = map.images() == null ? new FrameDecoder(map.decoding()) : null;
        output = map.output() == null ? null : map.output().rows();
        outputRows = output == null ? null : output::put;
    }

    @Override
    public void map(MemorySegment in, long inOffset, long inBytes, RandomGenerator random, MemorySegment out,
            long outOffset, long outBytes, PartClock clock) {
        canvas.timeBy(clock);
        load(in, inOffset, inBytes);
        for (int i = 0; i < map.steps().size(); i++) {
            NamedStep named = map.steps().get(i);
            int height = canvas.height();
            int width = canvas.width();
            canvas.beginPart(firstPart + i);
            try {
                named.draw(random, height, width, values);
                named.step().apply(values, 0, canvas);
            } catch (IllegalArgumentException | ArithmeticException e) {
                if (decoder != null) {
                    checkSize(named.step(), height, width, map.channels());
                }
                throw e;
            }
            clock.done(firstPart + i);
        }
        canvas.beginPart(lastPart);
        store(out, outOffset, outBytes);
        clock.done(canvas.storedPart());
    }

    /** Checks that a step takes an image of this size. A file whose image is too small or too large is a bad sample. */
    static void checkSize(Step step, int height, int width, int channels) {
        try {
            step.check(new Size(height, width), channels);
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new CodecException(String.valueOf(e.getMessage()), "an image that " + step + " can take");
        }
    }

    private void load(MemorySegment in, long offset, long bytes) {
        if (decoder != null) {
            canvas.open(decoder, offset == 0 ? in : in.asSlice(offset, bytes), bytes, map.channels());
        } else {
            canvas.load(in, offset, map.size().height(), map.size().width(), map.channels());
        }
    }

    private void store(MemorySegment out, long offset, long bytes) {
        if (map.imageBytes() > 0) {
            canvas.storeFile(out, offset, bytes, map.imageBytes());
        } else if (output == null || outputRows == null) {
            canvas.store(out, offset);
        } else {
            output.start(out, offset, bytes);
            canvas.store(outputRows);
        }
    }

    /**
     * Applies given parameters to one image; the output is left out.
     *
     * @throws CodecException if the image's file cannot be decoded
     */
    public static void apply(AugmentMap map, List<StepParameters> parameters, Tensor in, Tensor out) {
        try (var worker = new AugmentWorker(map)) {
            worker.apply(parameters, in, out);
        }
    }

    private void apply(List<StepParameters> parameters, Tensor in, Tensor out) {
        List<NamedStep> steps = map.steps();
        TensorSpec expected = map.result("image");
        var found = new TensorSpec("image", out.dtype(), out.shape());
        if (!found.equals(expected) || parameters.size() != steps.size()) {
            throw new IllegalArgumentException("found " + parameters.size() + " steps to " + found + ", expected "
                    + steps.size() + " to " + expected);
        }
        load(in.segment(), 0, in.segment().byteSize());
        for (int i = 0; i < steps.size(); i++) {
            NamedStep named = steps.get(i);
            named.values(parameters.get(i), values);
            named.step().apply(values, 0, canvas);
        }
        canvas.store(out.segment(), 0);
    }

    @Override
    public void close() {
        if (decoder != null) {
            decoder.close();
        }
    }
}
