// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.tokens;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.Mapping;
import io.penstock.format.TensorFiles;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoreProvider;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Rows of numbers without a header, with dtype and shape from the options; never detected. */
public final class RawProvider implements StoreProvider {

    private static final String NAME = "raw";

    /** For the service loader. */
    public RawProvider() {
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return open(path, options.dtype(), options.shape(), 0);
    }

    /**
     * Opens a file of elements behind a header that is skipped.
     *
     * @param path the file
     * @param dtype the elements' type
     * @param shape the tensor's shape; a first dimension of -1 is inferred from the file's size; null for one dimension
     *     of that size
     * @param headerBytes the offset of the first element
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the file's size is not that of header and tensor
     * @throws IOException if the file is missing or cannot be read
     * @throws IllegalArgumentException if dtype, shape or header size is missing or invalid
     */
    public static TensorStore open(Location path, @Nullable DType dtype, @Nullable List<Long> shape, long headerBytes)
            throws IOException {
        if (dtype == null) {
            throw new IllegalArgumentException("raw data need a dtype: nothing in the file says it");
        }
        if (headerBytes < 0) {
            throw new IllegalArgumentException("a header of " + headerBytes + " bytes, expected 0 or more");
        }
        TensorSpec spec = new TensorSpec("", dtype, shape == null ? new long[] {TensorSpec.VARIABLE}
                : shape.stream().mapToLong(Long::longValue).toArray());
        if (spec.isVariable() && spec.rowBytes() <= 0) {
            throw new IllegalArgumentException("shape " + Arrays.toString(spec.shape()) + ", of which any number of"
                    + " rows has no bytes");
        }
        return Mapping.open(path, file -> store(file, sized(file, spec, headerBytes), headerBytes));
    }

    private static TensorStore store(MappedFile file, TensorSpec spec, long headerBytes) {
        StoreInfo info = new StoreInfo(NAME, List.of(file.location()), Map.of(), List.of());
        return TensorFiles.of(NAME, ":header=" + headerBytes, file,
                new TensorFiles.Entry(spec, false, TensorFiles.Bytes.in(file, headerBytes)), _ -> info, () -> { });
    }

    private static TensorSpec sized(MappedFile file, TensorSpec given, long headerBytes) {
        long bytes = file.byteSize() - headerBytes;
        if (bytes < 0) {
            throw new MalformedStoreException(file.location(), file.byteSize(), "the file ends", "a header of "
                    + headerBytes + " bytes");
        }
        if (given.isVariable() && bytes % given.rowBytes() != 0) {
            throw new MalformedStoreException(file.location(), file.byteSize(), bytes + " bytes",
                    "a whole number of rows of " + given.rowBytes());
        }
        if (!given.isVariable() && bytes != given.byteSize()) {
            throw new MalformedStoreException(file.location(), file.byteSize(), bytes + " bytes",
                    given.byteSize() + ", as" + given.toString().substring(1) + " has");
        }
        return given.isVariable() ? given.withLength(bytes / given.rowBytes()) : given;
    }
}
