// SPDX-License-Identifier: Apache-2.0
package io.penstock.delta;

import io.delta.kernel.defaults.engine.fileio.FileIO;
import io.delta.kernel.defaults.engine.fileio.InputFile;
import io.delta.kernel.defaults.engine.fileio.OutputFile;
import io.delta.kernel.defaults.engine.fileio.SeekableInputStream;
import io.delta.kernel.internal.util.Utils;
import io.delta.kernel.utils.CloseableIterator;
import io.delta.kernel.utils.FileStatus;
import io.penstock.io.Location;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Gives Delta Kernel the files of Penstock's file sources: local ones, and with penstock-remote those of buckets and
 * web servers. Only reads.
 */
final class LocationFiles implements FileIO {

    private final Location table;

    LocationFiles(Location table) {
        this.table = table;
    }

    /** Returns the location of what Kernel calls a path: a local path, or a URI. */
    private Location locate(String path) {
        String root = table.toString();
        if (path.startsWith(root)) {
            return path.length() == root.length() ? table : table.resolve(path.substring(root.length()).replaceFirst(
                    "^/", ""));
        }
        return path.matches("[a-z][a-z0-9+.-]+:.*") ? Location.of(URI.create(path)) : Location.of(Path.of(path));
    }

    @Override
    public CloseableIterator<FileStatus> listFrom(String path) throws IOException {
        Location from = locate(path);
        List<FileStatus> found = new ArrayList<>();
        Location folder = from.parent();
        if (!folder.isFolder()) {
            throw new FileNotFoundException(folder + ": no such folder");
        }
        String prefix = path.substring(0, path.lastIndexOf('/') + 1);
        for (Location file : folder.files(name -> name.compareTo(from.name()) >= 0)) {
            found.add(status(file, prefix + file.name()));
        }
        return Utils.toCloseableIterator(found.iterator());
    }

    private static FileStatus status(Location file, String path) throws IOException {
        Optional<Path> local = file.local();
        return FileStatus.of(path, file.byteSize(), local.isPresent() ? Files.getLastModifiedTime(local.get())
                .toMillis() : 0);
    }

    @Override
    public FileStatus getFileStatus(String path) throws IOException {
        try {
            return status(locate(path), path);
        } catch (NoSuchFileException e) {
            throw missing(path, e);
        }
    }

    /** Kernel takes this exception for a file that need not be there. */
    private static FileNotFoundException missing(String path, IOException cause) {
        FileNotFoundException missing = new FileNotFoundException(path + ": no such file");
        missing.initCause(cause);
        return missing;
    }

    @Override
    public String resolvePath(String path) {
        return path;
    }

    @Override
    public InputFile newInputFile(String path, long bytes) {
        return new InputFile() {
            @Override
            public long length() throws IOException {
                return bytes >= 0 ? bytes : getFileStatus(path).getSize();
            }

            @Override
            public String path() {
                return path;
            }

            @Override
            public SeekableInputStream newStream() throws IOException {
                try {
                    return new ChannelStream(locate(path).openChannel());
                } catch (NoSuchFileException e) {
                    throw missing(path, e);
                }
            }
        };
    }

    @Override
    public boolean mkdirs(String path) {
        throw reads(path);
    }

    @Override
    public OutputFile newOutputFile(String path) {
        throw reads(path);
    }

    @Override
    public boolean delete(String path) {
        throw reads(path);
    }

    @Override
    public Optional<String> getConf(String key) {
        return Optional.empty();
    }

    @Override
    public void copyFileAtomically(String from, String to, boolean overwrites) {
        throw reads(to);
    }

    private static UnsupportedOperationException reads(String path) {
        return new UnsupportedOperationException(path + ": Penstock only reads tables");
    }

    /** A buffered stream over a channel. */
    private static final class ChannelStream extends SeekableInputStream {

        private final SeekableByteChannel channel;
        private InputStream in;
        private long position;

        ChannelStream(SeekableByteChannel channel) {
            this.channel = channel;
            this.in = new BufferedInputStream(Channels.newInputStream(channel));
        }

        @Override
        public long getPos() {
            return position;
        }

        @Override
        public void seek(long to) throws IOException {
            if (to != position) {
                channel.position(to);
                in = new BufferedInputStream(Channels.newInputStream(channel));
                position = to;
            }
        }

        @Override
        public int read() throws IOException {
            int found = in.read();
            position += found < 0 ? 0 : 1;
            return found;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            int count = in.read(into, offset, length);
            position += Math.max(0, count);
            return count;
        }

        @Override
        public void readFully(byte[] into, int offset, int length) throws IOException {
            int count = in.readNBytes(into, offset, length);
            position += count;
            if (count < length) {
                throw new EOFException("found the end of the file after " + count + " bytes, expected " + length);
            }
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
