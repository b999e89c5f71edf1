// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import java.io.IOException;
import java.net.URI;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A place of files: a local file system, a bucket, a server. Paths are text with {@code /} as separator. Thread-safe.
 * Two sources are equal if each path names the same file in both.
 *
 * <p>A remote source fetches what is read into a sparse local file ({@link MappedFile#openSparse}); readers see no
 * difference.
 */
public interface FileSource {

    /** Finds the source of a URI. Found by {@link java.util.ServiceLoader}. */
    interface Provider {

        /** {@return the provider's URI scheme in lower case, for example {@code s3}} */
        String scheme();

        /**
         * {@return the source that a URI names, and the path in it}
         *
         * @param uri a URI with that scheme
         * @throws IllegalArgumentException if the URI names no file or folder of this kind of source
         */
        Location locate(URI uri);
    }

    /** {@return the prefix of paths in messages, for example {@code s3://bucket/}; empty for local files} */
    String root();

    /**
     * {@return the kind, size and version of a path}
     *
     * @param path the path
     * @throws IOException if the source fails; a missing path is no error
     */
    FileInfo info(String path) throws IOException;

    /**
     * {@return the same, not remembered from an earlier call}
     *
     * @param path the path
     * @throws IOException if the source fails; a missing path is no error
     */
    default FileInfo infoNow(String path) throws IOException {
        return info(path);
    }

    /**
     * {@return the same, of a path that a user or another file names} Where access is denied, this is an error.
     * {@link #info} takes it for a missing file, since some servers deny what they do not have.
     *
     * @param path the path
     * @throws java.nio.file.AccessDeniedException if a remote source denies access
     * @throws IOException if the source fails; a missing path is no error
     */
    default FileInfo infoOfNamed(String path) throws IOException {
        return info(path);
    }

    /**
     * Lists the regular files of a folder, without subfolders.
     *
     * @param folder the folder's path
     * @param chosen selects files by name
     * @return their names, unordered
     * @throws IOException if the folder cannot be read
     */
    List<String> files(String folder, Predicate<String> chosen) throws IOException;

    /**
     * Lists the subfolders of a folder.
     *
     * @param folder the folder's path
     * @return their names, unordered; none if the source has no subfolders
     * @throws IOException if the folder cannot be read
     */
    default List<String> folders(String folder) throws IOException {
        return List.of();
    }

    /**
     * Lists the subfolders of a folder that are chosen by name.
     *
     * @param folder the folder's path
     * @param chosen selects subfolders
     * @return their names, unordered
     * @throws IOException if the folder cannot be read
     */
    default List<String> folders(String folder, Predicate<String> chosen) throws IOException {
        return folders(folder).stream().filter(chosen).toList();
    }

    /**
     * Opens a file.
     *
     * @param file a location of this source
     * @param index the file's index, open at least as long: change checks cover both. Null if there is none
     * @return the file, to be closed by the caller
     * @throws NoSuchFileException if the file does not exist
     * @throws java.nio.file.FileSystemException if it is not a regular file
     * @throws IOException if it cannot be opened
     */
    MappedFile open(Location file, @Nullable MappedFile index) throws IOException;

    /**
     * Opens a file for mostly sequential reads, without a mapping if the source can.
     *
     * @param file a location of this source
     * @return a channel for one thread, to be closed by the caller; interrupting a read closes it
     * @throws IOException as {@link #open}
     */
    default SeekableByteChannel openChannel(Location file) throws IOException {
        return channel(file.open());
    }

    /**
     * {@return a channel that reads an open file, mostly from start to end, and closes it} For one thread.
     *
     * @param file the file
     */
    static SeekableByteChannel channel(MappedFile file) {
        return new MappedChannel(file);
    }

    /**
     * {@return the present path of the local file or folder, for operations that need one; empty if this source is not
     * local}
     *
     * @param path the path
     */
    default Optional<Path> local(String path) {
        return Optional.empty();
    }

    /**
     * {@return a local file for what a reader derives from the present version of a file, such as an index, and which
     * need not exist; empty if this source has no place for it}
     *
     * @param path the file's path
     * @param name what is derived, as a name
     * @throws IOException if the source fails
     */
    default Optional<Path> derived(String path, String name) throws IOException {
        return Optional.empty();
    }
}
