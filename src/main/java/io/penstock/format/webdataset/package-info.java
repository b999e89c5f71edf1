// SPDX-License-Identifier: Apache-2.0
/**
 * WebDataset: samples as files in tars, one tar or many, plain or compressed. {@link WebDatasetStore} gives records at
 * random, {@link WebDatasetStream} one after another in a shuffled order, {@link WebDatasetWriter} writes them.
 */
@NullMarked
package io.penstock.format.webdataset;

import org.jspecify.annotations.NullMarked;
