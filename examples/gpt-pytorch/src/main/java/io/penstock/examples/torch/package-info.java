// SPDX-License-Identifier: Apache-2.0
/** A GPT that trains on PyTorch's C++ library, fed by Penstock. */
@NullMarked
package io.penstock.examples.torch;

import org.jspecify.annotations.NullMarked;
