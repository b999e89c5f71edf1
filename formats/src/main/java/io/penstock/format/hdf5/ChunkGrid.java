// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

/** The division of a dataset into chunks; {@code maxShape} is -1 for an unlimited dimension. */
record ChunkGrid(long[] shape, long[] maxShape, long[] chunk, long elementBytes) {

    int rank() {
        return shape.length;
    }

    long chunks(int d) {
        return Math.ceilDiv(shape[d], chunk[d]);
    }

    /** Returns the maximum number of chunks along a dimension; -1 if unlimited. */
    long maxChunks(int d) {
        return maxShape[d] < 0 ? -1 : Math.ceilDiv(maxShape[d], chunk[d]);
    }

    long chunkBytes() {
        long bytes = elementBytes;
        for (long dim : chunk) {
            bytes *= dim;
        }
        return bytes;
    }

    /** Returns a chunk's number; -1 if it is outside the dataset, which may have shrunk. */
    long number(long[] coordinates) {
        long number = 0;
        for (int d = 0; d < rank(); d++) {
            if (coordinates[d] < 0 || coordinates[d] >= chunks(d)) {
                return -1;
            }
            number = number * chunks(d) + coordinates[d];
        }
        return number;
    }

    /** Returns a chunk's coordinates, in chunks. */
    long[] coordinates(long number) {
        long[] coordinates = new long[rank()];
        long rest = number;
        for (int d = rank() - 1; d >= 0; d--) {
            coordinates[d] = rest % chunks(d);
            rest /= chunks(d);
        }
        return coordinates;
    }

    /** Returns the number of chunks with the same first coordinate. */
    long chunksAcross() {
        long count = 1;
        for (int d = 1; d < rank(); d++) {
            count *= chunks(d);
        }
        return count;
    }

    /** Tells whether the dataset ends within a chunk. */
    boolean isCut(long[] coordinates) {
        for (int d = 0; d < rank(); d++) {
            if (shape[d] - coordinates[d] * chunk[d] < chunk[d]) {
                return true;
            }
        }
        return false;
    }
}
