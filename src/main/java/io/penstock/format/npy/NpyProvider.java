package io.penstock.format.npy;

import io.penstock.format.Mapping;
import io.penstock.format.OneTensorStore;
import io.penstock.format.numpy.NpyArray;
import io.penstock.io.MappedFile;
import io.penstock.io.publish.CommittedFolder;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoreProvider;
import io.penstock.store.StoredArray;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * numpy's array file: in place if it is stored row-major and little-endian, otherwise a converted copy in native
 * memory. Bytes behind the data are no part of it, as for numpy. The dtype that is told is that of elements that
 * numpy has no name for and stores as bytes, such as {@code bf16}.
 */
public final class NpyProvider implements StoreProvider {

    private static final String NAME = "npy";
    /** What a copy is aligned to: a cache line. */
    private static final long COPY_ALIGNMENT_BYTES = 64;

    /** For the service loader. */
    public NpyProvider() {
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public int order() {
        return 300;
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
    public Store open(Path path, OpenOptions options) throws IOException {
        return Mapping.open(() -> CommittedFolder.locate(path), file -> read(file, options.dtype()));
    }

    private static Store read(MappedFile file, DType told) throws IOException {
        NpyArray array = NpyArray.read(file.path(), "", file.segment(), file.byteSize(), told);
        MemorySegment stored = file.segment().asSlice(array.dataOffset(), array.dataBytes());
        if (array.isInPlace()) {
            return store(file, array, null, array.tensor(stored));
        }
        Arena copyArena = Arena.ofShared();
        try {
            MemorySegment copy = copyArena.allocate(array.dataBytes(), COPY_ALIGNMENT_BYTES);
            array.convert(stored, copy);
            return store(file, array, copyArena, array.tensor(copy.asReadOnly()));
        } catch (OutOfMemoryError e) {
            copyArena.close();
            throw new IOException(file.path() + ": no memory for the " + array.dataBytes()
                    + " bytes that it takes row-major and little-endian", e);
        } catch (Throwable t) {
            copyArena.close();
            throw t;
        }
    }

    private static Store store(MappedFile file, NpyArray array, Arena copyArena, Tensor tensor) {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("npy_version", array.version());
        details.put("converted", copyArena != null);
        StoreInfo info = new StoreInfo(NAME, List.of(file.path()), details,
                List.of(new StoredArray("", array.storedDtype(), array.storedOrder(), tensor)));
        return new OneTensorStore(file, array.dataOffset(), copyArena, info, "");
    }
}
