// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

/**
 * A stored chunk.
 *
 * @param number its row-major position among all chunks of the dataset
 * @param skippedFilters bit i is set if filter i was not applied
 */
record Chunk(long number, long position, long byteSize, int skippedFilters) {
}
