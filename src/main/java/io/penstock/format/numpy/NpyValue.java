package io.penstock.format.numpy;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * Reads {@code .npy} values inside other files, for one thread. A header equal to the previous one is not parsed again
 * and allocates nothing.
 */
public final class NpyValue {

    /** What messages name in place of a file. */
    private static final String NAME = ".npy";

    private final DType told;
    private NpyHeader header;
    private TensorSpec spec;
    private MemorySegment headerBytes;
    private MemorySegment stored;

    /**
     * A reader.
     *
     * @param told the dtype of elements that numpy has no name for and stores as bytes, such as {@code bf16}; elements
     *     of another type are an error. Null to read what is there
     */
    public NpyValue(DType told) {
        this.told = told;
    }

    /**
     * Reads a value's header.
     *
     * @param npy memory that starts with the value; must stay as it is until the value is copied
     * @param bytes the value's length
     * @return dtype and shape, without a name; the same object as before if the header is
     * @throws IOException if it is malformed, or its elements are of no type that is read, or not of that told
     */
    public TensorSpec read(MemorySegment npy, long bytes) throws IOException {
        stored = null;
        if (header == null || bytes < header.dataOffset() + header.dataBytes() || MemorySegment.mismatch(
                npy, 0, header.dataOffset(), headerBytes, 0, header.dataOffset()) >= 0) {
            header = null;
            NpyHeader found = NpyHeader.read(new NpyHeader.Place(NAME, ""), npy.asSlice(0, bytes), bytes, told);
            spec = new TensorSpec("", found.type().dtype() == null ? told : found.type().dtype(), found.shape());
            headerBytes = MemorySegment.ofArray(
                    npy.asSlice(0, found.dataOffset()).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
            header = found;
        }
        stored = npy;
        return spec;
    }

    /**
     * Bytes of the elements of the value that was read.
     *
     * @return the size
     */
    public long dataBytes() {
        return header.dataBytes();
    }

    /**
     * Copies the elements of the value that was read, row-major and little-endian.
     *
     * @param target where to; {@link #dataBytes} are written
     * @param targetOffset the first byte to write
     */
    public void copyTo(MemorySegment target, long targetOffset) {
        if (stored == null) {
            throw new IllegalStateException("no value was read");
        }
        if (!header.isFortranOrder() && !header.type().isBigEndian()) {
            MemorySegment.copy(stored, header.dataOffset(), target, targetOffset, header.dataBytes());
        } else {
            RowMajor.copy(stored.asSlice(header.dataOffset(), header.dataBytes()),
                    target.asSlice(targetOffset, header.dataBytes()), header);
        }
    }
}
