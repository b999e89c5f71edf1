// SPDX-License-Identifier: Apache-2.0
/** numpy's array format, as in {@code .npy} files, in archives of them, and in values of records. */
@NullMarked
package io.penstock.format.numpy;

import org.jspecify.annotations.NullMarked;
