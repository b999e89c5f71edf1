package io.penstock.format.hdf5;

/**
 * How a dataset is cut into chunks.
 *
 * @param shape of the dataset, in elements
 * @param maxShape what it may grow to, -1 for any size
 * @param chunk the dimensions of a chunk
 * @param elementBytes bytes of an element
 */
record ChunkGrid(long[] shape, long[] maxShape, long[] chunk, long elementBytes) {

    int rank() {
        return shape.length;
    }

    /** How many chunks there are along a dimension. */
    long chunks(int d) {
        return ceilDiv(shape[d], chunk[d]);
    }

    /** How many chunks there can be along a dimension; -1 for any number. */
    long maxChunks(int d) {
        return maxShape[d] < 0 ? -1 : ceilDiv(maxShape[d], chunk[d]);
    }

    private static long ceilDiv(long a, long b) {
        return a / b + (a % b == 0 ? 0 : 1);
    }

    /** Bytes of a chunk before its filters. */
    long chunkBytes() {
        long bytes = elementBytes;
        for (long dim : chunk) {
            bytes *= dim;
        }
        return bytes;
    }

    /** A chunk's number by its coordinates, in chunks; -1 if it is outside of the dataset, which may have shrunk. */
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

    /** The coordinates of a chunk, in chunks, by its number. */
    long[] coordinates(long number) {
        long[] coordinates = new long[rank()];
        long rest = number;
        for (int d = rank() - 1; d >= 0; d--) {
            coordinates[d] = rest % chunks(d);
            rest /= chunks(d);
        }
        return coordinates;
    }

    /** How many chunks share a first coordinate. */
    long chunksAcross() {
        long count = 1;
        for (int d = 1; d < rank(); d++) {
            count *= chunks(d);
        }
        return count;
    }

    /** Whether the dataset ends within a chunk. */
    boolean isCut(long[] coordinates) {
        for (int d = 0; d < rank(); d++) {
            if (shape[d] - coordinates[d] * chunk[d] < chunk[d]) {
                return true;
            }
        }
        return false;
    }
}
