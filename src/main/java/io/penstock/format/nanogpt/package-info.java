// SPDX-License-Identifier: Apache-2.0
/** Raw tokens without a header, as nanoGPT prepares them ({@code data/.../prepare.py}). */
@NullMarked
package io.penstock.format.nanogpt;

import org.jspecify.annotations.NullMarked;
