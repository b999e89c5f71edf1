// SPDX-License-Identifier: Apache-2.0
package io.penstock.decode;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;

/** {@link Decoder#bytes}. */
final class StoredBytes implements Decoder {

    static final StoredBytes INSTANCE = new StoredBytes();

    private static final Numbers BYTES = new Numbers(DType.U8, TensorSpec.VARIABLE);

    private StoredBytes() {
    }

    @Override
    public TensorSpec field(Column column) {
        if (column.kind() == Column.Kind.NUMBERS) {
            throw new IllegalArgumentException(column + ": numbers need no decoder");
        }
        return new TensorSpec(column.name(), DType.U8, TensorSpec.VARIABLE);
    }

    @Override
    public Session open() {
        return BYTES.open();
    }

    @Override
    public String toString() {
        return "bytes as stored";
    }
}
