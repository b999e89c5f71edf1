// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the steps of a pipeline in workers: over images, and over the masks, boxes and keypoints that move with them.
 */
@NullMarked
package io.penstock.augment.map;

import org.jspecify.annotations.NullMarked;
