// SPDX-License-Identifier: Apache-2.0
/**
 * Batches of Penstock as tensors of PyTorch's C++ library, which JavaCPP's presets make usable from Java. The entry
 * points are {@link io.penstock.pytorch.TorchBatches} and {@link io.penstock.pytorch.TorchCheckpoint}.
 */
@NullMarked
package io.penstock.pytorch;

import org.jspecify.annotations.NullMarked;
