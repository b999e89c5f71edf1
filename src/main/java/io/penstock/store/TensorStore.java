// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import io.penstock.error.LibraryException;
import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.Rows;
import io.penstock.io.Span;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Named tensors in a file or a set of files.
 *
 * <p>A store is immutable; any number of threads may read it. Tensors are row-major and little-endian. A tensor stored
 * so is a view of the mapping; any other is converted or decoded into a copy, at open or at its first use
 * ({@link #isConverted}). The opener closes the store after the last read.
 */
public non-sealed interface TensorStore extends Store {

    /**
     * Detects the format of a store, opens it and validates it.
     *
     * @param path a file or a folder of the store
     * @return the store, to be closed by the caller
     * @throws IOException as {@link #open(Path, OpenOptions)}
     */
    static TensorStore open(Path path) throws IOException {
        return open(path, OpenOptions.DEFAULT);
    }

    /**
     * Opens a store with options, for what its files do not declare.
     *
     * @param path a file or a folder of the store
     * @param options what the files do not declare
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if no format is detected, it is not a tensor format, or the files violate it or
     *     contradict the options
     * @throws LibraryException if the store needs an optional library that is missing; names the library
     * @throws IOException if the file is missing or cannot be read
     */
    static TensorStore open(Path path, OpenOptions options) throws IOException {
        return open(Location.of(path), options);
    }

    /**
     * Opens a store at any location.
     *
     * @param path a file or a folder of the store
     * @param options what the files do not declare
     * @return the store, to be closed by the caller
     * @throws IOException as {@link #open(Path, OpenOptions)}
     */
    static TensorStore open(Location path, OpenOptions options) throws IOException {
        Store store = Store.open(path, options);
        if (store instanceof TensorStore tensors) {
            return tensors;
        }
        store.close();
        throw new MalformedStoreException(path, "a store of " + (store instanceof TokenStore ? "tokens" : "records"),
                "one of tensors");
    }

    /**
     * {@return the name, dtype and shape of each tensor, in file order (safetensors: by name)} A format without names
     * has one tensor, named {@code ""}.
     */
    List<TensorSpec> tensors();

    /**
     * {@return why this store cannot read tensors, because of their type or layout, by tensor name, in the order of
     * {@link #tensors}} {@link #inspect} lists them.
     */
    default Map<String, String> unread() {
        return Map.of();
    }

    /**
     * {@return a tensor's name as {@link #tensors} and {@link #unread} have it} HDF5 takes {@code train/x} for
     * {@code /train/x}.
     *
     * @param name the name that a user wrote; need not exist
     */
    default String nameOf(String name) {
        return name;
    }

    /**
     * {@return a view of a tensor's data, valid until {@link #close}}
     *
     * @param index the tensor's position in {@link #tensors}
     * @throws MalformedStoreException if it is compressed and malformed
     */
    Tensor tensor(int index);

    /**
     * Locates consecutive rows of a tensor.
     *
     * @param index the tensor's position in {@link #tensors}
     * @param firstRow the first index along its first dimension
     * @param rows the number of rows
     * @param into receives their bytes
     * @throws IndexOutOfBoundsException if a row does not exist
     * @throws MalformedStoreException if they are compressed and malformed
     */
    void locate(int index, long firstRow, long rows, Span into);

    /**
     * {@return a tensor's rows if they have a constant stride and need no decoding, so readers need not locate each
     * one; otherwise null}
     *
     * @param index the tensor's position in {@link #tensors}; not a scalar's
     */
    default @Nullable Rows rows(int index) {
        TensorSpec spec = tensors().get(index);
        Span all = new Span();
        locate(index, 0, spec.dim(0), all);
        return Rows.of(all, spec.rowBytes(), spec.rowBytes(), spec.dim(0));
    }

    /**
     * {@return whether a tensor is converted or decoded into a copy, because it is compressed or not row-major
     * little-endian; otherwise it is a view of the mapping}
     *
     * @param index the tensor's position in {@link #tensors}
     */
    boolean isConverted(int index);
}
