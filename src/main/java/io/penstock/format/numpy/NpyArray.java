package io.penstock.format.numpy;

import io.penstock.io.MalformedStoreException;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** The array that a {@code .npy} header describes, in a file or in a part of one. */
public final class NpyArray {

    /** The longest header; what is read of an array before its data. */
    public static final int MAX_HEADER_BYTES = NpyHeader.MAX_HEADER_BYTES;

    private static final int ALIGNMENT_BYTES = 64;
    /** numpy leaves room for the first dimension to grow in place to any 64-bit number. */
    private static final int MAX_DIGITS = 21;

    private final NpyHeader header;
    private final DType dtype;

    private NpyArray(NpyHeader header, DType dtype) {
        this.header = header;
        this.dtype = dtype;
    }

    /**
     * Reads and checks a header, and that there is room for the data behind it.
     *
     * @param file the file, for messages
     * @param part which part of the file it is, for messages; empty if it is the whole file
     * @param head the first bytes: all, or {@link #MAX_HEADER_BYTES} at least
     * @param byteSize how many bytes header and data have
     * @param told the dtype of elements that numpy has no name for and stores as bytes; null if the header says it. A
     *     whole file must be of that type; a part may be of another that its header names.
     * @return the array
     * @throws MalformedStoreException if the bytes are no whole {@code .npy}, or its elements are of no type that is
     *     read
     */
    public static NpyArray read(Object file, String part, MemorySegment head, long byteSize, DType told)
            throws MalformedStoreException {
        NpyHeader header = NpyHeader.read(new NpyHeader.Place(file, part), head, byteSize, told);
        return new NpyArray(header, header.type().dtype() == null ? told : header.type().dtype());
    }

    /**
     * Whether some bytes are a {@code .npy}.
     *
     * @param head the first of them
     * @return true if they are the format's magic
     */
    public static boolean isNpy(byte[] head) {
        return NpyHeader.isMagic(head);
    }

    /**
     * Dtype and shape.
     *
     * @param name what to call it
     * @return the spec
     */
    public TensorSpec spec(String name) {
        return new TensorSpec(name, dtype, header.shape());
    }

    /**
     * The version of the format.
     *
     * @return major and minor
     */
    public List<Integer> version() {
        return List.of(header.major(), 0);
    }

    /**
     * The element type and byte order, as numpy writes them.
     *
     * @return for example {@code <u2}
     */
    public String storedDtype() {
        return header.type().toString();
    }

    /**
     * The order of the elements.
     *
     * @return {@code F} if the header says that the first index changes fastest, otherwise {@code C}
     */
    public String storedOrder() {
        return header.isFortranOrder() ? "F" : "C";
    }

    /**
     * Where the data begins.
     *
     * @return the bytes of the header
     */
    public long dataOffset() {
        return header.dataOffset();
    }

    /**
     * Bytes of the data.
     *
     * @return the byte size, stored as well as in memory
     */
    public long dataBytes() {
        return header.dataBytes();
    }

    /**
     * Whether the data is stored as it is in memory: little-endian, and row-major, which it also is if it is called
     * Fortran's order and at most one dimension is not 1.
     *
     * @return true if no {@link #convert} is needed
     */
    public boolean isInPlace() {
        boolean isRowMajor = !header.isFortranOrder()
                || Arrays.stream(header.shape()).filter(dim -> dim != 1).count() < 2;
        return isRowMajor && !header.type().isBigEndian();
    }

    /**
     * Copies the data into row-major, little-endian order.
     *
     * @param stored the data as it is stored, {@link #dataBytes} of it
     * @param target where to, memory of the same size
     */
    public void convert(MemorySegment stored, MemorySegment target) {
        RowMajor.copy(stored, target, header);
    }

    /**
     * The array over its data.
     *
     * @param data row-major and little-endian
     * @return a view
     */
    public Tensor tensor(MemorySegment data) {
        return Tensor.of(data, dtype, header.shape());
    }

    /**
     * What stands before the elements, as {@code numpy.save} writes it.
     *
     * @param dtype the elements' type
     * @param shape the dimensions; none for a scalar
     * @return the magic, the version and the header, a multiple of 64 bytes
     */
    public static byte[] header(DType dtype, long... shape) {
        String dims = LongStream.of(shape).mapToObj(Long::toString).collect(Collectors.joining(", "))
                + (shape.length == 1 ? "," : "");
        String text = "{'descr': '" + NpyType.descrOf(dtype) + "', 'fortran_order': False, 'shape': (" + dims
                + "), }";
        if (shape.length > 0) {
            text += " ".repeat(MAX_DIGITS - Long.toString(shape[0]).length());
        }
        int prefixBytes = NpyHeader.LENGTH_OFFSET + Short.BYTES;
        int padding = ALIGNMENT_BYTES - (prefixBytes + text.length() + 1) % ALIGNMENT_BYTES;
        text += " ".repeat(padding) + "\n";
        return ByteBuffer.allocate(prefixBytes + text.length()).order(ByteOrder.LITTLE_ENDIAN)
                .put(NpyHeader.magic()).put((byte) 1).put((byte) 0).putShort((short) text.length())
                .put(text.getBytes(StandardCharsets.ISO_8859_1)).array();
    }
}
