// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import io.penstock.error.MalformedStoreException;
import io.penstock.internal.Sha256;
import io.penstock.io.Location;
import io.penstock.json.Json;
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
import org.jspecify.annotations.Nullable;

/**
 * A description of a store: format, files, arrays and, on demand, content digests. It outlives the store.
 *
 * @param path the inspected path
 * @param kind the format's {@link StoreProvider#name name}
 * @param files the store's files
 * @param details the format's own fields by name, in order: strings, numbers, truth values, and lists and maps of them;
 *     for a record store, also its content and digests
 * @param arrays the arrays, in file order; null for a record store
 */
public record Inspection(Location path, String kind, List<Location> files, Map<String, @Nullable Object> details,
        @Nullable List<Array> arrays) {

    /** How much an inspection reads. */
    public enum Depth {
        /** Headers and indexes. */
        STRUCTURE,
        /** All content, to compute digests. */
        CONTENT;

        /** {@return whether digests are computed} */
        public boolean digests() {
            return this == CONTENT;
        }
    }

    /**
     * One array.
     *
     * @param name the array's name; {@code ""} if the format has no names
     * @param dtype the element type
     * @param storedDtype the element type and byte order in the file, written in numpy's notation
     * @param shape the dimensions, outermost first
     * @param storedOrder {@code C} or {@code F} if the format allows both, otherwise null
     * @param byteSize the size of its elements, in bytes
     * @param sha256 the digest of its elements, row-major and little-endian; null if not requested
     * @param max the greatest token, which must be less than the vocabulary size; null if the elements are not tokens,
     *     or no digest was requested
     * @param details the format's other fields by name, in order, as for {@link Inspection#details}
     */
    public record Array(String name, DType dtype, String storedDtype, List<Long> shape, @Nullable String storedOrder,
            long byteSize, @Nullable String sha256, @Nullable Long max, Map<String, @Nullable Object> details) {

        /** Copies shape and details, so that they cannot change. */
        public Array {
            shape = List.copyOf(shape);
            details = Collections.unmodifiableMap(new LinkedHashMap<>(details));
        }

        /**
         * Creates an array without further details.
         *
         * @param name the array's name; {@code ""} if the format has no names
         * @param dtype the element type
         * @param storedDtype the element type and byte order in the file, written in numpy's notation
         * @param shape the dimensions, outermost first
         * @param storedOrder {@code C} or {@code F} if the format allows both, otherwise null
         * @param byteSize the size of its elements, in bytes
         * @param sha256 the digest of its elements, row-major and little-endian; null if not requested
         * @param max the greatest token; null if the elements are not tokens, or no digest was requested
         */
        public Array(String name, DType dtype, String storedDtype, List<Long> shape,
                @Nullable String storedOrder, long byteSize, @Nullable String sha256, @Nullable Long max) {
            this(name, dtype, storedDtype, shape, storedOrder, byteSize, sha256, max, Map.of());
        }

        /** {@return the array in JSON form: the fields that are not null, in order} */
        public Map<String, @Nullable Object> toMap() {
            Map<String, @Nullable Object> map = Json.members("name", name, "dtype", dtype.toString(),
                    "stored_dtype", storedDtype, "shape", shape);
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

    /** Copies lists and details, so that they cannot change. */
    public Inspection {
        files = List.copyOf(files);
        details = Collections.unmodifiableMap(new LinkedHashMap<>(details));
        arrays = arrays == null ? null : List.copyOf(arrays);
    }

    /**
     * Creates a description without arrays.
     *
     * @param path the store's path
     * @param kind the format's {@link StoreProvider#name name}
     * @param files the store's files
     * @param details the format's own fields
     */
    public Inspection(Location path, String kind, List<Location> files, Map<String, @Nullable Object> details) {
        this(path, kind, files, details, null);
    }

    /**
     * Detects a store's format and inspects the store.
     *
     * @param path a file or a folder of the store, as for {@link Store#open(Path)}
     * @param depth how much to read
     * @return the description
     * @throws MalformedStoreException if no format is detected, or the files violate it
     * @throws IOException if the file is missing or cannot be read
     */
    public static Inspection of(Path path, Depth depth) throws IOException {
        try (Store store = Store.open(path)) {
            return of(Location.of(path), store, depth, Progress.NONE);
        }
    }

    /**
     * Inspects an open store.
     *
     * @param path the path it was opened with
     * @param store the store
     * @param depth how much to read
     * @param progress receives how much of the content is digested
     * @return the description
     * @throws IOException if the store cannot be read
     * @throws UnsupportedOperationException if the store does not support inspection
     */
    public static Inspection of(Location path, Store store, Depth depth, Progress progress) throws IOException {
        try {
            Inspection inspection = store.inspect(depth, progress);
            return new Inspection(path, inspection.kind, inspection.files, inspection.details, inspection.arrays);
        } catch (InternalError fault) {
            throw new IOException(path + ": a file shrank while it was read", fault);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    static Inspection of(StoreInfo info, Depth depth, Progress progress) {
        long total = info.arrays().stream().mapToLong(array -> array.tensor().byteSize()).sum();
        List<Array> arrays = new ArrayList<>();
        long done = 0;
        for (StoredArray array : info.arrays()) {
            arrays.add(inspect(array, depth.digests(), done, total, progress));
            done += array.tensor().byteSize();
        }
        return new Inspection(info.files().getFirst(), info.kind(), info.files(), info.details(), arrays);
    }

    private static Array inspect(StoredArray array, boolean digest, long before, long total, Progress progress) {
        Tensor tensor = array.tensor();
        String sha256 = digest ? Sha256.hex(tensor.segment(), done -> progress.update(before + done, total)) : null;
        return new Array(array.name(), tensor.dtype(), array.storedDtype(),
                LongStream.of(tensor.shape()).boxed().toList(), array.storedOrder(), tensor.byteSize(), sha256,
                digest && isTokens(array) ? max(tensor) : null);
    }

    /** A tensor of that name may hold something else, or nothing. */
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
     * {@return the inspection in JSON form: {@code kind}, {@code path}, {@code files} if there are several, the
     * format's own fields, and {@code arrays} unless it is a record store}
     */
    public Map<String, @Nullable Object> toMap() {
        Map<String, @Nullable Object> map = Json.members("kind", kind, "path", path.toString());
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
