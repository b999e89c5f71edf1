// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.step.TargetMap.Output;
import io.penstock.dataset.Dataset;
import io.penstock.image.Target;
import io.penstock.image.Target.Boxes;
import io.penstock.image.Target.Keypoints;
import io.penstock.image.Target.Mask;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.util.Arrays;
import java.util.List;

/**
 * Lets fields of a sample follow the image that a pipeline augments.
 *
 * @param image the image's field
 * @param map the pipeline over it
 * @param name the pipeline's name, which keys its draws
 * @param text the pipeline as text, for the fingerprint
 */
public record Targets(String image, AugmentMap map, String name, String text) {

    /**
     * Returns samples whose target has moved.
     *
     * @param samples of which the image's field is not yet augmented, if it has files
     * @throws IllegalArgumentException if the field is missing or does not fit
     */
    public Dataset mapped(Dataset samples, Target target) {
        TensorSpec in = samples.fields().get(samples.indexOf(target.field()));
        return switch (target) {
            case Mask mask -> {
                TensorSpec result = map.result(image);
                if (map.decodes()) {
                    check(in, in.dtype() == DType.U8 && in.rank() == 1, "PNG files as u8[*], as the images");
                    yield moved(samples, in, new TensorSpec(in.name(), DType.U8, result.dim(0), result.dim(1)),
                            to(mask, Output.VALUES, 0));
                }
                Size size = map.size();
                check(in, in.dtype() == DType.U8 && (in.rank() == 2 || in.rank() == 3) && in.dim(0) == size.height()
                        && in.dim(1) == size.width(), "u8[" + size.height() + "," + size.width()
                                + "] or with channels behind, as the image");
                long[] shape = in.shape();
                shape[0] = result.dim(0);
                shape[1] = result.dim(1);
                yield moved(samples, in, new TensorSpec(in.name(), DType.U8, shape),
                        to(mask, Output.VALUES, in.rank() == 3 ? Math.toIntExact(in.dim(2)) : 1));
            }
            case Boxes boxes -> {
                check(in, in.dtype() == DType.F32 && in.rank() == 2 && in.dim(1) == 4, "f32[N,4]");
                yield flagged(samples, in, in.name() + Boxes.VALID_SUFFIX, boxes);
            }
            case Keypoints points -> {
                check(in, in.dtype() == DType.F32 && in.rank() >= 2 && in.dim(in.rank() - 1) == 2, "f32[...,2]");
                yield flagged(samples, in, in.name() + Keypoints.VISIBLE_SUFFIX, points);
            }
        };
    }

    /** Moves coordinates, and adds a flag for each box or point. */
    private Dataset flagged(Dataset samples, TensorSpec in, String flags, Target target) {
        Dataset both = samples.duplicate(in.name(), in.name(), flags);
        return moved(moved(both, in, in, to(target, Output.VALUES, 0)), new TensorSpec(flags, in.dtype(), in.shape()),
                new TensorSpec(flags, DType.BOOL, Arrays.copyOf(in.shape(), in.rank() - 1)),
                to(target, Output.FLAGS, 0));
    }

    private Dataset moved(Dataset samples, TensorSpec in, TensorSpec out, TargetMap by) {
        String what = by.target() + " by " + text;
        return map.decodes() ? samples.map(in.name(), image, out, what + ", of files to " + map.decoding(), name, by)
                : samples.map(in.name(), out, what, name, by);
    }

    /**
     * Returns the map of a target.
     *
     * @throws IllegalArgumentException if a step moves pixels in more than one way
     */
    public TargetMap to(Target target, Output output, int maskChannels) {
        List<NamedStep> steps = map.steps();
        steps.stream().filter(named -> named.step() instanceof AugMix).findAny().ifPresent(named -> {
            throw new IllegalArgumentException(named.name()
                    + " mixes images that are moved differently, expected no mask, boxes or keypoints beside it");
        });
        TensorSpec result = map.result(image);
        return new TargetMap(steps.stream().filter(named -> named.form().is(Form.Trait.GEOMETRIC)).toList(),
                map.images(), new Size((int) result.dim(0), (int) result.dim(1)), map.decoding(), target, output,
                maskChannels);
    }

    private static void check(TensorSpec found, boolean fits, String expected) {
        if (!fits) {
            throw new IllegalArgumentException("found " + found + ", expected " + expected);
        }
    }
}
