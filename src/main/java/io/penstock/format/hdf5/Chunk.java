package io.penstock.format.hdf5;

/**
 * A chunk that is stored.
 *
 * @param number its place among all that the dataset has room for, in row-major order
 * @param position of its first byte in the file
 * @param byteSize in the file
 * @param skippedFilters bit i is set if it did not go through filter i
 */
record Chunk(long number, long position, long byteSize, int skippedFilters) {
}
