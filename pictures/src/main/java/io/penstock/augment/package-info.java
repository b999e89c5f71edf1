// SPDX-License-Identifier: Apache-2.0
/**
 * Augments images in a loader's workers or on its device: crops, flips, warps, colors, blur and erasing, then
 * normalization.
 *
 * <p>{@link io.penstock.augment.Augment} is a pipeline of named steps over {@code u8} images. The operations, their
 * names and their defaults are torchvision's (transforms v2); the pixels between two steps are {@code u8}, as they are
 * there. Each step draws its parameters from the loader's seed, the epoch, the sample's position in the epoch's order,
 * and the step's name. So an augmented image does not depend on workers, ranks, batch size, or where a run resumed.
 *
 * <p>Masks, boxes and keypoints follow their image as {@link io.penstock.image.Target}s; {@link
 * io.penstock.augment.Views} makes several images of one; {@link io.penstock.augment.BatchMix} is a collator with MixUp
 * and CutMix.
 *
 * <p>The parameters are data: {@link io.penstock.image.StepParameters} are drawn apart from the pixels, and can
 * be logged and applied again. As a field of the batch, {@link io.penstock.augment.ParameterTable} lays them out, and a
 * stage on the device reads them. {@code docs/spec/augment.md} specifies draws, pixels and bytes for ports.
 */
@NullMarked
package io.penstock.augment;

import org.jspecify.annotations.NullMarked;
