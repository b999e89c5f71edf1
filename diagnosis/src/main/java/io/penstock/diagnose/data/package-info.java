// SPDX-License-Identifier: Apache-2.0
/**
 * Detects silent changes of the data: statistics of a sample of the batches, compared across epochs or with a baseline.
 *
 * <pre>
 *   worker ──filled slab──▶ DataStatistics ──one epoch, or all──▶ DataProfile ──save, merge──▶ file
 *                                │                                    │
 *                                └────────── DataDrift.compare ◀──────┘──▶ DataFinding
 * </pre>
 *
 * <p>Batches go in turn to {@value io.penstock.diagnose.data.DataProfile#REPLICATES} replicates, and every statistic is
 * kept for each. The spread between an epoch's replicates is the sampling noise, whatever its source: documents that
 * repeat their words, batches of similar samples, few values. A change must exceed that noise.
 */
@NullMarked
package io.penstock.diagnose.data;

import org.jspecify.annotations.NullMarked;
