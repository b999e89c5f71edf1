// SPDX-License-Identifier: Apache-2.0
/**
 * Arrow's IPC streams and files, one or several, and the folders of them that Hugging Face datasets are saved as:
 * {@link io.penstock.format.arrow.ArrowStore}.
 */
@NullMarked
package io.penstock.format.arrow;

import org.jspecify.annotations.NullMarked;
