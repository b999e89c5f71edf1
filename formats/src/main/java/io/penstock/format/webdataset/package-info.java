// SPDX-License-Identifier: Apache-2.0
/**
 * WebDataset: samples as files in tars, one tar or many, plain or compressed. {@link WebDatasetStore} reads records in
 * any order, {@link WebDatasetSource} is a stream that reads shards from start to end, {@link WebDatasetWriter} writes
 * them.
 */
@NullMarked
package io.penstock.format.webdataset;

import org.jspecify.annotations.NullMarked;
