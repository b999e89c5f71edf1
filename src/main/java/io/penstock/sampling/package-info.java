// SPDX-License-Identifier: Apache-2.0
/**
 * The order of training: which samples, in which batch, on which rank.
 *
 * <p>Everything here is a pure function of a few numbers. A {@link io.penstock.sampling.Sampler} gives each epoch an
 * {@link io.penstock.sampling.Order} of the whole dataset, the same for all ranks. Shuffling is a
 * {@link io.penstock.sampling.Permutation}, and a {@link io.penstock.sampling.Mixture} combines several datasets; both
 * are computed position by position and never stored. A {@link io.penstock.sampling.BatchSampler} divides the order
 * into batches for ranks. Batch {@code n} depends only on {@code n}, so workers plan in parallel, and starting in the
 * middle of an epoch of 10^12 samples costs no more than starting at its head.
 *
 * {@snippet :
 * BatchSampler batches = BatchSampler.of(Sampler.shuffled(dataset.size(), seed), 32,
 *         new Shard(rank, worldSize, TailPolicy.EXACT))
 *     .withDataset(dataset.fingerprint());
 * BatchPlan plan = new BatchPlan(32);
 * for (long n = 0; n < batches.batchesInEpoch(0); n++) {
 *     batches.plan(n, plan);                              // which samples: plan.sample(0), plan.sample(1), …
 * }
 * }
 *
 * <p>{@code docs/spec/} fixes what a port in another language must reproduce bit for bit.
 */
@NullMarked
package io.penstock.sampling;

import org.jspecify.annotations.NullMarked;
