// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.SampleMap.PartClock;
import io.penstock.image.ImageDecoding;
import io.penstock.image.Target;
import io.penstock.memory.Tensor;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Moves a target as a pipeline moves its image. A box or a point is moved by each step in turn.
 *
 * @param steps those that move pixels, in order
 * @param image the size of the images; null if each image's file, beside the target, tells it
 * @param result the size of the augmented images
 * @param decoding how image files become pixels
 * @param target what is moved
 * @param output what is written
 * @param maskChannels the channels of a decoded mask; 0 for a mask that is a file, and for other targets
 */
public record TargetMap(List<NamedStep> steps, @Nullable Size image, Size result, ImageDecoding decoding, Target target,
        Output output, int maskChannels) implements SampleMap {

    /** What is written: the values of boxes or points, or their flags. */
    public enum Output {
        VALUES,
        /** The flags to write: whether a box is valid, or a point visible. */
        FLAGS
    }

    @Override
    public Optional<Mapper> open() {
        return Optional.of(new TargetWorker(this));
    }

    /** Works only if all images have one size, since this method is not told an image's size. */
    @Override
    public void map(Tensor in, RandomGenerator random, Tensor out) {
        try (var worker = new TargetWorker(this)) {
            worker.map(in.segment(), 0, in.byteSize(), random, out.segment(), 0, out.byteSize(), PartClock.NONE);
        }
    }

    /** Returns false for a mask that is a file: native code decodes it and must not read a mapping. */
    @Override
    public boolean readsInPlace() {
        return !(target instanceof Target.Mask) || maskChannels > 0;
    }
}
