package io.penstock.codec;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Gzip (RFC 1952) as it is read: one member or several, one behind the other, and zeros behind the last one. Unlike
 * {@link java.util.zip.GZIPInputStream} it takes nothing else for an end: a second member that is cut or damaged, or
 * other bytes behind the last one, are an error.
 */
public final class Gzip {

    private Gzip() {
    }

    /**
     * Decodes members one after another as they are read.
     *
     * @param packed the members; closed with the stream that is returned
     * @return what they decode to; throws a {@link CodecException} where they are malformed or cut
     */
    public static InputStream open(InputStream packed) {
        return new Members(packed);
    }

    private static final class Members extends InputStream {

        private static final int BUFFER_BYTES = 1 << 16;
        private static final int MAGIC = 0x8b1f;
        private static final int DEFLATED = 8;
        private static final int FLAG_CHECKSUM = 2;
        private static final int FLAG_EXTRA = 4;
        private static final int FLAG_NAME = 8;
        private static final int FLAG_COMMENT = 16;
        private static final int FLAGS_RESERVED = 0xE0;

        private final InputStream in;
        private final Inflater inflater = new Inflater(true);
        private final CRC32 crc = new CRC32();
        private final byte[] buffer = new byte[BUFFER_BYTES];
        private final byte[] single = new byte[1];
        private int at;
        private int end;
        private boolean first = true;
        private boolean inMember;
        private boolean done;

        Members(InputStream in) {
            this.in = in;
        }

        @Override
        public int read() throws IOException {
            return read(single, 0, 1) < 0 ? -1 : single[0] & 0xFF;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, target.length);
            if (length == 0) {
                return 0;
            }
            while (!done) {
                if (!inMember && !header()) {
                    done = true;
                    break;
                }
                int read = inflate(target, offset, length);
                if (inflater.finished()) {
                    at = end - inflater.getRemaining();
                    crc.update(target, offset, read);
                    trailer();
                } else {
                    crc.update(target, offset, read);
                }
                if (read > 0) {
                    return read;
                }
            }
            return -1;
        }

        private int inflate(byte[] target, int offset, int length) throws IOException {
            try {
                int read = inflater.inflate(target, offset, length);
                while (read == 0 && !inflater.finished()) {
                    if (inflater.needsDictionary()) {
                        throw new CodecException("gzip: a preset dictionary, which gzip does not have");
                    }
                    if (!fill()) {
                        throw cut();
                    }
                    inflater.setInput(buffer, at, end - at);
                    read = inflater.inflate(target, offset, length);
                }
                return read;
            } catch (DataFormatException e) {
                throw new CodecException("gzip: " + (e.getMessage() == null ? "malformed data" : e.getMessage()));
            }
        }

        /** Reads a member's header; false at the end. */
        private boolean header() throws IOException {
            if (!first && !skipZeros()) {
                return false;
            }
            if (!fillIfEmpty()) {
                throw cut();
            }
            crc.reset();
            int magic = next() | next() << 8;
            if (magic != MAGIC) {
                throw new CodecException("gzip: " + (first ? "another magic" : "other bytes behind a member")
                        + ", expected 1f 8b");
            }
            if (next() != DEFLATED) {
                throw new CodecException("gzip: an unknown method, expected 8 (deflate)");
            }
            int flags = next();
            if ((flags & FLAGS_RESERVED) != 0) {
                throw new CodecException("gzip: reserved flags");
            }
            skip(6);
            if ((flags & FLAG_EXTRA) != 0) {
                skip(next() | next() << 8);
            }
            for (int strings = flags & (FLAG_NAME | FLAG_COMMENT); strings != 0; strings &= strings - 1) {
                while (next() != 0) {
                    // up to its zero byte
                }
            }
            if ((flags & FLAG_CHECKSUM) != 0) {
                int found = (int) crc.getValue() & 0xFFFF;
                if ((next() | next() << 8) != found) {
                    throw new CodecException("gzip: a header with another checksum");
                }
            }
            crc.reset();
            inflater.reset();
            inflater.setInput(buffer, at, end - at);
            first = false;
            inMember = true;
            return true;
        }

        private boolean skipZeros() throws IOException {
            while (fillIfEmpty()) {
                if (buffer[at] != 0) {
                    return true;
                }
                at++;
            }
            return false;
        }

        private void skip(int bytes) throws IOException {
            for (int i = 0; i < bytes; i++) {
                next();
            }
        }

        private void trailer() throws IOException {
            int checksum = (int) crc.getValue();
            byte[] trailer = new byte[8];
            for (int i = 0; i < trailer.length; i++) {
                trailer[i] = (byte) next();
            }
            ByteBuffer stored = ByteBuffer.wrap(trailer).order(ByteOrder.LITTLE_ENDIAN);
            if (stored.getInt() != checksum) {
                throw new CodecException("gzip: data with another CRC-32 than it was written with");
            }
            if (stored.getInt() != (int) inflater.getBytesWritten()) {
                throw new CodecException("gzip: data of another size than it was written with");
            }
            inMember = false;
        }

        /** The next byte of a header or trailer; headers have a checksum of their own. */
        private int next() throws IOException {
            if (!fillIfEmpty()) {
                throw cut();
            }
            crc.update(buffer[at]);
            return buffer[at++] & 0xFF;
        }

        private boolean fillIfEmpty() throws IOException {
            return at < end || fill();
        }

        private boolean fill() throws IOException {
            at = 0;
            end = Math.max(0, in.read(buffer, 0, buffer.length));
            return end > 0;
        }

        private static EOFException cut() {
            return new EOFException("gzip: the data is cut");
        }

        @Override
        public void close() throws IOException {
            done = true;
            inflater.end();
            in.close();
        }
    }
}
