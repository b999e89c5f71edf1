package io.penstock.format.npy;

import io.penstock.format.Mapping;
import io.penstock.format.OneTensorStore;
import io.penstock.format.numpy.NpyArray;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.memory.DType;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoreProvider;
import io.penstock.store.StoredArray;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * numpy's array file: in place if it is stored row-major and little-endian, otherwise a converted copy in native
 * memory. Trailing bytes are ignored, as in numpy. The dtype option is for elements that numpy has no name for and
 * stores as bytes, such as {@code bf16}.
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
    public Store open(Location path, OpenOptions options) throws IOException {
        return Mapping.open(path, file -> read(file, options.dtype()));
    }

    private static Store read(MappedFile file, DType told) throws IOException {
        MemorySegment head = file.range(0, Math.min(file.byteSize(), NpyArray.MAX_HEADER_BYTES));
        NpyArray array = NpyArray.read(file.location(), "", head, file.byteSize(), told);
        if (array.isInPlace()) {
            return store(file, array, null);
        }
        Arena arena = Arena.ofShared();
        try {
            MemorySegment copy = arena.allocate(array.dataBytes(), COPY_ALIGNMENT_BYTES);
            array.convert(file.range(array.dataOffset(), array.dataBytes()), copy);
            return store(file, array, new OneTensorStore.Copy(arena, array.tensor(copy.asReadOnly())));
        } catch (OutOfMemoryError e) {
            arena.close();
            throw new IOException(file.location() + ": no memory for the " + array.dataBytes()
                    + " bytes that it takes row-major and little-endian", e);
        } catch (Throwable t) {
            arena.close();
            throw t;
        }
    }

    private static Store store(MappedFile file, NpyArray array, OneTensorStore.Copy copy) {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("npy_version", array.version());
        details.put("converted", copy != null);
        return new OneTensorStore(NAME, file, array.dataOffset(), array.spec(""), copy, tensor ->
                new StoreInfo(NAME, List.of(file.location()), details, List.of(
                        new StoredArray("", array.storedDtype(), array.storedOrder(), tensor))), "");
    }
}
