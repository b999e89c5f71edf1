package io.penstock.format.raw;

import io.penstock.format.Fingerprint;
import io.penstock.format.Mapping;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.StoreFormat;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoredArray;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * One tensor in a file that says nothing of it: row-major, little-endian elements, of a dtype and a shape that are
 * told, as a view of the mapping.
 */
public final class RawStore implements TensorStore, StoreInfo.Source {

    private final MappedFile file;
    private final TensorSpec spec;
    private final long headerBytes;
    private volatile String fingerprint;

    private RawStore(MappedFile file, TensorSpec spec, long headerBytes) {
        this.file = file;
        this.spec = spec;
        this.headerBytes = headerBytes;
    }

    /**
     * Opens a file of nothing but elements.
     *
     * @param path the file
     * @param dtype the elements' dtype
     * @param shape the tensor's shape; a first dimension of -1 stands for as many rows as the file has; null for one
     *     dimension of that kind
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the file's size is not that of the tensor, or no whole number of rows
     * @throws IOException if there is no such file, or it cannot be read
     * @throws IllegalArgumentException if the dtype is null, or there is no such shape
     */
    public static RawStore open(Location path, DType dtype, List<Long> shape) throws IOException {
        return open(path, dtype, shape, 0);
    }

    /**
     * Opens a file of elements behind a header that is skipped.
     *
     * @param path the file
     * @param dtype the elements' dtype
     * @param shape the tensor's shape; a first dimension of -1 stands for as many rows as the file has; null for one
     *     dimension of that kind
     * @param headerBytes where the first element is
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the file's size is not that of header and tensor
     * @throws IOException if there is no such file, or it cannot be read
     * @throws IllegalArgumentException if the dtype is null, there is no such shape, or the header is of fewer than no
     *     bytes
     */
    public static RawStore open(Location path, DType dtype, List<Long> shape, long headerBytes) throws IOException {
        if (dtype == null) {
            throw new IllegalArgumentException("raw data need a dtype: nothing in the file says it");
        }
        if (headerBytes < 0) {
            throw new IllegalArgumentException("a header of " + headerBytes + " bytes, expected 0 or more");
        }
        long[] told = shape == null ? new long[] {TensorSpec.VARIABLE}
                : shape.stream().mapToLong(Long::longValue).toArray();
        TensorSpec spec = new TensorSpec("", dtype, told);
        if (spec.isVariable() && spec.rowBytes() <= 0) {
            throw new IllegalArgumentException("shape " + Arrays.toString(told) + ", of which any number of rows has no"
                    + " bytes");
        }
        return Mapping.open(path, file -> new RawStore(file, sized(file, spec, headerBytes), headerBytes));
    }

    private static TensorSpec sized(MappedFile file, TensorSpec told, long headerBytes)
            throws MalformedStoreException {
        long bytes = file.byteSize() - headerBytes;
        if (bytes < 0) {
            throw new MalformedStoreException(file.location(), file.byteSize(), "the file ends", "a header of "
                    + headerBytes + " bytes");
        }
        if (told.isVariable()) {
            if (bytes % told.rowBytes() != 0) {
                throw new MalformedStoreException(file.location(), file.byteSize(), bytes + " bytes",
                        "a whole number of rows of " + told.rowBytes());
            }
            return told.withLength(bytes / told.rowBytes());
        }
        if (bytes != told.byteSize()) {
            throw new MalformedStoreException(file.location(), file.byteSize(), bytes + " bytes",
                    told.byteSize() + ", as " + told.dtype() + Arrays.toString(told.shape()).replace(" ", "") + " has");
        }
        return told;
    }

    @Override
    public List<TensorSpec> tensors() {
        return List.of(spec);
    }

    @Override
    public Tensor tensor(int index) {
        Objects.checkIndex(index, 1);
        return Tensor.of(file.range(headerBytes, spec.byteSize()), spec.dtype(), spec.shape());
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
        into.set(file, headerBytes + firstRow * rowBytes, rows * rowBytes);
    }

    @Override
    public boolean isConverted(int index) {
        Objects.checkIndex(index, 1);
        return false;
    }

    @Override
    public String fingerprint() {
        if (fingerprint == null) {
            fingerprint = "raw:" + spec.dtype() + Arrays.toString(spec.shape()).replace(" ", "") + ":header="
                    + headerBytes + ":sha256=" + new Fingerprint().add(file).hex();
        }
        return fingerprint;
    }

    @Override
    public StoreInfo info() {
        return new StoreInfo(StoreFormat.RAW.toString(), List.of(file.location()), Map.of(),
                List.of(new StoredArray("", tensor(0))));
    }

    @Override
    public void close() {
        file.close();
    }

    @Override
    public String toString() {
        return file.location() + " (" + spec.dtype() + Arrays.toString(spec.shape()).replace(" ", "") + ")";
    }
}
