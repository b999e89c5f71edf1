// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.transform.ImageTransform;
import io.penstock.transform.ImageTransform.Layout;
import org.jspecify.annotations.Nullable;

/**
 * What pixels become after the last step.
 *
 * @param mean each channel's mean; null if pixels are divided by 255 only
 * @param deviation each channel's standard deviation; null with the mean
 * @param dtype of the result
 * @param layout of a batch
 */
record Output(float @Nullable [] mean, float @Nullable [] deviation, DType dtype, Layout layout) {

    static final Output DEFAULT = new Output(null, null, DType.F32, Layout.NCHW);

    Output normalized(float[] newMean, float[] newDeviation) {
        return new Output(newMean.clone(), newDeviation.clone(), dtype, layout);
    }

    Output to(DType newDtype, Layout newLayout) {
        return new Output(mean, deviation, newDtype, newLayout);
    }

    /** Returns the transform of images {@code [H, W, C]}. */
    ImageTransform of(TensorSpec images) {
        ImageTransform transform = ImageTransform.of(Layout.NHWC, (int) images.dim(2), images.dim(0), images.dim(1))
                .to(dtype, layout);
        return mean == null || deviation == null ? transform : transform.normalize(mean, deviation);
    }
}
