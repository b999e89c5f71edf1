// SPDX-License-Identifier: Apache-2.0
/** Runs the steps of a pipeline on a device: the kernels of its passes, their arguments, and their twin. */
@NullMarked
package io.penstock.augment.pass;

import org.jspecify.annotations.NullMarked;
