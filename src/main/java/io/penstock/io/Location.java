package io.penstock.io;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
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

/**
 * A file or a folder by its name: a path in a {@link FileSource}. It need not exist.
 *
 * @param source where it is
 * @param path its path there
 */
public record Location(FileSource source, String path) {

    /** The sources by scheme: those whose provider is found when this class is loaded. */
    private static final Map<String, FileSource.Provider> PROVIDERS = ServiceLoader.load(FileSource.Provider.class)
            .stream().map(ServiceLoader.Provider::get)
            .collect(Collectors.toMap(FileSource.Provider::scheme, provider -> provider, (first, _) -> first,
                    TreeMap::new));
    private static final String FILE_SCHEME = "file";
    private static final Comparator<String> BY_BYTES = (a, b) ->
            Arrays.compareUnsigned(a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));

    /** Checks. */
    public Location {
        Objects.requireNonNull(source, "source");
        Objects.requireNonNull(path, "path");
    }

    /**
     * A local file or folder.
     *
     * @param path the path, shown in messages as it is
     * @return its location
     */
    public static Location of(Path path) {
        return new Location(new LocalFiles(path.getFileSystem()), path.toString());
    }

    /**
     * What a URI names.
     *
     * @param uri of the scheme {@code file}, or of one that a {@link FileSource.Provider} knows; without a scheme it is
     *     a local path
     * @return its location
     * @throws IllegalArgumentException if nobody knows the scheme, or the URI is none of its scheme
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

    /**
     * The last part of the path.
     *
     * @return the file's or folder's own name; empty for a root
     */
    public String name() {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /**
     * What is in this folder by a name.
     *
     * @param child a name or a relative path; an absolute path stands for itself
     * @return its location
     */
    public Location resolve(String child) {
        if (path.isEmpty() || child.startsWith("/")) {
            return new Location(source, child);
        }
        return child.isEmpty() ? this : new Location(source, path.endsWith("/") ? path + child : path + "/" + child);
    }

    /**
     * A file in this folder or below it, by a path that another file gives, as {@link InnerPath#below} has it.
     *
     * @param name the path
     * @return its location
     * @throws IllegalArgumentException if the path leads elsewhere, or is none
     */
    public Location below(String name) {
        InnerPath.check(this, name);
        return resolve(name);
    }

    /**
     * A file right in this folder, by a name that another file gives, as {@link InnerPath#in} has it.
     *
     * @param name the name
     * @return its location
     * @throws IllegalArgumentException if it is no name of a file
     */
    public Location in(String name) {
        InnerPath.checkName(this, name);
        return resolve(name);
    }

    /**
     * What is beside this file by a name.
     *
     * @param sibling a name or a relative path
     * @return its location
     */
    public Location resolveSibling(String sibling) {
        return parent().resolve(sibling);
    }

    /**
     * The folder that holds it.
     *
     * @return the folder; of a name alone, the folder that relative paths start from
     */
    public Location parent() {
        int slash = path.lastIndexOf('/');
        return new Location(source, slash == 0 ? "/" : path.substring(0, Math.max(slash, 0)));
    }

    /**
     * What is there.
     *
     * @return its kind, size and version
     * @throws IOException if the source cannot tell
     */
    public FileInfo info() throws IOException {
        return source.info(path);
    }

    /**
     * Whether a regular file is there.
     *
     * @return true if so
     * @throws IOException if the source cannot tell
     */
    public boolean isFile() throws IOException {
        return info().kind() == FileInfo.Kind.FILE;
    }

    /**
     * Whether a folder is there.
     *
     * @return true if so
     * @throws IOException if the source cannot tell
     */
    public boolean isFolder() throws IOException {
        return info().kind() == FileInfo.Kind.FOLDER;
    }

    /**
     * Whether anything is there.
     *
     * @return true if so
     * @throws IOException if the source cannot tell
     */
    public boolean exists() throws IOException {
        return info().kind() != FileInfo.Kind.ABSENT;
    }

    /**
     * A file's size.
     *
     * @return bytes
     * @throws NoSuchFileException if there is none
     * @throws IOException if the source cannot tell
     */
    public long byteSize() throws IOException {
        FileInfo info = info();
        if (info.kind() == FileInfo.Kind.ABSENT) {
            throw new NoSuchFileException(toString(), null, "no such file");
        }
        return info.byteSize();
    }

    /**
     * The regular files of this folder, not of the folders in it.
     *
     * @param chosen tells by the name which files are wanted
     * @return their locations, sorted by the bytes of their names in UTF-8
     * @throws IOException if the folder cannot be read
     */
    public List<Location> files(Predicate<String> chosen) throws IOException {
        return source.files(path, chosen).stream().sorted(BY_BYTES).map(this::resolve).toList();
    }

    /**
     * Opens the file.
     *
     * @return the file, to be closed by the caller
     * @throws NoSuchFileException if there is none
     * @throws NotRegularFileException if something else is there
     * @throws IOException if it cannot be opened
     */
    public MappedFile open() throws IOException {
        return source.open(this, null);
    }

    /**
     * Opens the file, whose bytes another file gives a meaning.
     *
     * @param index the other file, which stays open as long: it is checked to be unchanged together with this one
     * @return the file, to be closed by the caller
     * @throws IOException as {@link #open()}
     */
    public MappedFile openWith(MappedFile index) throws IOException {
        return source.open(this, index);
    }

    /**
     * Opens the file to read it by calls.
     *
     * @return a channel for one thread, to be closed by the caller; interrupting a read closes it
     * @throws IOException as {@link #open()}
     */
    public SeekableByteChannel openChannel() throws IOException {
        return source.openChannel(this);
    }

    /**
     * Opens the file as a stream, which interrupting a read closes.
     *
     * @return a stream without a buffer, to be closed by the caller
     * @throws IOException as {@link #open()}
     */
    public InputStream newInputStream() throws IOException {
        return Channels.newInputStream(openChannel());
    }

    /**
     * Reads the file.
     *
     * @return all of its bytes
     * @throws IOException as {@link #open()}, or if it cannot be read
     */
    public byte[] readAllBytes() throws IOException {
        try (InputStream in = newInputStream()) {
            return in.readAllBytes();
        }
    }

    /**
     * The local file or folder, for what only local files can do.
     *
     * @return where it is now; empty if it is not local
     */
    public Optional<Path> local() {
        return source.local(path);
    }

    /**
     * The local file or folder, for a format that reads local files alone.
     *
     * @param format the format's name
     * @return its path
     * @throws UnsupportedOperationException if it is not local
     */
    public Path requireLocal(String format) {
        return local().orElseThrow(() -> new UnsupportedOperationException(this + ": the format " + format
                + " is read from local files alone, copy it there first"));
    }

    /** The location as users write it: a local path, or a URI. */
    @Override
    public String toString() {
        return source.root() + path;
    }
}
