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

/** Rows of numbers behind a header that is skipped; dtype, shape and its size are options. Never detected. */
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
        DType dtype = options.dtype();
        List<Long> shape = options.shape();
        if (dtype == null) {
            throw new IllegalArgumentException("raw data need a dtype: nothing in the file says it");
        }
        TensorSpec spec = new TensorSpec("", dtype, shape == null ? new long[] {TensorSpec.VARIABLE}
                : shape.stream().mapToLong(Long::longValue).toArray());
        if (spec.isVariable() && spec.rowBytes() <= 0) {
            throw new IllegalArgumentException("shape " + Arrays.toString(spec.shape()) + ", of which any number of"
                    + " rows has no bytes");
        }
        long headerBytes = options.headerBytes();
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
