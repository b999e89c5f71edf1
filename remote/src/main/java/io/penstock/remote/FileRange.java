// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.io.local.RegularFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.function.Consumer;

/**
 * A range of a file, as the body of a request that may be sent several times.
 *
 * @param file the file, which does not change
 * @param offset the first byte
 * @param bytes how many
 */
record FileRange(Path file, long offset, long bytes) {

    private static final int PIECE_BYTES = 64 << 10;

    FileRange part(long from, long length) {
        return new FileRange(file, offset + from, length);
    }

    /** A body of the range's bytes. */
    BodyPublisher publisher() {
        return bytes == 0 ? BodyPublishers.noBody()
                : BodyPublishers.fromPublisher(BodyPublishers.ofByteArrays(Pieces::new), bytes);
    }

    /** Hands out the range's bytes in order. */
    void forEach(Consumer<byte[]> sink) throws IOException {
        try {
            new Pieces().forEachRemaining(sink);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private final class Pieces implements Iterator<byte[]> {

        private long done;

        @Override
        public boolean hasNext() {
            return done < bytes;
        }

        @Override
        public byte[] next() {
            ByteBuffer piece = ByteBuffer.allocate((int) Math.min(PIECE_BYTES, bytes - done));
            // Opened for each piece: nobody says when a body is given up.
            try (FileChannel channel = RegularFile.open(file)) {
                int read = channel.read(piece, offset + done);
                if (read <= 0) {
                    throw new IOException(file + " became shorter while it was sent");
                }
                done += read;
                return read == piece.capacity() ? piece.array() : Arrays.copyOf(piece.array(), read);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
