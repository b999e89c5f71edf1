// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import io.penstock.error.LibraryException;
import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;

/**
 * Data in files of any format: a {@link TokenStore}, a {@link TensorStore} or a {@link RecordStore}.
 *
 * <p>A store is immutable; any number of threads may read it. It owns the mappings of its files: the opener closes it
 * after the last read.
 */
public sealed interface Store extends AutoCloseable permits TokenStore, TensorStore, RecordStore {

    /**
     * Detects the format of a store, opens it and validates it.
     *
     * @param path a file or a folder of the store; {@link StoreFormats#recognize} detects its format
     * @return the store, to be closed by the caller
     * @throws IOException as {@link #open(Path, OpenOptions)}
     */
    static Store open(Path path) throws IOException {
        return open(path, OpenOptions.DEFAULT);
    }

    /**
     * Opens a store with options, for what its files do not declare.
     *
     * @param path a file or a folder of the store
     * @param options what the files do not declare
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if no format is detected, or the files violate it or contradict the options
     * @throws LibraryException if the store needs an optional library that is missing; names the library
     * @throws IOException if the file is missing or cannot be read
     * @throws IllegalArgumentException if no format has the given name, or the format does not accept the options
     */
    static Store open(Path path, OpenOptions options) throws IOException {
        return open(Location.of(path), options);
    }

    /**
     * Detects the format of the store that a URI names, and opens it.
     *
     * @param uri a URI with the scheme {@code file}, {@code http}, {@code https} or {@code s3}, or that of another
     *     {@link io.penstock.io.FileSource.Provider}
     * @return the store, to be closed by the caller
     * @throws IOException as {@link #open(Path, OpenOptions)}
     * @throws IllegalArgumentException if no provider knows the scheme
     */
    static Store open(URI uri) throws IOException {
        return open(Location.of(uri), OpenOptions.DEFAULT);
    }

    /**
     * Opens a store at any location.
     *
     * @param path a file or a folder of the store
     * @param options what the files do not declare
     * @return the store, to be closed by the caller
     * @throws IOException as {@link #open(Path, OpenOptions)}
     * @throws IllegalArgumentException if the format does not accept the options
     * @throws UnsupportedOperationException if the format supports only local files and these are remote
     */
    static Store open(Location path, OpenOptions options) throws IOException {
        return StoreFormats.open(StoreFormats.of(path, options), path, options);
    }

    /**
     * Describes the store and, on demand, computes digests of its content.
     *
     * @param depth how much to read
     * @param progress receives how much of the content is digested
     * @return the description; it outlives the store
     * @throws IOException if the store cannot be read or is malformed
     * @throws UnsupportedOperationException if the store does not support inspection
     */
    default Inspection inspect(Inspection.Depth depth, Progress progress) throws IOException {
        if (this instanceof StoreInfo.Described arrays) {
            return Inspection.of(arrays.info(), depth, progress);
        }
        throw new UnsupportedOperationException(this + " cannot be inspected");
    }

    /**
     * {@return a short text that changes when the store's content does; saved states compare it. It is made of the
     * sizes, the types and a sample of the content}
     */
    String fingerprint();

    /**
     * Unmaps the files. Calling it again does nothing.
     *
     * @throws IllegalStateException if an open loader has read a file, which stays open; names both
     */
    @Override
    void close();
}
