// SPDX-License-Identifier: Apache-2.0
package io.penstock.format;

import io.penstock.io.FetchWaits;
import io.penstock.io.FileInfo;
import io.penstock.io.FileSource;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.RangeFetcher;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/** Local files for tests: they count how often a file is looked at anew, and do something when a stream is read. */
public final class DecodedFiles implements FileSource {

    /** What happens before the first bytes of a stream are read. */
    @FunctionalInterface
    public interface Event {

        void happen() throws IOException;
    }

    /** Fetches nothing: the bytes are there. */
    private static final class Present implements RangeFetcher {

        @Override
        public boolean isPresent(long offset, long bytes) {
            return true;
        }

        @Override
        public void fetch(long offset, long bytes, FetchWaits waits) {
        }

        @Override
        public void prefetch(long offset, long bytes) {
        }

        @Override
        public void close() {
        }
    }

    public final AtomicInteger looks = new AtomicInteger();
    public Event whenRead = () -> {
    };
    private final FileSource files;

    public DecodedFiles(FileSource files) {
        this.files = files;
    }

    @Override
    public String root() {
        return files.root();
    }

    @Override
    public FileInfo info(String path) throws IOException {
        return files.info(path);
    }

    @Override
    public FileInfo infoNow(String path) throws IOException {
        looks.incrementAndGet();
        return files.infoNow(path);
    }

    @Override
    public List<String> files(String folder, Predicate<String> chosen) throws IOException {
        return files.files(folder, chosen);
    }

    @Override
    public MappedFile open(Location file, MappedFile index) throws IOException {
        return MappedFile.openSparse(file, info(file.path()).version(), Path.of(file.path()), new Present(), index);
    }

    @Override
    public SeekableByteChannel openChannel(Location file) throws IOException {
        SeekableByteChannel channel = files.openChannel(new Location(files, file.path()));
        return new SeekableByteChannel() {

            @Override
            public int read(ByteBuffer into) throws IOException {
                if (channel.position() == 0) {
                    whenRead.happen();
                }
                return channel.read(into);
            }

            @Override
            public int write(ByteBuffer from) throws IOException {
                return channel.write(from);
            }

            @Override
            public long position() throws IOException {
                return channel.position();
            }

            @Override
            public SeekableByteChannel position(long at) throws IOException {
                channel.position(at);
                return this;
            }

            @Override
            public long size() throws IOException {
                return channel.size();
            }

            @Override
            public SeekableByteChannel truncate(long size) throws IOException {
                channel.truncate(size);
                return this;
            }

            @Override
            public boolean isOpen() {
                return channel.isOpen();
            }

            @Override
            public void close() throws IOException {
                channel.close();
            }
        };
    }
}
