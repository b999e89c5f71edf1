// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.publish.SpoolFile;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;

/** The bytes of a tar, read sequentially by one thread. */
abstract class TarSource implements AutoCloseable {

    /** The position of the next byte. */
    long position;

    final long position() {
        return position;
    }

    /** Reads bytes. Returns their number, which is less than {@code length} only at the end. */
    abstract int read(byte[] target, int offset, int length) throws IOException;

    /** Skips bytes. Returns whether there were that many. */
    abstract boolean skip(long bytes) throws IOException;

    @Override
    public abstract void close() throws IOException;

    /**
     * A plain file, read in pieces of a page, so a scan of headers does not read the data; and by {@code pread}, so a
     * cold page never delays a safepoint.
     */
    static final class OfFile extends TarSource {

        private static final int WINDOW_BYTES = 4096;

        private final Location file;
        private final SeekableByteChannel channel;
        private final long byteSize;
        private final ByteBuffer window = ByteBuffer.allocateDirect(WINDOW_BYTES);
        private long windowStart;
        private int windowBytes;

        OfFile(Location file) throws IOException {
            this.file = file;
            channel = file.openChannel();
            byteSize = channel.size();
        }

        @Override
        int read(byte[] target, int offset, int length) throws IOException {
            if (length >= WINDOW_BYTES) {
                return readThrough(target, offset, length);
            }
            int done = 0;
            while (done < length && fill()) {
                int from = (int) (position - windowStart);
                int step = Math.min(length - done, windowBytes - from);
                window.get(from, target, offset + done, step);
                done += step;
                position += step;
            }
            return done;
        }

        private boolean fill() throws IOException {
            if (position >= windowStart && position < windowStart + windowBytes) {
                return true;
            }
            windowStart = position;
            windowBytes = Math.max(0, readSome(window.clear(), position));
            return windowBytes > 0;
        }

        private int readThrough(byte[] target, int offset, int length) throws IOException {
            ByteBuffer buffer = ByteBuffer.wrap(target, offset, length);
            while (buffer.hasRemaining()) {
                int read = readSome(buffer, position);
                if (read < 0) {
                    break;
                }
                position += read;
            }
            return length - buffer.remaining();
        }

        private int readSome(ByteBuffer target, long offset) throws IOException {
            try {
                return channel.position(offset).read(target);
            } catch (IOException e) {
                throw SpoolFile.unreadable(file, offset, e);
            }
        }

        @Override
        boolean skip(long bytes) {
            long there = Math.min(bytes, Math.max(0, byteSize - position));
            position += there;
            return there == bytes;
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /** A mapped tar, from any position. A remote one is fetched ahead of a reader that reads on. */
    static final class OfMapping extends TarSource {

        private static final long LOOK_BYTES = 1 << 20;

        private final MappedFile file;
        private long lookAt;

        OfMapping(MappedFile file, long position) {
            this.file = file;
            this.position = position;
            this.lookAt = position + LOOK_BYTES;
        }

        @Override
        int read(byte[] target, int offset, int length) {
            if (position >= lookAt) {
                SharedTar.fetchAhead(file, position);
                lookAt = position + LOOK_BYTES;
            }
            int read = (int) Math.min(length, file.byteSize() - position);
            file.require(position, read);
            MemorySegment.copy(file.mapping(), ValueLayout.JAVA_BYTE, position, target, offset, read);
            position += read;
            return read;
        }

        @Override
        boolean skip(long count) {
            long there = Math.min(count, file.byteSize() - position);
            position += there;
            return there == count;
        }

        @Override
        public void close() {
            // its owner closes the file
        }
    }

    /** A compressed tar; skipped bytes are decoded too. */
    static final class OfStream extends TarSource {

        private final InputStream in;
        private final byte[] skipped = new byte[1 << 16];

        OfStream(InputStream in) {
            this.in = in;
        }

        @Override
        int read(byte[] target, int offset, int length) throws IOException {
            int read = in.readNBytes(target, offset, length);
            position += read;
            return read;
        }

        @Override
        boolean skip(long bytes) throws IOException {
            for (long left = bytes; left > 0;) {
                int step = (int) Math.min(left, skipped.length);
                if (read(skipped, 0, step) < step) {
                    return false;
                }
                left -= step;
            }
            return true;
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }
}
