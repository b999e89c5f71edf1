// SPDX-License-Identifier: Apache-2.0
/** datatrove's tokenized files ({@code datatrove/pipeline/tokens/tokenizer.py}). */
@NullMarked
package io.penstock.format.datatrove;

import org.jspecify.annotations.NullMarked;
