package io.penstock.format.npy;

import io.penstock.format.Fingerprint;
import io.penstock.format.Mapping;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoredArray;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The array of a {@code .npy}: in place if it is stored row-major and little-endian, otherwise a converted copy in
 * native memory. Bytes behind the data are no part of it, as for numpy.
 */
public final class NpyStore implements TensorStore, StoreInfo.Source {

    /** What a copy is aligned to: a cache line. */
    private static final long COPY_ALIGNMENT_BYTES = 64;

    private final MappedFile file;
    private final NpyArray array;
    private final TensorSpec spec;
    /** Row-major and little-endian, of what is not stored so; otherwise null. */
    private final Tensor copy;
    private final Arena copyArena;
    private volatile String fingerprint;

    private NpyStore(MappedFile file, DType told) throws IOException {
        this.file = file;
        MemorySegment head = file.range(0, Math.min(file.byteSize(), NpyArray.MAX_HEADER_BYTES));
        this.array = NpyArray.read(file.location(), "", head, file.byteSize(), told);
        this.spec = array.spec("");
        if (array.isInPlace()) {
            this.copyArena = null;
            this.copy = null;
            return;
        }
        this.copyArena = Arena.ofShared();
        try {
            MemorySegment converted = copyArena.allocate(array.dataBytes(), COPY_ALIGNMENT_BYTES);
            array.convert(file.range(array.dataOffset(), array.dataBytes()), converted);
            this.copy = array.tensor(converted.asReadOnly());
        } catch (OutOfMemoryError e) {
            copyArena.close();
            throw new IOException(file.location() + ": no memory for the " + array.dataBytes()
                    + " bytes that it takes row-major and little-endian", e);
        } catch (Throwable t) {
            copyArena.close();
            throw t;
        }
    }

    /**
     * Opens and checks an array.
     *
     * @param path its file
     * @param told the dtype of elements that numpy has no name for and stores as bytes, such as {@code bf16}; null if
     *     the file says it
     * @return the store, to be closed by the caller; it has one tensor
     * @throws MalformedStoreException if the file is not a whole {@code .npy}, or its elements are of no type that is
     *     read, or not of the type told
     * @throws IOException if there is no such file, or it cannot be read
     */
    public static NpyStore open(Location path, DType told) throws IOException {
        return Mapping.open(path, file -> new NpyStore(file, told));
    }

    /**
     * Whether a file is a {@code .npy}.
     *
     * @param head its first bytes
     * @return true if they are the format's magic
     */
    public static boolean isNpy(byte[] head) {
        return NpyArray.isNpy(head);
    }

    @Override
    public List<TensorSpec> tensors() {
        return List.of(spec);
    }

    @Override
    public Tensor tensor(int index) {
        Objects.checkIndex(index, 1);
        return copy != null ? copy : array.tensor(file.range(array.dataOffset(), array.dataBytes()));
    }

    @Override
    public void locate(int index, long firstRow, long rows, Span into) {
        Objects.checkIndex(index, 1);
        long rowCount = spec.rank() == 0 ? 1 : spec.dim(0);
        if (firstRow < 0 || rows < 0 || rows > rowCount - firstRow) {
            throw new IndexOutOfBoundsException(file.location() + ": rows from " + firstRow + ", " + rows
                    + " of them, are not within the tensor's 0 to " + rowCount);
        }
        long rowBytes = spec.rowBytes();
        if (copyArena == null) {
            into.set(file, array.dataOffset() + firstRow * rowBytes, rows * rowBytes);
        } else {
            into.set(copy.segment(), firstRow * rowBytes, rows * rowBytes);
        }
    }

    @Override
    public boolean isConverted(int index) {
        Objects.checkIndex(index, 1);
        return copyArena != null;
    }

    @Override
    public String fingerprint() {
        if (fingerprint == null) {
            fingerprint = "npy:" + spec.dtype() + Arrays.toString(spec.shape()).replace(" ", "") + ":sha256="
                    + new Fingerprint().add(file).hex();
        }
        return fingerprint;
    }

    @Override
    public StoreInfo info() {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("npy_version", array.version());
        details.put("converted", isConverted(0));
        return new StoreInfo("npy", List.of(file.location()), details, List.of(new StoredArray("",
                array.storedDtype(), array.storedOrder(), tensor(0))));
    }

    @Override
    public void close() {
        if (copyArena != null && copyArena.scope().isAlive()) {
            copyArena.close();
        }
        file.close();
    }

    @Override
    public String toString() {
        return file.location() + " (" + spec.dtype() + Arrays.toString(spec.shape()).replace(" ", "") + ")";
    }
}
