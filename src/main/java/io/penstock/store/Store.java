package io.penstock.store;

import io.penstock.codec.MissingLibraryException;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;

/**
 * Data in files, of whatever format: a {@link TokenStore}, a {@link TensorStore} or a {@link RecordStore}.
 *
 * <p>A store is immutable and may be read by any number of threads. It owns the mappings of its files: whoever opened
 * it closes it, when nobody reads.
 */
public sealed interface Store extends AutoCloseable permits TokenStore, TensorStore, RecordStore {

    /**
     * Opens a store of whatever format it is in, and checks that it is whole.
     *
     * @param path a file or a folder of the store; {@link StoreFormats#recognize} looks at it
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the format is not recognised, or its files are not as it says
     * @throws MissingLibraryException if it takes an optional library that is not there; says which
     * @throws IOException if there is no such file, or it cannot be read
     */
    static Store open(Path path) throws IOException {
        return open(path, OpenOptions.DEFAULT);
    }

    /**
     * Opens a store of which something is known that its files do not say.
     *
     * @param path a file or a folder of the store
     * @param options what is known
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the format is not recognised, or its files are not as it says or as was told
     * @throws MissingLibraryException if it takes an optional library that is not there; says which
     * @throws IOException if there is no such file, or it cannot be read
     * @throws IllegalArgumentException if there is no format of the name that was told, or it cannot take what was
     *     told
     */
    static Store open(Path path, OpenOptions options) throws IOException {
        return open(Location.of(path), options);
    }

    /**
     * Opens a store that a URI names, in whatever format it is.
     *
     * @param uri of the scheme {@code file}, or of one that a {@link io.penstock.io.FileSource.Provider} knows
     * @return the store, to be closed by the caller
     * @throws IOException as {@link #open(Path)}
     * @throws IllegalArgumentException if nobody knows the scheme
     */
    static Store open(URI uri) throws IOException {
        return open(Location.of(uri), OpenOptions.DEFAULT);
    }

    /**
     * Opens a store wherever it is, of which something may be known that its files do not say.
     *
     * @param path a file or a folder of the store
     * @param options what is known
     * @return the store, to be closed by the caller
     * @throws IOException as {@link #open(Path, OpenOptions)}
     * @throws IllegalArgumentException if the format cannot take what was told
     * @throws UnsupportedOperationException if the format is read from local files alone, and these are not
     */
    static Store open(Location path, OpenOptions options) throws IOException {
        return StoreFormats.open(StoreFormats.of(path, options), path, options);
    }

    /**
     * Says what the store is, and on demand the digests of its content.
     *
     * @param digest whether to read all of it for the digests
     * @param progress told how much of the content is digested, if it is
     * @return what it is; outlives the store
     * @throws IOException if the store cannot be read, or holds what is malformed
     * @throws UnsupportedOperationException if it is a store that cannot say
     */
    default Inspection inspect(boolean digest, Progress progress) throws IOException {
        if (this instanceof StoreInfo.Source arrays) {
            return Inspection.of(arrays.info(), digest, progress);
        }
        throw new UnsupportedOperationException(this + " cannot be inspected");
    }

    /**
     * A short text that changes when the store's content does: what a saved state compares.
     *
     * @return the fingerprint; made from the sizes, the types and a sample of the content
     */
    String fingerprint();

    /** Unmaps the files. Calling it again does nothing. */
    @Override
    void close();
}
