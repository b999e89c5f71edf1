// SPDX-License-Identifier: Apache-2.0
/** Batches of Penstock as tensors of TensorFlow for Java. */
@NullMarked
package io.penstock.tensorflow;

import org.jspecify.annotations.NullMarked;
