// SPDX-License-Identifier: Apache-2.0
/** numpy's arrays as bytes, wherever they are: in a {@code .npy}, in an archive, in a record. */
@NullMarked
package io.penstock.format.numpy;

import org.jspecify.annotations.NullMarked;
