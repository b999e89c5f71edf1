// SPDX-License-Identifier: Apache-2.0
package io.penstock.decode;

import io.penstock.error.CodecException;
import io.penstock.format.NdarrayValue;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** {@link Decoder#ndarray} and {@link Decoder#typedNdarray}. */
final class NdarrayDecoder implements Decoder {

    private static final String UNTYPED = "ndarray";

    private final DType dtype;
    private final String encoding;
    private final long[] shape;

    private NdarrayDecoder(DType dtype, String encoding, long... shape) {
        this.dtype = dtype;
        this.encoding = encoding;
        this.shape = new TensorSpec("ndarray", dtype, shape).shape();
    }

    static NdarrayDecoder untyped(DType dtype, long... shape) {
        return new NdarrayDecoder(dtype, UNTYPED, shape);
    }

    static NdarrayDecoder typed(DType dtype, long... shape) {
        return new NdarrayDecoder(dtype, UNTYPED + ":" + numpyName(dtype), shape);
    }

    @Override
    public TensorSpec field(Column column) {
        if (column.kind() != Column.Kind.BYTES || !column.encoding().equals(encoding)) {
            throw new IllegalArgumentException(column + " is not stored as " + encoding);
        }
        return new TensorSpec(column.name(), dtype, shape);
    }

    private static String numpyName(DType dtype) {
        return (dtype.isFloat() ? "float" : dtype.isUnsigned() ? "uint" : "int") + dtype.byteSize() * Byte.SIZE;
    }

    @Override
    public Session open() {
        return new Values();
    }

    private final class Values implements Session {

        private final NdarrayValue value = new NdarrayValue();

        @Override
        public long byteSize(MemorySegment stored, long storedBytes) throws IOException {
            value.read(stored, 0, storedBytes, encoding.equals(UNTYPED) ? null : dtype);
            boolean fits = value.dtype() == dtype && value.rank() == shape.length;
            for (int d = 0; fits && d < shape.length; d++) {
                fits = shape[d] == value.dim(d) || d == 0 && shape[d] == TensorSpec.VARIABLE;
            }
            if (!fits) {
                throw new CodecException("an array " + value.dtype() + Arrays.toString(value.shape()),
                        new TensorSpec("", dtype, shape).toString().substring(2));
            }
            return value.dataBytes();
        }

        @Override
        public void decode(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset,
                long targetBytes) throws IOException {
            long bytes = byteSize(stored, storedBytes);
            Scalars.checkSize(bytes, targetBytes);
            MemorySegment.copy(stored, value.dataOffset(), target, targetOffset, bytes);
        }
    }

    @Override
    public String toString() {
        return encoding + " arrays" + new TensorSpec("", dtype, shape);
    }
}
