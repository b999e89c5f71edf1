// SPDX-License-Identifier: Apache-2.0
package io.penstock.format;

import io.penstock.error.CodecException;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A value of the encoding {@code ndarray} that contains its shape and perhaps its type: a mutable cursor, which one
 * thread moves from value to value.
 *
 * <pre>{@code
 * 1 byte the type, unless the column has it: bytes of an element × 8, + 1 if signed, + 2 if floating
 * 1 byte rank << 2 | log2 of the bytes of a dimension
 * rank dimensions, outermost first
 * the elements, row-major, at any address
 * }</pre>
 */
public final class NdarrayValue {

    private static final int MAX_RANK = 63;

    private final long[] dims = new long[MAX_RANK];
    private DType dtype = DType.U8;
    private int rank;
    private long dataOffset;
    private long dataBytes;

    /**
     * Reads the header of a value; {@code known} is null if the value declares its element type. The {@link
     * CodecException} says what is malformed, but not where; a value that is not within {@code bytes} gets an {@link
     * IndexOutOfBoundsException}.
     */
    public void read(MemorySegment bytes, long offset, long byteSize, @Nullable DType known) {
        long at = offset;
        long end = offset + byteSize;
        if (known == null) {
            if (at == end) {
                throw new CodecException("ndarray: 0 bytes, without a type");
            }
            int code = bytes.get(ValueLayout.JAVA_BYTE, at++) & 0xFF;
            DType declared = dtypeOf(code);
            if (declared == null) {
                throw new CodecException("ndarray: type code " + code + ", neither an integer's nor a float's");
            }
            dtype = declared;
        } else {
            dtype = known;
        }
        if (at == end) {
            throw new CodecException("ndarray: " + byteSize + " bytes, without a shape");
        }
        int head = bytes.get(ValueLayout.JAVA_BYTE, at++) & 0xFF;
        rank = head >>> 2;
        int dimBytes = 1 << (head & 3);
        if (end - at < (long) rank * dimBytes) {
            throw new CodecException("ndarray: " + byteSize + " bytes, too few for " + rank + " dimensions of "
                    + dimBytes + " bytes");
        }
        long elements = 1;
        for (int d = 0; d < rank; d++) {
            dims[d] = unsigned(bytes, at, dimBytes);
            at += dimBytes;
            long most = elements == 0 ? Long.MAX_VALUE : byteSize / elements;
            if (dims[d] < 0 || dims[d] > most) {
                throw new CodecException("ndarray: dimension " + d + " of " + Long.toUnsignedString(dims[d])
                        + " in " + byteSize + " bytes");
            }
            elements *= dims[d];
        }
        dataOffset = at;
        dataBytes = end - at;
        if (elements * dtype.byteSize() != dataBytes) {
            throw new CodecException("ndarray: " + dataBytes + " bytes of elements for " + dtype
                    + Arrays.toString(shape()));
        }
    }

    private static @Nullable DType dtypeOf(int code) {
        return switch (code) {
            case 8 -> DType.U8;
            case 9 -> DType.I8;
            case 16 -> DType.U16;
            case 17 -> DType.I16;
            case 18 -> DType.F16;
            case 32 -> DType.U32;
            case 33 -> DType.I32;
            case 34 -> DType.F32;
            case 64 -> DType.U64;
            case 65 -> DType.I64;
            case 66 -> DType.F64;
            default -> null;
        };
    }

    private static long unsigned(MemorySegment bytes, long at, int size) {
        return switch (size) {
            case 1 -> bytes.get(ValueLayout.JAVA_BYTE, at) & 0xFF;
            case 2 -> bytes.get(LittleEndian.I16, at) & 0xFFFF;
            case 4 -> bytes.get(LittleEndian.I32, at) & 0xFFFF_FFFFL;
            default -> bytes.get(LittleEndian.I64, at);
        };
    }

    public DType dtype() {
        return dtype;
    }

    /** {@return the number of dimensions, 0 to 63} */
    public int rank() {
        return rank;
    }

    /** Returns a dimension; the first is the outermost. */
    public long dim(int d) {
        return dims[d];
    }

    public long[] shape() {
        return Arrays.copyOf(dims, rank);
    }

    /** {@return the offset of the elements in the memory that was read} */
    public long dataOffset() {
        return dataOffset;
    }

    public long dataBytes() {
        return dataBytes;
    }
}
