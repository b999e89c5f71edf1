// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.codec.decoder.Compression;
import io.penstock.codec.decoder.Gzip;
import io.penstock.codec.decoder.Zstd;
import io.penstock.error.LibraryException;
import io.penstock.error.MalformedStoreException;
import io.penstock.error.PenstockException;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Opens tars that are plain or compressed. */
final class PackedTar {

    private static final int MAGIC_BYTES = 6;

    /** Returns how a shard is compressed, by its first bytes. */
    static Compression compression(Location shard) throws IOException {
        try (SeekableByteChannel channel = shard.openChannel()) {
            return compression(shard, channel);
        }
    }

    /** The same, of an open shard, whose channel is then at its start. */
    static Compression compression(Location shard, SeekableByteChannel channel) throws IOException {
        ByteBuffer magic = ByteBuffer.allocate(MAGIC_BYTES);
        for (int read = 0; read >= 0 && magic.hasRemaining();) {
            read = channel.read(magic);
        }
        channel.position(0);
        String head = new String(magic.array(), 0, magic.position(), StandardCharsets.ISO_8859_1);
        if (head.startsWith("BZh") || head.startsWith("\u00fd7zXZ\0")) {
            throw new MalformedStoreException(shard, 0, "a tar compressed by "
                    + (head.startsWith("B") ? "bzip2" : "xz"), "a plain tar, gzip or zstd");
        }
        return Compression.of("", Arrays.copyOf(magic.array(), magic.position()));
    }

    /** Opens a tar for a scan of its headers. */
    static TarSource open(Location shard, Compression compression, DecodeLimit limit) throws IOException {
        return compression == Compression.NONE
                ? new TarSource.OfFile(shard, shard.openChannel(), TarSource.OfFile.PAGE_BYTES)
                : new TarSource.OfStream(decode(shard, compression, limit));
    }

    /** Opens a tar to read all of it. The source closes the channel, as this does if it fails. */
    static TarSource openWhole(Location shard, SeekableByteChannel channel, DecodeLimit limit) throws IOException {
        try {
            Compression compression = compression(shard, channel);
            // Remote bytes are there as memory: all but small members are copied once.
            return compression == Compression.NONE ? new TarSource.OfFile(shard, channel, shard.local().isPresent()
                    ? TarSource.OfFile.RUN_BYTES : TarSource.OfFile.PAGE_BYTES)
                    : new TarSource.OfStream(decode(shard, channel, compression, limit));
        } catch (Throwable t) {
            channel.close();
            throw t;
        }
    }

    /** Opens the decoded bytes of a tar, within a limit. Errors name the shard. */
    static InputStream decode(Location shard, Compression compression, DecodeLimit limit) throws IOException {
        return decode(shard, shard.openChannel(), compression, limit);
    }

    private static InputStream decode(Location shard, SeekableByteChannel channel, Compression compression,
            DecodeLimit limit) throws IOException {
        try {
            InputStream packed = Channels.newInputStream(channel);
            InputStream in = compression == Compression.GZIP ? Gzip.open(packed) : Zstd.open(packed, limit);
            return limit.budget(shard, channel.size()).count(new Decoded(shard, in));
        } catch (IOException | PenstockException e) {
            channel.close();
            throw named(shard, e);
        }
    }

    private static PenstockException named(Location shard, Exception e) {
        return e instanceof LibraryException missing ? missing
                : new MalformedStoreException(shard, "compressed data that is cut or malformed (" + e.getMessage()
                        + ")", "whole compressed data");
    }

    /** Names the shard in errors. */
    private static final class Decoded extends FilterInputStream {

        private final Location shard;

        Decoded(Location shard, InputStream in) {
            super(in);
            this.shard = shard;
        }

        @Override
        public int read() throws IOException {
            byte[] single = new byte[1];
            return read(single, 0, 1) < 0 ? -1 : single[0] & 0xFF;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            try {
                return in.read(target, offset, length);
            } catch (IOException | PenstockException e) {
                throw named(shard, e);
            }
        }
    }
}
