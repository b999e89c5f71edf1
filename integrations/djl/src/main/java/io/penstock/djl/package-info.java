// SPDX-License-Identifier: Apache-2.0
/**
 * Trains DJL models on Penstock's batches: a {@link io.penstock.djl.PenstockDataset} is a DJL dataset over a
 * {@code DataLoader}, and a {@link io.penstock.djl.ModelCheckpoint} saves a model together with the loader's state. It
 * needs DJL's PyTorch engine.
 */
@NullMarked
package io.penstock.djl;

import org.jspecify.annotations.NullMarked;
