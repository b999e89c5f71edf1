// SPDX-License-Identifier: Apache-2.0
package io.penstock.iceberg;

import io.penstock.io.Location;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.iceberg.exceptions.NotFoundException;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.OutputFile;
import org.apache.iceberg.io.SeekableInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Gives Iceberg the files of Penstock's file sources: local ones, and with penstock-remote those of buckets and web
 * servers. Only reads. Catalogs that make their file access by name take it as {@code io-impl}.
 *
 * <p>A table in a folder may have been moved or copied: what its metadata say is below the old place is looked for
 * below the folder.
 */
public final class LocationFileIO implements FileIO {

    private static final long serialVersionUID = 1;
    private static final Pattern FILE = Pattern.compile("file:(?://)?(/.*)");
    private static final Pattern REMOTE = Pattern.compile("([a-z][a-z0-9+.-]*)://([^/]*)(/.*)?");

    /** Where the metadata say that the table is; empty if it is there. */
    private final String oldPlace;
    private final transient @Nullable Location folder;

    /** Files are where the metadata say. */
    public LocationFileIO() {
        this("", null);
    }

    LocationFileIO(String oldPlace, @Nullable Location folder) {
        this.oldPlace = oldPlace;
        this.folder = folder;
    }

    /** Returns where a file is; Iceberg's paths are not encoded. */
    Location locate(String path) {
        if (folder != null && path.startsWith(oldPlace + "/")) {
            return folder.resolve(path.substring(oldPlace.length() + 1));
        }
        Matcher file = FILE.matcher(path);
        if (file.matches()) {
            return Location.of(Path.of(file.group(1)));
        }
        Matcher remote = REMOTE.matcher(path);
        if (!remote.matches()) {
            return Location.of(Path.of(path));
        }
        try {
            String scheme = remote.group(1);
            // What Hadoop calls s3a and s3n is the same bucket.
            return Location.of(new URI(scheme.equals("s3a") || scheme.equals("s3n") ? "s3" : scheme, remote.group(2),
                    remote.group(3), null, null));
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(path + ": found no path, expected one", e);
        }
    }

    @Override
    public InputFile newInputFile(String path) {
        Location location = locate(path);
        return new InputFile() {
            @Override
            public long getLength() {
                return reading(location, location::byteSize);
            }

            @Override
            public SeekableInputStream newStream() {
                return reading(location, () -> new ChannelStream(location.openChannel()));
            }

            @Override
            public String location() {
                return path;
            }

            @Override
            public boolean exists() {
                return reading(location, location::isFile);
            }
        };
    }

    @FunctionalInterface
    private interface Read<T> {
        T read() throws IOException;
    }

    private static <T> T reading(Location location, Read<T> read) {
        try {
            return read.read();
        } catch (NoSuchFileException e) {
            throw new NotFoundException(e, "%s: no such file", location);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public OutputFile newOutputFile(String path) {
        throw new UnsupportedOperationException(path + ": Penstock only reads tables");
    }

    @Override
    public void deleteFile(String path) {
        throw new UnsupportedOperationException(path + ": Penstock only reads tables");
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
        public void close() throws IOException {
            channel.close();
        }
    }
}
