// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.numpy;

import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * An array in numpy's format, in a file or in a part of one, as its header describes it.
 *
 * @param major the version of the format: 1, 2 or 3
 * @param dataOffset the size of the header: the elements follow it
 * @param dataBytes the size of the elements, in the file and in memory
 */
public record NpyArray(int major, NpyType type, DType dtype, boolean isFortranOrder, long[] shape, long dataOffset,
        long dataBytes) {

    public static final int MAX_HEADER_BYTES = NpyHeader.MAX_BYTES;

    private static final int ALIGNMENT_BYTES = 64;
    /** numpy leaves room for the first dimension to grow in place to any 64-bit number. */
    private static final int MAX_DIGITS = 21;

    /**
     * Reads a header and checks that the file has all elements.
     *
     * @param part the part of the file that holds the array, for messages; empty for the whole file
     * @param head the first bytes: all, or at least {@link #MAX_HEADER_BYTES}
     * @param byteSize the size of header and elements
     * @param given the type of elements that numpy stores as bytes because it lacks the type; null if none is given. A
     *     whole file must have that type; a part may declare another one
     */
    public static NpyArray read(Object file, String part, MemorySegment head, long byteSize, @Nullable DType given) {
        return NpyHeader.read(new NpyHeader.Place(file, part), head, byteSize, given);
    }

    /** Tells whether numpy has a type; it stores elements of another one as untyped bytes. */
    public static boolean has(DType dtype) {
        return dtype != DType.BF16 && dtype != DType.F8E4M3 && dtype != DType.F8E5M2;
    }

    public static boolean isNpy(byte[] head) {
        return NpyHeader.isMagic(head);
    }

    public TensorSpec spec(String name) {
        return new TensorSpec(name, dtype, shape);
    }

    /** Returns the element type and byte order in numpy's notation, for example {@code <u2}. */
    public String storedDtype() {
        return type.toString();
    }

    /** Returns {@code F} if the first index changes fastest, otherwise {@code C}. */
    public String storedOrder() {
        return isFortranOrder ? "F" : "C";
    }

    /**
     * Tells whether the elements are stored row-major and little-endian, so that no {@link #convert} is needed. An
     * array in Fortran order is row-major too if at most one dimension is not 1.
     */
    public boolean isInPlace() {
        boolean isRowMajor = !isFortranOrder || Arrays.stream(shape).filter(dim -> dim != 1).count() < 2;
        return isRowMajor && !type.isBigEndian();
    }

    /** Copies the elements into row-major, little-endian order; both segments have the same size. */
    public void convert(MemorySegment stored, MemorySegment target) {
        RowMajor.copy(stored, target, this);
    }

    /** Returns the array as a tensor of elements that are row-major and little-endian. */
    public Tensor tensor(MemorySegment data) {
        return Tensor.of(data, dtype, shape);
    }

    /** Returns the header that {@code numpy.save} writes, a multiple of 64 bytes. */
    public static byte[] header(DType dtype, long... shape) {
        String dims = LongStream.of(shape).mapToObj(Long::toString).collect(Collectors.joining(", "))
                + (shape.length == 1 ? "," : "");
        String text = "{'descr': '" + NpyType.descrOf(dtype) + "', 'fortran_order': False, 'shape': (" + dims + "), }";
        if (shape.length > 0) {
            text += " ".repeat(MAX_DIGITS - Long.toString(shape[0]).length());
        }
        int prefixBytes = NpyHeader.LENGTH_OFFSET + Short.BYTES;
        int padding = ALIGNMENT_BYTES - (prefixBytes + text.length() + 1) % ALIGNMENT_BYTES;
        text += " ".repeat(padding) + "\n";
        return ByteBuffer.allocate(prefixBytes + text.length()).order(ByteOrder.LITTLE_ENDIAN)
                .put(NpyHeader.MAGIC).put((byte) 1).put((byte) 0).putShort((short) text.length())
                .put(text.getBytes(StandardCharsets.ISO_8859_1)).array();
    }
}
