/**
 * Datasets: a store seen as samples of named fields, with random access by a {@code long} index.
 *
 * <p>A dataset never copies: it says by a {@link io.penstock.dataset.FieldSource} where each field comes from. A
 * {@link io.penstock.dataset.SampleReader} a worker gets the values. Order and batches are for
 * {@code io.penstock.sampling}, the copy into a batch for {@code io.penstock.collate}.
 */
package io.penstock.dataset;
