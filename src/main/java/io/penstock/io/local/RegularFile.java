// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.local;

import io.penstock.error.MalformedStoreException;
import io.penstock.os.Posix;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * Opens regular files for reading and rejects everything else with a {@link MalformedStoreException}. A FIFO could
 * block forever, a device may be endless, and opening one may have side effects.
 *
 * <p>{@linkplain Placeholder Placeholders} of files, such as Git LFS pointers, are rejected too.
 *
 * <p>The kind is checked before the open. Another process may put a FIFO there in between; so Linux opens without
 * blocking ({@code O_NONBLOCK}) and checks again. Other systems keep that gap. Links are followed.
 */
public final class RegularFile {

    private static final int KIND_MASK = 0xF000;
    private static final int FIFO = 0x1000;
    private static final int CHARACTER_DEVICE = 0x2000;
    private static final int BLOCK_DEVICE = 0x6000;
    private static final int SOCKET = 0xC000;

    /** Opens a local file at its present path. */
    @FunctionalInterface
    public interface Opener<T> {
        T open(Path path) throws IOException;
    }

    private RegularFile() {
    }

    /**
     * Rejects anything but a regular file, without opening it.
     *
     * @param path the file
     * @throws NoSuchFileException if it does not exist
     * @throws MalformedStoreException if it is not a regular file
     * @throws IOException if its attributes cannot be read
     */
    public static void require(Path path) throws IOException {
        require(path, path);
    }

    /** Same as {@link #require(Path)}, with a name for messages. */
    public static void require(Path path, Path name) throws IOException {
        BasicFileAttributes attributes;
        try {
            attributes = Files.readAttributes(path, BasicFileAttributes.class);
        } catch (NoSuchFileException _) {
            Placeholder.checkLink(path);
            throw new NoSuchFileException(name.toString(), null, "no such file");
        }
        if (!attributes.isRegularFile()) {
            throw new MalformedStoreException(name, attributes.isDirectory() ? "a folder" : kind(path),
                    "a regular file");
        }
    }

    /**
     * Fails if a path is a link of git-annex to content that was not fetched.
     *
     * @param path the path, which need not exist
     * @throws MalformedStoreException if it is; says what fetches the content
     * @throws IOException if the link cannot be read
     */
    public static void checkLink(Path path) throws IOException {
        Placeholder.checkLink(path);
    }

    private static String kind(Path path) throws IOException {
        if (!path.getFileSystem().supportedFileAttributeViews().contains("unix")) {
            return "neither a file nor a folder";
        }
        return switch ((int) Files.getAttribute(path, "unix:mode") & KIND_MASK) {
            case FIFO -> "a FIFO";
            case CHARACTER_DEVICE, BLOCK_DEVICE -> "a device";
            case SOCKET -> "a socket";
            default -> "neither a file nor a folder";
        };
    }

    /**
     * Opens a file for reading.
     *
     * @param path the file
     * @return a channel, to be closed by the caller
     * @throws IOException as {@link #require(Path)}; if the file is a placeholder; if it cannot be opened
     */
    public static FileChannel open(Path path) throws IOException {
        return opened(path, file -> FileChannel.open(file, StandardOpenOption.READ));
    }

    /**
     * Opens a file as a stream; interrupting a read closes it.
     *
     * @param path the file
     * @return an unbuffered stream, to be closed by the caller
     * @throws IOException as {@link #open}
     */
    public static InputStream newInputStream(Path path) throws IOException {
        return Channels.newInputStream(open(path));
    }

    /**
     * Opens a file as a stream that interrupts do not close.
     *
     * @param path the file
     * @return an unbuffered stream, to be closed by the caller
     * @throws IOException as {@link #open}
     */
    public static InputStream newFileStream(Path path) throws IOException {
        return opened(path, file -> new FileInputStream(file.toFile()));
    }

    /**
     * Reads a whole file, which must fit an array.
     *
     * @param path the file
     * @return its bytes
     * @throws IOException as {@link #open}, or if it cannot be read
     */
    public static byte[] readAllBytes(Path path) throws IOException {
        try (InputStream in = newInputStream(path)) {
            return in.readAllBytes();
        }
    }

    private static <T> T opened(Path path, Opener<T> opener) throws IOException {
        require(path);
        if (!Posix.AVAILABLE || path.getFileSystem() != FileSystems.getDefault()) {
            requireData(path, path);
            return opener.open(path);
        }
        int fd = Posix.openReadOnly(path);
        try {
            Path same = sameFile(path, fd);
            require(same, path);
            requireData(same, path);
            return opener.open(same);
        } finally {
            Posix.close(fd);
        }
    }

    private static void requireData(Path path, Path name) throws IOException {
        if (Placeholder.mayBe(name.toString(), Files.size(path))) {
            // Not a channel, which an interrupt would close.
            try (InputStream in = path.getFileSystem() == FileSystems.getDefault() ? new FileInputStream(path.toFile())
                    : Channels.newInputStream(FileChannel.open(path, StandardOpenOption.READ))) {
                Placeholder.check(name, in.readNBytes(Placeholder.MAX_BYTES));
            }
        }
    }

    /** Returns a path that reopens the file of a descriptor, even if another file now has its name. */
    public static Path sameFile(Path path, int fd) {
        Path link = Path.of("/proc/self/fd/" + fd);
        return fd >= 0 && Files.exists(link) ? link : path;
    }
}
