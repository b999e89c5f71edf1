package io.penstock.codec;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * Gzip (RFC 1952) as it is read, everywhere: one member or several, one behind the other, and zeros behind the last
 * one, as tapes and some writers pad. Unlike {@link java.util.zip.GZIPInputStream} it takes nothing else for an end: a
 * member that is cut or damaged, or other bytes behind one, are an error, which names the byte.
 */
public final class Gzip {

    private static final long PIECE_BYTES = 1 << 30;

    private Gzip() {
    }

    /**
     * Decodes members one after another as they are read.
     *
     * @param packed the members, from the first one's start; closed with the stream that is returned
     * @return what they decode to; throws a {@link CodecException} where they are malformed or cut
     */
    public static InputStream open(InputStream packed) {
        return new Unpacked(packed);
    }

    /**
     * Decodes whole members.
     *
     * @param source the members, and at most zeros behind them
     * @param target what they decode to: exactly as many bytes
     * @throws CodecException if they are malformed or cut, or decode to another number of bytes
     */
    public static void decompress(MemorySegment source, MemorySegment target) throws CodecException {
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
                        + target.byteSize() + " bytes, expected so many");
            }
        } catch (CodecException e) {
            throw e;
        } catch (IOException e) {
            throw new IllegalStateException("memory cannot fail to be read", e);
        }
    }

    /** Memory, piece by piece. */
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

    /** A stream, by the buffer. */
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
