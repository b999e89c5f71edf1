package io.penstock.format.raw;

import io.penstock.format.Mapping;
import io.penstock.format.OneTensorStore;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoreProvider;
import io.penstock.store.StoredArray;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Rows of numbers without a header, with dtype and shape from the options; never detected. */
public final class RawProvider implements StoreProvider {

    /** For the service loader. */
    public RawProvider() {
    }

    @Override
    public String name() {
        return "raw";
    }

    @Override
    public int order() {
        return 1600;
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return open(path, options.dtype(), options.shape(), 0);
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
    public static TensorStore open(Location path, DType dtype, List<Long> shape, long headerBytes) throws IOException {
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
        return Mapping.open(path, file -> store(file, sized(file, spec, headerBytes), headerBytes));
    }

    private static TensorStore store(MappedFile file, TensorSpec spec, long headerBytes) {
        return new OneTensorStore("raw", file, headerBytes, spec, null, tensor -> new StoreInfo("raw",
                List.of(file.location()), Map.of(), List.of(new StoredArray("", tensor))), ":header=" + headerBytes);
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
}
