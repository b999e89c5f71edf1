// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import static io.penstock.transform.ImageArguments.CROP_HEIGHT;
import static io.penstock.transform.ImageArguments.CROP_WIDTH;
import static io.penstock.transform.ImageArguments.CROP_X;
import static io.penstock.transform.ImageArguments.CROP_Y;
import static io.penstock.transform.ImageArguments.HEIGHT;
import static io.penstock.transform.ImageArguments.WIDTH;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.PartClock;
import io.penstock.dataset.source.SampleMap;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Runs an {@link ImageTransform} in a loader's workers, one image at a time; a null crop means center crops. */
record ImageMap(MemorySegment arguments, @Nullable RandomCrop crop) implements SampleMap {

    private static final List<String> PARTS = List.of("normalize");

    /** A view of the dataset with transformed images. */
    static Dataset over(ImageTransform transform, Dataset images, String field, @Nullable RandomCrop crop) {
        MemorySegment a = transform.arguments();
        if (crop != null && (crop.imageHeight() != HEIGHT.get(a) || crop.imageWidth() != WIDTH.get(a)
                || crop.cropHeight() != CROP_HEIGHT.get(a) || crop.cropWidth() != CROP_WIDTH.get(a))) {
            throw new IllegalArgumentException(crop + " for " + transform);
        }
        var expected = new TensorSpec(field, DType.U8, transform.sourceShape());
        for (TensorSpec found : images.fields()) {
            if (found.name().equals(field) && !found.equals(expected)) {
                throw new IllegalArgumentException("found " + found + ", expected " + expected);
            }
        }
        return images.map(field, new TensorSpec(field, transform.targetType(), transform.targetShape()),
                crop == null ? transform.toString() : transform + ", " + crop, RandomCrop.STEP, new ImageMap(a, crop));
    }

    @Override
    public List<String> parts() {
        return PARTS;
    }

    @Override
    public void map(Tensor in, RandomGenerator random, Tensor out, PartClock clock) {
        map(in, random, out);
        clock.done(0);
    }

    @Override
    public void map(Tensor in, RandomGenerator random, Tensor out) {
        long source = in.segment().address();
        long target = out.segment().address();
        if (crop == null) {
            ImageTwin.run(arguments, source, target, CROP_Y.get(arguments), CROP_X.get(arguments), false);
        } else {
            ImageTwin.run(arguments, source, target, crop.top(random), crop.left(random), crop.flip(random));
        }
    }

    @Override
    public boolean readsInPlace() {
        return true;
    }
}
