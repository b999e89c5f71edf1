// SPDX-License-Identifier: Apache-2.0
/**
 * Hugging Face's safetensors, one file or several with an index, read and written
 * ({@code huggingface/safetensors}: {@code README.md}, {@code safetensors/src/tensor.rs}).
 */
@NullMarked
package io.penstock.format.safetensors;

import org.jspecify.annotations.NullMarked;
