// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import io.penstock.io.local.HiddenNames;
import io.penstock.io.local.InnerPath;
import io.penstock.io.local.Placeholder;
import io.penstock.os.PathBytes;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The path of a file or folder in a {@link FileSource}. It need not exist.
 *
 * @param source the source
 * @param path the path in the source
 */
public record Location(FileSource source, String path) {

    /** The providers by scheme, found when this class is loaded. */
    private static final Map<String, FileSource.Provider> PROVIDERS = ServiceLoader.load(FileSource.Provider.class)
            .stream().map(ServiceLoader.Provider::get)
            .collect(Collectors.toMap(FileSource.Provider::scheme, provider -> provider, (first, _) -> first,
                    TreeMap::new));
    private static final String FILE_SCHEME = "file";
    private static final Comparator<String> BY_BYTES = Location::compareBytes;

    /** Accepts any path, which need not exist; neither component is null. */
    public Location {
        Objects.requireNonNull(source, "source");
        Objects.requireNonNull(path, "path");
    }

    /**
     * {@return the location of a local file or folder}
     *
     * @param path the path; messages show it unchanged
     * @throws InvalidPathException if its name is no text in this JVM's locale, for example not UTF-8
     */
    public static Location of(Path path) {
        if (!PathBytes.isText(path)) {
            throw new InvalidPathException(path.toString(), PathBytes.whyNotText());
        }
        return new Location(new LocalFiles(path.getFileSystem()), path.toString());
    }

    /**
     * {@return the location that a URI names}
     *
     * @param uri a URI with the scheme {@code file} or that of a {@link FileSource.Provider}, or a local path without a
     *     scheme
     * @throws IllegalArgumentException if the scheme is unknown or the URI is invalid for it
     */
    public static Location of(URI uri) {
        String scheme = uri.getScheme();
        if (scheme == null) {
            return of(Path.of(uri.getPath()));
        }
        if (scheme.equalsIgnoreCase(FILE_SCHEME)) {
            return of(Path.of(uri));
        }
        FileSource.Provider provider = PROVIDERS.get(scheme.toLowerCase(Locale.ROOT));
        if (provider == null) {
            throw new IllegalArgumentException(uri + ": unknown scheme '" + scheme + "', expected " + FILE_SCHEME
                    + PROVIDERS.keySet().stream().map(known -> " or " + known).collect(Collectors.joining()));
        }
        return provider.locate(uri);
    }

    /** {@return the last part of the path: the file's or folder's own name; empty for a root} */
    public String name() {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /**
     * Resolves a child of this folder.
     *
     * @param child a name or a relative path; an absolute path is returned unchanged
     * @return its location
     */
    public Location resolve(String child) {
        if (path.isEmpty() || child.startsWith("/")) {
            return new Location(source, child);
        }
        return child.isEmpty() ? this : new Location(source, path.endsWith("/") ? path + child : path + "/" + child);
    }

    /**
     * Resolves an untrusted path to a file in or below this folder; for example from a file's content.
     *
     * @param name names separated by slashes; none is empty, {@code .} or {@code ..}
     * @return its location
     * @throws IllegalArgumentException if the path leads out of the folder or is invalid
     */
    public Location below(String name) {
        InnerPath.check(this, name);
        return resolve(name);
    }

    /**
     * Rejects an untrusted path that {@link #below} would reject, before its folder is known.
     *
     * @param folder the folder as messages name it
     * @param name names separated by slashes; none is empty, {@code .} or {@code ..}
     * @throws IllegalArgumentException if the path leads out of the folder or is invalid
     */
    public static void requireInner(Object folder, String name) {
        InnerPath.check(folder, name);
    }

    /**
     * Resolves an untrusted name of a file directly in this folder.
     *
     * @param name the name
     * @return its location
     * @throws IllegalArgumentException if it is not a plain file name
     */
    public Location in(String name) {
        InnerPath.checkName(this, name);
        return resolve(name);
    }

    /**
     * Resolves a sibling of this file.
     *
     * @param sibling a name or a relative path
     * @return its location
     */
    public Location resolveSibling(String sibling) {
        return parent().resolve(sibling);
    }

    /** {@return the parent folder; for a name alone, the folder that relative paths start from} */
    public Location parent() {
        int slash = path.lastIndexOf('/');
        return new Location(source, slash == 0 ? "/" : path.substring(0, Math.max(slash, 0)));
    }

    /**
     * {@return the kind, size and version of this path}
     *
     * @throws IOException if the source fails
     */
    public FileInfo info() throws IOException {
        return source.info(path);
    }

    /**
     * {@return the same, not remembered from an earlier call}
     *
     * @throws IOException if the source fails
     */
    public FileInfo infoNow() throws IOException {
        return source.infoNow(path);
    }

    /**
     * {@return the same, of a path that a user or another file names: where access is denied, this is an error}
     *
     * @throws java.nio.file.AccessDeniedException if a remote source denies access
     * @throws IOException if the source fails
     */
    public FileInfo infoOfNamed() throws IOException {
        return source.infoOfNamed(path);
    }

    /**
     * {@return whether this is a regular file}
     *
     * @throws IOException if the source fails
     */
    public boolean isFile() throws IOException {
        return info().kind() == FileInfo.EntryKind.FILE;
    }

    /**
     * {@return whether this is a folder}
     *
     * @throws IOException if the source fails
     */
    public boolean isFolder() throws IOException {
        return info().kind() == FileInfo.EntryKind.FOLDER;
    }

    /**
     * {@return whether this path exists}
     *
     * @throws IOException if the source fails
     */
    public boolean exists() throws IOException {
        return info().kind() != FileInfo.EntryKind.ABSENT;
    }

    /**
     * {@return a file's size, in bytes}
     *
     * @throws NoSuchFileException if the file does not exist
     * @throws IOException if the source fails
     */
    public long byteSize() throws IOException {
        FileInfo info = infoOfNamed();
        if (info.kind() == FileInfo.EntryKind.ABSENT) {
            throw new NoSuchFileException(toString(), null, "no such file");
        }
        return info.byteSize();
    }

    /** Compares by the bytes in UTF-8: what a pair of surrogates stands for comes after all other characters. */
    private static int compareBytes(String a, String b) {
        int both = Math.min(a.length(), b.length());
        for (int i = 0; i < both; i++) {
            char c = a.charAt(i);
            char d = b.charAt(i);
            if (c != d) {
                return Character.isSurrogate(c) == Character.isSurrogate(d) ? c - d : Character.isSurrogate(c) ? 1 : -1;
            }
        }
        return a.length() - b.length();
    }

    /**
     * Lists the regular files of this folder, without subfolders, hidden files and markers of other programs, such as
     * {@code _SUCCESS}.
     *
     * @param chosen selects files by name
     * @return their locations, sorted by the bytes of their names in UTF-8
     * @throws IOException if the folder cannot be read
     */
    public List<Location> files(Predicate<String> chosen) throws IOException {
        return source.files(path, name -> !HiddenNames.isHidden(name) && chosen.test(name)).stream().sorted(BY_BYTES)
                .map(this::resolve).toList();
    }

    /**
     * Lists the subfolders of this folder, without hidden ones.
     *
     * @param chosen selects folders by name
     * @return their names, sorted by their bytes in UTF-8
     * @throws IOException if the folder cannot be read
     */
    public List<String> folders(Predicate<String> chosen) throws IOException {
        return source.folders(path, name -> !HiddenNames.isHidden(name) && chosen.test(name)).stream()
                .sorted(BY_BYTES).toList();
    }

    /**
     * Opens the file. One that stands for data that were not fetched, such as a Git LFS pointer, is refused.
     *
     * @return the file, to be closed by the caller
     * @throws NoSuchFileException if the file does not exist
     * @throws java.nio.file.FileSystemException if it is not a regular file
     * @throws IOException if it cannot be opened
     */
    public MappedFile open() throws IOException {
        return openWith(null);
    }

    /**
     * Opens the file together with its index.
     *
     * @param index the index file, open at least as long: change checks cover both files
     * @return the file, to be closed by the caller
     * @throws IOException as {@link #open()}
     */
    public MappedFile openWith(@Nullable MappedFile index) throws IOException {
        MappedFile file = source.open(this, index);
        try {
            if (Placeholder.mayBe(name(), file.byteSize())) {
                MemorySegment head = file.range(0, Math.min(Placeholder.MAX_BYTES, file.byteSize()));
                Placeholder.check(this, file.reading(() -> head.toArray(ValueLayout.JAVA_BYTE)));
            }
            return file;
        } catch (UncheckedIOException e) {
            file.close();
            throw e.getCause();
        } catch (Throwable t) {
            file.close();
            throw t;
        }
    }

    /**
     * Opens the file without a mapping.
     *
     * @return a channel for one thread, to be closed by the caller; interrupting a read closes it
     * @throws IOException as {@link #open()}
     */
    public SeekableByteChannel openChannel() throws IOException {
        return source.openChannel(this);
    }

    /**
     * Opens the file as a stream; interrupting a read closes it.
     *
     * @return an unbuffered stream, to be closed by the caller
     * @throws IOException as {@link #open()}
     */
    public InputStream newInputStream() throws IOException {
        return Channels.newInputStream(openChannel());
    }

    /**
     * Reads the whole file.
     *
     * @return its bytes
     * @throws IOException as {@link #open()}, or if it cannot be read
     */
    public byte[] readAllBytes() throws IOException {
        try (InputStream in = newInputStream()) {
            return in.readAllBytes();
        }
    }

    /**
     * {@return the present path of the local file or folder, for operations that need one; empty if it is not local}
     */
    public Optional<Path> local() {
        return source.local(path);
    }

    /**
     * {@return a local file for what a reader derives from the present version of this file, and which need not exist;
     * empty if its source has no place for it, as local ones have none}
     *
     * @param name what is derived, as a name
     * @throws IOException if the source fails
     */
    public Optional<Path> derived(String name) throws IOException {
        return source.derived(path, name);
    }

    /**
     * {@return the local file or folder, for a format that reads only local files}
     *
     * @param format the format's name
     * @throws UnsupportedOperationException if it is not local
     */
    public Path requireLocal(String format) {
        return local().orElseThrow(() -> new UnsupportedOperationException(this + ": the format " + format
                + " reads only local files; copy it to a local disk first"));
    }

    /** Returns the location as users write it: a local path or a URI. */
    @Override
    public String toString() {
        return source.root() + path;
    }
}
