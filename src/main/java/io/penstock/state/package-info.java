// SPDX-License-Identifier: Apache-2.0
/**
 * A run's position in its data, and where it is kept. A {@link io.penstock.state.LoaderState} is independent of batches
 * and ranks, so a run may resume with others; a {@link io.penstock.state.Checkpoint} ties it to the trainer's weights.
 *
 * {@snippet :
 * BatchSampler batches = BatchSampler.of(Sampler.shuffled(dataset.size(), seed), 32, Shard.whole());
 * LoaderState.after(batches, 1999).write(file);           // once every rank has taken its batch 1999
 * BatchSampler rest = LoaderState.read(file).resume(batches);
 * }
 */
@NullMarked
package io.penstock.state;

import org.jspecify.annotations.NullMarked;
