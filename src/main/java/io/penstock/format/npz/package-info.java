// SPDX-License-Identifier: Apache-2.0
/** numpy's {@code .npz}: a zip archive of {@code .npy} members (APPNOTE 6.3; {@code numpy/lib/_npyio_impl.py}). */
@NullMarked
package io.penstock.format.npz;

import org.jspecify.annotations.NullMarked;
