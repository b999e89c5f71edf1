// SPDX-License-Identifier: Apache-2.0
/** numpy's {@code .npy}, versions 1.0 to 3.0, read and written ({@code numpy/lib/_format_impl.py}). */
@NullMarked
package io.penstock.format.npy;

import org.jspecify.annotations.NullMarked;
