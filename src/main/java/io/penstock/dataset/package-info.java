/**
 * Datasets: a store seen as samples of named fields, with random access by a {@code long} index.
 *
 * <p>A dataset never copies: it says where a sample's bytes are, and what decodes them. Order and batches are for
 * {@code io.penstock.sampling}, the copy into a batch for {@code io.penstock.collate}.
 */
package io.penstock.dataset;
