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
    abstract long read(MemorySegment target, long offset, long length) throws IOException;

    final int read(byte[] target, int offset, int length) throws IOException {
        return (int) read(MemorySegment.ofArray(target), offset, length);
    }

    /** Skips bytes. Returns whether there were that many. */
    abstract boolean skip(long bytes) throws IOException;

    @Override
    public abstract void close() throws IOException;

    /**
     * A plain file, read in pieces: of one page, so that a scan of headers does not read the data, or of more. It is
     * read by {@code pread}, so a cold page never delays a safepoint.
     */
    static final class OfFile extends TarSource {

        static final int PAGE_BYTES = 4096;
        static final int RUN_BYTES = 1 << 16;

        private final Location file;
        private final SeekableByteChannel channel;
        private final long byteSize;
        private final ByteBuffer window;
        private final MemorySegment segment;
        private long windowStart;
        private int windowBytes;

        /** Reads a channel, which it closes. */
        OfFile(Location file, SeekableByteChannel channel, int pieceBytes) throws IOException {
            this.file = file;
            this.channel = channel;
            window = ByteBuffer.allocateDirect(pieceBytes);
            segment = MemorySegment.ofBuffer(window);
            byteSize = channel.size();
        }

        @Override
        long read(MemorySegment target, long offset, long length) throws IOException {
            long done = 0;
            while (done < length) {
                boolean isInWindow = position >= windowStart && position < windowStart + windowBytes;
                if (!isInWindow && length - done >= window.capacity()) {
                    long most = Math.min(length - done, Integer.MAX_VALUE);
                    int read = readSome(target.asSlice(offset + done, most).asByteBuffer(), position);
                    if (read < 0) {
                        break;
                    }
                    position += read;
                    done += read;
                    continue;
                }
                if (!isInWindow && !fill()) {
                    break;
                }
                long from = position - windowStart;
                long step = Math.min(length - done, windowBytes - from);
                MemorySegment.copy(segment, from, target, offset + done, step);
                done += step;
                position += step;
            }
            return done;
        }

        private boolean fill() throws IOException {
            windowStart = position;
            windowBytes = Math.max(0, readSome(window.clear(), position));
            return windowBytes > 0;
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

    /** A mapped tar, from any position. */
    static final class OfMapping extends TarSource {

        private final MappedFile file;

        OfMapping(MappedFile file, long position) {
            this.file = file;
            this.position = position;
        }

        @Override
        long read(MemorySegment target, long offset, long length) {
            long read = Math.min(length, file.byteSize() - position);
            file.require(position, read);
            MemorySegment.copy(file.mapping(), position, target, offset, read);
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
        private final byte[] piece = new byte[1 << 16];

        OfStream(InputStream in) {
            this.in = in;
        }

        @Override
        long read(MemorySegment target, long offset, long length) throws IOException {
            long done = 0;
            while (done < length) {
                int step = (int) Math.min(length - done, piece.length);
                int read = in.readNBytes(piece, 0, step);
                MemorySegment.copy(piece, 0, target, ValueLayout.JAVA_BYTE, offset + done, read);
                done += read;
                position += read;
                if (read < step) {
                    break;
                }
            }
            return done;
        }

        @Override
        boolean skip(long bytes) throws IOException {
            for (long left = bytes; left > 0;) {
                int step = (int) Math.min(left, piece.length);
                int read = in.readNBytes(piece, 0, step);
                position += read;
                if (read < step) {
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
