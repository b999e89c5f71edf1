package io.penstock.store;

import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.Sha256;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/**
 * What a store is, its arrays, and on demand the digests of their content: data that outlives the store.
 *
 * @param path the path that was inspected
 * @param kind the format, as its {@link StoreProvider#name provider} calls it
 * @param files the files it is made of
 * @param details what the format says of the store, by name, in order: strings, numbers, truth values, and lists and
 *     maps of them; what is in a store of records, its digests included
 * @param arrays its arrays, in the order of the files; null for a store of records
 */
public record Inspection(Location path, String kind, List<Location> files, Map<String, Object> details,
        List<Array> arrays) {

    /**
     * One array.
     *
     * @param name what the format calls it; {@code ""} where it names none
     * @param dtype the element type
     * @param storedDtype the element type and byte order in the file, written as numpy does
     * @param shape the dimensions, outermost first
     * @param storedOrder {@code C} or {@code F} where the format has a choice, otherwise null
     * @param byteSize of its elements
     * @param sha256 the digest of its elements, row-major and little-endian; null if it was not asked for
     * @param max the greatest token, which a vocabulary must be larger than; null if the elements are not tokens, or
     *     no digest was asked for
     * @param details what else the format says of it, by name, in order: as for {@link Inspection#details}
     */
    public record Array(String name, DType dtype, String storedDtype, List<Long> shape, String storedOrder,
            long byteSize, String sha256, Long max, Map<String, Object> details) {

        /** Copies. */
        public Array {
            shape = List.copyOf(shape);
            details = Collections.unmodifiableMap(new LinkedHashMap<>(details));
        }

        /**
         * One array of which there is no more to say.
         *
         * @param name what the format calls it; {@code ""} where it names none
         * @param dtype the element type
         * @param storedDtype the element type and byte order in the file, written as numpy does
         * @param shape the dimensions, outermost first
         * @param storedOrder {@code C} or {@code F} where the format has a choice, otherwise null
         * @param byteSize of its elements
         * @param sha256 the digest of its elements, row-major and little-endian; null if it was not asked for
         * @param max the greatest token; null if the elements are not tokens, or no digest was asked for
         */
        public Array(String name, DType dtype, String storedDtype, List<Long> shape, String storedOrder,
                long byteSize, String sha256, Long max) {
            this(name, dtype, storedDtype, shape, storedOrder, byteSize, sha256, max, Map.of());
        }

        /**
         * The array as JSON writers take it.
         *
         * @return its fields, in order; without those that are null
         */
        public Map<String, Object> toMap() {
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("name", name);
            map.put("dtype", dtype.toString());
            map.put("stored_dtype", storedDtype);
            map.put("shape", shape);
            if (storedOrder != null) {
                map.put("stored_order", storedOrder);
            }
            map.put("nbytes", byteSize);
            if (sha256 != null) {
                map.put("sha256", sha256);
            }
            if (max != null) {
                map.put("max", max);
            }
            map.putAll(details);
            return map;
        }
    }

    /** Copies. */
    public Inspection {
        files = List.copyOf(files);
        details = Collections.unmodifiableMap(new LinkedHashMap<>(details));
        arrays = arrays == null ? null : List.copyOf(arrays);
    }

    /**
     * What is not made of arrays.
     *
     * @param path the path of the store
     * @param kind the format, as its {@link StoreProvider#name provider} calls it
     * @param files the files it is made of
     * @param details what there is to say
     */
    public Inspection(Location path, String kind, List<Location> files, Map<String, Object> details) {
        this(path, kind, files, details, null);
    }

    /**
     * Inspects a store of whatever format it is in.
     *
     * @param path a file or a folder of the store, as for {@link Store#open(Path)}
     * @param digest whether to read all of it for the digests
     * @return what it is
     * @throws MalformedStoreException if the format is not recognised, or its files are not as it says
     * @throws IOException if there is no such file, or it cannot be read
     */
    public static Inspection of(Path path, boolean digest) throws IOException {
        try (Store store = Store.open(path)) {
            return of(Location.of(path), store, digest, Progress.NONE);
        }
    }

    /**
     * Inspects a store that is open.
     *
     * @param path the path that it was opened by
     * @param store the store
     * @param digest whether to read all of it for the digests
     * @param progress told how much of the content is digested
     * @return what it is
     * @throws IOException if it cannot be read
     * @throws UnsupportedOperationException if it is a store that cannot be inspected
     */
    public static Inspection of(Location path, Store store, boolean digest, Progress progress) throws IOException {
        try {
            Inspection inspection = store.inspect(digest, progress);
            return new Inspection(path, inspection.kind, inspection.files, inspection.details, inspection.arrays);
        } catch (InternalError fault) {
            throw new IOException(path + ": a file shrank while it was read", fault);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    static Inspection of(StoreInfo info, boolean digest, Progress progress) {
        long total = info.arrays().stream().mapToLong(array -> array.tensor().byteSize()).sum();
        List<Array> arrays = new ArrayList<>();
        long done = 0;
        for (StoredArray array : info.arrays()) {
            arrays.add(inspect(array, digest, done, total, progress));
            done += array.tensor().byteSize();
        }
        return new Inspection(info.files().getFirst(), info.kind(), info.files(), info.details(), arrays);
    }

    private static Array inspect(StoredArray array, boolean digest, long before, long total, Progress progress) {
        Tensor tensor = array.tensor();
        String sha256 = digest
                ? Sha256.hex(tensor.segment(), done -> progress.update(before + done, total)) : null;
        return new Array(array.name(), tensor.dtype(), array.storedDtype(),
                LongStream.of(tensor.shape()).boxed().toList(), array.storedOrder(), tensor.byteSize(), sha256,
                digest && isTokens(array) ? max(tensor) : null);
    }

    /** A tensor may be named so and hold something else, or nothing. */
    private static boolean isTokens(StoredArray array) {
        Tensor tensor = array.tensor();
        return array.name().equals("tokens") && tensor.dtype().isInteger() && tensor.dtype() != DType.U64
                && tensor.elementCount() > 0;
    }

    private static long max(Tensor tokens) {
        long max = Long.MIN_VALUE;
        for (long i = 0; i < tokens.elementCount(); i++) {
            max = Math.max(max, tokens.getLong(i));
        }
        return max;
    }

    /**
     * The inspection as JSON writers take it: {@code kind}, {@code path}, {@code files} where there are several, the
     * format's own fields, {@code arrays} unless it is a store of records.
     *
     * @return its fields, in order: strings, numbers, truth values, lists and maps
     */
    public Map<String, Object> toMap() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("kind", kind);
        map.put("path", path.toString());
        if (files.size() > 1) {
            map.put("files", files.stream().map(Location::toString).toList());
        }
        map.putAll(details);
        if (arrays != null) {
            map.put("arrays", arrays.stream().map(Array::toMap).toList());
        }
        return map;
    }
}
