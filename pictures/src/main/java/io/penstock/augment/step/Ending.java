// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.transform.ImageTransform;
import io.penstock.transform.ImageTransform.Layout;
import org.jspecify.annotations.Nullable;

/**
 * What images become after the last step.
 *
 * @param dtype of the floats; null if images stay {@code u8 [H, W, C]}
 * @param layout of the floats
 * @param mean of each channel; null without normalization
 * @param deviation of each channel; null without normalization
 */
public record Ending(@Nullable DType dtype, Layout layout, float @Nullable [] mean, float @Nullable [] deviation) {

    /** Leaves images as they are. */
    public static final Ending NONE = new Ending(null, Layout.NCHW, null, null);

    public Ending normalize(float[] newMean, float[] newDeviation) {
        return new Ending(dtype == null ? DType.F32 : dtype, layout, newMean.clone(), newDeviation.clone());
    }

    public Ending to(DType newType, Layout newLayout) {
        return new Ending(newType, newLayout, mean, deviation);
    }

    /** Returns the field of the resulting images. */
    public TensorSpec result(TensorSpec images) {
        return dtype == null ? images : layout == Layout.NHWC
                ? new TensorSpec(images.name(), dtype, images.shape())
                : new TensorSpec(images.name(), dtype, images.dim(2), images.dim(0), images.dim(1));
    }

    /** Returns the transform of the images; null if they stay as they are. */
    public @Nullable ImageTransform transform(TensorSpec images) {
        if (dtype == null) {
            return null;
        }
        ImageTransform transform = ImageTransform.of(Layout.NHWC, (int) images.dim(2), images.dim(0), images.dim(1))
                .to(dtype, layout);
        return mean == null || deviation == null ? transform : transform.normalize(mean, deviation);
    }
}
