// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.map;

import io.penstock.augment.value.Size;
import io.penstock.augment.value.Target;
import io.penstock.augment.value.Target.Boxes;
import io.penstock.augment.value.Target.Keypoints;
import io.penstock.augment.value.Target.Mask;
import io.penstock.dataset.Dataset;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.util.Arrays;

/** Lets fields of a sample follow the image that a pipeline augments. */
public final class Targets {

    private Targets() {
    }

    /**
     * Returns samples whose target has moved.
     *
     * @param map the pipeline over the image field
     * @param name the pipeline's name, which keys its draws
     * @param text the pipeline as text, for the fingerprint
     * @throws IllegalArgumentException if the field is missing or does not fit
     */
    public static Dataset mapped(Dataset samples, Target target, AugmentMap map, String name, String text) {
        TensorSpec in = samples.fields().get(samples.indexOf(target.field()));
        String what = target + " by " + text;
        Geometry geometry = Geometry.of(map);
        return switch (target) {
            case Mask mask -> {
                Size image = map.size();
                check(in, in.dtype() == DType.U8 && (in.rank() == 2 || in.rank() == 3) && in.dim(0) == image.height()
                        && in.dim(1) == image.width(), "u8[" + image.height() + "," + image.width()
                                + "] or with channels behind, as the image");
                long[] shape = in.shape();
                shape[0] = geometry.result().height();
                shape[1] = geometry.result().width();
                yield samples.map(in.name(), new TensorSpec(in.name(), DType.U8, shape), what, name,
                        new MaskMap(geometry, in.rank() == 3 ? Math.toIntExact(in.dim(2)) : 1, mask.outside()));
            }
            case Boxes boxes -> {
                check(in, in.dtype() == DType.F32 && in.rank() == 2 && in.dim(1) == 4, "f32[N,4]");
                String valid = in.name() + Boxes.VALID_SUFFIX;
                yield samples.duplicate(in.name(), in.name(), valid)
                        .map(in.name(), in, what, name, new BoxMap(geometry, boxes, BoxMap.Output.COORDINATES))
                        .map(valid, flags(valid, in), what, name,
                                new BoxMap(geometry, boxes, BoxMap.Output.VALIDITY));
            }
            case Keypoints points -> {
                check(in, in.dtype() == DType.F32 && in.rank() >= 2 && in.dim(in.rank() - 1) == 2, "f32[...,2]");
                String visible = in.name() + Keypoints.VISIBLE_SUFFIX;
                yield samples.duplicate(in.name(), in.name(), visible)
                        .map(in.name(), in, what, name,
                                new KeypointMap(geometry, points, KeypointMap.Output.COORDINATES))
                        .map(visible, flags(visible, in), what, name,
                                new KeypointMap(geometry, points, KeypointMap.Output.VISIBILITY));
            }
        };
    }

    /** Returns a field of one truth value for each row of numbers. */
    private static TensorSpec flags(String name, TensorSpec in) {
        return new TensorSpec(name, DType.BOOL, Arrays.copyOf(in.shape(), in.rank() - 1));
    }

    private static void check(TensorSpec in, boolean fits, String expected) {
        if (!fits) {
            throw new IllegalArgumentException("found " + in + ", expected " + expected);
        }
    }
}
