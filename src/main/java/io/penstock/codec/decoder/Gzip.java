// SPDX-License-Identifier: Apache-2.0
package io.penstock.codec.decoder;

import io.penstock.error.CodecException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * Decodes gzip (RFC 1952) as it is commonly read: one or more consecutive members, then optional zeros, as tapes and
 * some writers pad. Unlike {@link java.util.zip.GZIPInputStream}, it accepts nothing else at the end: a truncated or
 * damaged member, or other bytes after one, is an error that names the byte.
 */
public final class Gzip {

    /** The greatest expansion of deflated data: 258 bytes for 2 bits. */
    public static final int MAX_EXPANSION = 1032;

    private static final long PIECE_BYTES = 1 << 30;

    private Gzip() {
    }

    /**
     * Decodes consecutive members as they are read; closing the stream closes {@code packed}. A {@link CodecException}
     * tells where the members are malformed or truncated.
     */
    public static InputStream open(InputStream packed) {
        return new Unpacked(packed);
    }

    /** Decodes whole members, which only zeros may follow, to exactly the target's size. */
    public static void decompress(MemorySegment source, MemorySegment target) {
        long at = 0;
        try (GzipMembers members = new GzipMembers(new Pieces(source))) {
            for (long done = 0; done < target.byteSize();) {
                long piece = Math.min(PIECE_BYTES, target.byteSize() - done);
                int read = members.read(target.asSlice(done, piece).asByteBuffer());
                if (read < 0) {
                    throw new CodecException("gzip: the data decode to " + done + " bytes, expected "
                            + target.byteSize());
                }
                done += read;
            }
            at = members.offset();
            if (members.read(ByteBuffer.allocate(1)) >= 0) {
                throw new CodecException("gzip: at byte " + at + ": the data decode to more than "
                        + target.byteSize() + " bytes");
            }
        } catch (CodecException e) {
            throw e;
        } catch (IOException e) {
            throw new IllegalStateException("memory cannot fail to be read", e);
        }
    }

    /** Reads memory piece by piece. */
    private static final class Pieces implements GzipMembers.Source {

        private final MemorySegment bytes;
        private long at;

        Pieces(MemorySegment bytes) {
            this.bytes = bytes;
        }

        @Override
        public ByteBuffer next() {
            long length = Math.min(PIECE_BYTES, bytes.byteSize() - at);
            at += length;
            return bytes.asSlice(at - length, length).asByteBuffer();
        }
    }

    /** Reads a stream through a buffer. */
    private static final class Unpacked extends DecodedStream {

        private final InputStream in;
        private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
        private final GzipMembers members = new GzipMembers(this::fill);

        Unpacked(InputStream in) {
            super(in);
            this.in = in;
        }

        private ByteBuffer fill() throws IOException {
            int read = in.read(buffer.array());
            return buffer.clear().limit(Math.max(0, read));
        }

        @Override
        int decode(byte[] target, int offset, int length) throws IOException {
            return members.read(ByteBuffer.wrap(target, offset, length));
        }

        @Override
        public void close() throws IOException {
            members.close();
            super.close();
        }
    }
}
