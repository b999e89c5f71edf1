// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import io.penstock.io.Location;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The structure of a store of arrays.
 *
 * @param kind the format's {@link StoreProvider#name name}
 * @param files the store's files
 * @param details the format's own fields by name, in order: as for {@link Inspection#details}
 * @param arrays the arrays, in file order; views, valid until the store is closed
 */
public record StoreInfo(String kind, List<Location> files, Map<String, @Nullable Object> details,
        List<StoredArray> arrays) {

    /** Copies lists and details, so that they cannot change. */
    public StoreInfo {
        files = List.copyOf(files);
        details = Collections.unmodifiableMap(new LinkedHashMap<>(details));
        arrays = List.copyOf(arrays);
    }

    /** A store of arrays; inspection describes and digests them. */
    @FunctionalInterface
    public interface Described {

        /** {@return the description of the store; its arrays are views, valid until the store is closed} */
        StoreInfo info();
    }
}
