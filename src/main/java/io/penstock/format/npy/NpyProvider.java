// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.npy;

import io.penstock.format.Mapping;
import io.penstock.format.TensorFiles;
import io.penstock.format.numpy.NpyArray;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.memory.DType;
import io.penstock.store.Candidate;
import io.penstock.store.IfExists;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoreProvider;
import io.penstock.store.StoreWriter;
import io.penstock.store.StreamedTensor;
import io.penstock.store.integrity.BlockChecksums;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * numpy's array file: in place if it is stored row-major and little-endian, otherwise a converted copy in native
 * memory. Trailing bytes are ignored, as in numpy. The dtype option is for elements that numpy stores as bytes because
 * it lacks their type, such as {@code bf16}.
 */
public final class NpyProvider implements StoreProvider {

    private static final String NAME = "npy";
    /** A copy is aligned to a cache line. */
    private static final long COPY_ALIGNMENT_BYTES = 64;

    /** For the service loader. */
    public NpyProvider() {
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public boolean matchesContent(Candidate candidate) {
        return NpyArray.isNpy(candidate.head());
    }

    @Override
    public boolean matchesName(Candidate candidate) {
        return candidate.isFile() && candidate.nameEndsWith(".npy");
    }

    @Override
    public Optional<StoreWriter> writer() {
        return Optional.of(new Writer());
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return Mapping.open(path, file -> read(file, options.dtype()));
    }

    private static Store read(MappedFile file, @Nullable DType given) throws IOException {
        MemorySegment head = file.range(0, Math.min(file.byteSize(), NpyArray.MAX_HEADER_BYTES));
        NpyArray array = NpyArray.read(file.location(), "", head, file.byteSize(), given);
        if (array.isInPlace()) {
            return store(file, array, TensorFiles.Bytes.in(file, array.dataOffset()), () -> { });
        }
        Arena arena = Arena.ofShared();
        try {
            MemorySegment copy = arena.allocate(array.dataBytes(), COPY_ALIGNMENT_BYTES);
            array.convert(file.range(array.dataOffset(), array.dataBytes()), copy);
            return store(file, array, TensorFiles.Bytes.in(copy.asReadOnly()), arena::close);
        } catch (OutOfMemoryError e) {
            arena.close();
            throw new IOException(file.location() + ": no memory for the " + array.dataBytes()
                    + " bytes that it takes row-major and little-endian", e);
        } catch (Throwable t) {
            arena.close();
            throw t;
        }
    }

    private static Store store(MappedFile file, NpyArray array, TensorFiles.Bytes bytes, Runnable freeCopy) {
        Map<String, @Nullable Object> details = new LinkedHashMap<>();
        details.put("npy_version", List.of(array.major(), 0));
        details.put("converted", !array.isInPlace());
        StoreInfo info = new StoreInfo(NAME, List.of(file.location()), details, List.of());
        return TensorFiles.of(NAME, "", file, new TensorFiles.Entry(array.spec(""), array.storedDtype(),
                array.storedOrder(), !array.isInPlace(), bytes), _ -> info, freeCopy);
    }

    /** Writes a converted tensor, and its checksums beside it. */
    private record Writer() implements StoreWriter.OfTensors {

        @Override
        public List<String> endings() {
            return List.of(".npy");
        }

        @Override
        public boolean isNamed() {
            return false;
        }

        @Override
        public boolean has(DType dtype) {
            return NpyArray.has(dtype);
        }

        @Override
        public List<Path> write(Path target, List<StreamedTensor> tensors, Map<String, String> metadata,
                IfExists ifExists) throws IOException {
            NpyWriter.write(target, tensors.getFirst(), ifExists);
            return List.of(target, BlockChecksums.pathFor(target));
        }
    }
}
