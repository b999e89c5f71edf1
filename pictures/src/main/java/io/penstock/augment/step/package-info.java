// SPDX-License-Identifier: Apache-2.0
/** The steps of a pipeline: each draws its parameters, applies them to an image, and says what kernels do for it. */
@NullMarked
package io.penstock.augment.step;

import org.jspecify.annotations.NullMarked;
