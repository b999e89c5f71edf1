// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

/** Parquet's physical types, in the order of their codes. */
enum Physical {
    BOOLEAN(1),
    INT32(4),
    INT64(8),
    INT96(12),
    FLOAT(4),
    DOUBLE(8),
    BYTE_ARRAY(0),
    FIXED_LEN_BYTE_ARRAY(0);

    private final int byteSize;

    Physical(int byteSize) {
        this.byteSize = byteSize;
    }

    /** Returns the size of a decoded value, 1 for a boolean; 0 if the type alone does not determine it. */
    int byteSize() {
        return byteSize;
    }
}
