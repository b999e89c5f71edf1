// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

/**
 * The dimensions of a dataset or an attribute, outermost first; none for a scalar.
 *
 * @param isNull whether it has no elements, not even one as a scalar has
 * @param maxShape the maximum dimensions, -1 for unlimited ones; by default the shape
 */
record Dataspace(boolean isNull, long[] shape, long[] maxShape) {

    static final int MAX_RANK = 32;

    private static final int HAS_MAX = 1;
    private static final int NULL_TYPE = 2;

    static Dataspace read(Cursor at) {
        int version = at.versionOf(1, 2);
        int rank = at.u8();
        int flags = at.u8();
        boolean isNull = at.u8() == NULL_TYPE && version == 2;
        at.skip(version == 1 ? 4 : 0);
        if (rank > MAX_RANK) {
            throw at.malformed(rank + " dimensions", "at most " + MAX_RANK);
        }
        long[] shape = new long[rank];
        for (int d = 0; d < rank; d++) {
            shape[d] = at.length();
        }
        long[] maxShape = shape.clone();
        for (int d = 0; d < rank && (flags & HAS_MAX) != 0; d++) {
            maxShape[d] = at.lengthOrAll();
            if (maxShape[d] >= 0 && maxShape[d] < shape[d] || maxShape[d] < -1) {
                throw at.malformed("a dimension of " + shape[d] + " that may grow to "
                        + Long.toUnsignedString(maxShape[d]), "a maximum that is not less");
            }
        }
        return new Dataspace(isNull, shape, maxShape);
    }

    /** Returns the number of elements; negative if it exceeds 2^63. */
    long elements() {
        long count = isNull ? 0 : 1;
        boolean overflows = false;
        for (long dim : shape) {
            overflows |= dim != 0 && Math.multiplyHigh(count, dim) != 0 || count * dim < 0;
            if (dim == 0) {
                return 0;
            }
            count *= dim;
        }
        return overflows ? -1 : count;
    }
}
