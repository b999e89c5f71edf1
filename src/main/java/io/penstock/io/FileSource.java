package io.penstock.io;

import java.io.IOException;
import java.net.URI;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Where files are: a local file system, a bucket, a server. Paths are text, their parts separated by {@code /}. Any
 * number of threads may call. Two sources are equal if the same path leads to the same file in both.
 *
 * <p>A source that is not local fetches what is read into a sparse local file ({@link MappedFile#openSparse}); whoever
 * reads files sees no difference.
 */
public interface FileSource {

    /** Finds the source of a URI. Implementations are services ({@link java.util.ServiceLoader}). */
    interface Provider {

        /**
         * The scheme that this one knows.
         *
         * @return for example {@code s3}, in lower case
         */
        String scheme();

        /**
         * What a URI names.
         *
         * @param uri a URI of that scheme
         * @return the source and the path in it
         * @throws IllegalArgumentException if the URI names no file or folder of such a source
         */
        Location locate(URI uri);
    }

    /**
     * What stands before a path where people read it.
     *
     * @return for example {@code s3://bucket/}; empty for local files
     */
    String root();

    /**
     * What is at a path.
     *
     * @param path the path
     * @return its kind, size and version
     * @throws IOException if the source cannot tell; that nothing is there is no error
     */
    FileInfo info(String path) throws IOException;

    /**
     * The regular files of a folder, not of the folders in it.
     *
     * @param folder the folder's path
     * @param chosen tells by the name which files are wanted
     * @return their names, in no order
     * @throws IOException if the folder cannot be read
     */
    List<String> files(String folder, Predicate<String> chosen) throws IOException;

    /**
     * Opens a file.
     *
     * @param file a location of this source
     * @param index a file that says what this one's bytes mean, open as long as this one: it is checked to be unchanged
     *     with this one. Null if there is none
     * @return the file, to be closed by the caller
     * @throws NoSuchFileException if there is none
     * @throws NotRegularFileException if something else is there
     * @throws IOException if it cannot be opened
     */
    MappedFile open(Location file, MappedFile index) throws IOException;

    /**
     * Opens a file to read it by calls, mostly in order: without a mapping, where the source can.
     *
     * @param file a location of this source
     * @return a channel for one thread, to be closed by the caller; interrupting a read closes it
     * @throws IOException as {@link #open}
     */
    default SeekableByteChannel openChannel(Location file) throws IOException {
        return new MappedChannel(open(file, null));
    }

    /**
     * The local file or folder behind a path, for what only local files can do.
     *
     * @param path the path
     * @return where it is now; empty if this source is not local
     */
    default Optional<Path> local(String path) {
        return Optional.empty();
    }
}
