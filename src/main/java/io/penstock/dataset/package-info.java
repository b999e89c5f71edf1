// SPDX-License-Identifier: Apache-2.0
/**
 * Datasets: samples of named fields over a store, with random access by a {@code long} index.
 *
 * <p>A dataset never copies: a {@link io.penstock.dataset.source.FieldSource} gives the source of each field, and each
 * worker reads values with a reader of its own. {@code io.penstock.sampling} makes orders and batches,
 * {@code io.penstock.collate} copies into a batch.
 */
@NullMarked
package io.penstock.dataset;

import org.jspecify.annotations.NullMarked;
