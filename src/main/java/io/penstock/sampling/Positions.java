// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

/** Bounds checks of positions, once for a whole run of them. */
final class Positions {

    static long checkSize(long size) {
        if (size < 1 || size > Sampler.MAX_SIZE) {
            throw new IllegalArgumentException("size " + size + ", expected 1 to 2^62 samples");
        }
        return size;
    }

    /** Returns how many epochs of this many draws there are if draws are counted through all of them, below 2^63. */
    static long wholeEpochs(long drawsPerEpoch) {
        return wholeEpochs(1L << 63, drawsPerEpoch);
    }

    /** Returns how many epochs there are if draws are counted below an unsigned limit of at most 2^63. */
    static long wholeEpochs(long limit, long drawsPerEpoch) {
        long epochs = Long.divideUnsigned(limit, drawsPerEpoch);
        return Long.compareUnsigned(epochs, Sampler.MAX_SIZE) < 0 ? epochs : Sampler.MAX_SIZE;
    }

    static void check(long position, long size) {
        if (position < 0 || position >= size) {
            throw new IndexOutOfBoundsException("position " + position + ", expected 0 to " + (size - 1));
        }
    }

    static void check(long first, long stride, int count, int capacity, long size) {
        if (count < 0 || count > capacity) {
            throw new IndexOutOfBoundsException("count " + count + ", expected 0 to " + capacity);
        }
        if (stride < 1) {
            throw new IllegalArgumentException("stride " + stride + ", expected 1 or more");
        }
        if (count == 0) {
            return;
        }
        check(first, size);
        // Division, not multiplication: first + (count - 1) * stride may exceed a long.
        if (count - 1 > (size - 1 - first) / stride) {
            throw new IndexOutOfBoundsException("position " + first + " + " + (count - 1) + " * " + stride
                    + ", expected 0 to " + (size - 1));
        }
    }
}
