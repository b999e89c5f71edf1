// SPDX-License-Identifier: Apache-2.0
/**
 * Arrow IPC streams and files, alone or in a folder as Hugging Face's {@code save_to_disk} writes it:
 * {@link io.penstock.format.arrow.ArrowStore}.
 */
@NullMarked
package io.penstock.format.arrow;

import org.jspecify.annotations.NullMarked;
