package io.penstock.store;

import io.penstock.io.Location;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a store of arrays is made of.
 *
 * @param kind the format, as its {@link StoreProvider#name provider} calls it
 * @param files the files it is made of
 * @param details what the format says of the store, by name, in order: as for {@link Inspection#details}
 * @param arrays its arrays, in the order of the files; views, valid until the store is closed
 */
public record StoreInfo(String kind, List<Location> files, Map<String, Object> details, List<StoredArray> arrays) {

    /** Copies. */
    public StoreInfo {
        files = List.copyOf(files);
        details = Collections.unmodifiableMap(new LinkedHashMap<>(details));
        arrays = List.copyOf(arrays);
    }

    /** A store of arrays: inspecting it is to describe and digest them. */
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
