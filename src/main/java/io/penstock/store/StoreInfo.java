package io.penstock.store;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a store is made of.
 *
 * @param kind the format: {@code megatron}, {@code nanogpt}, {@code llmc}, {@code datatrove} or {@code npy}
 * @param files the files it is made of
 * @param details what the format says of the store, by name, in order: strings, numbers, truth values, lists of them
 * @param arrays its arrays, in the order of the files
 */
public record StoreInfo(String kind, List<Path> files, Map<String, Object> details, List<StoredArray> arrays) {

    /** Copies. */
    public StoreInfo {
        files = List.copyOf(files);
        details = Collections.unmodifiableMap(new LinkedHashMap<>(details));
        arrays = List.copyOf(arrays);
    }

    /** A store that can say what it is made of. */
    @FunctionalInterface
    public interface Source {

        /**
         * What the store is made of.
         *
         * @return the description; its arrays are views, valid until the store is closed
         */
        StoreInfo info();
    }
}
