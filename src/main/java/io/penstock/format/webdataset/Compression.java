// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.codec.DecodeLimit;
import io.penstock.codec.MissingLibraryException;
import io.penstock.codec.decoder.Gzip;
import io.penstock.codec.decoder.Zstd;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;

/** The compression of a shard, detected by its first bytes. */
enum Compression {
    NONE,
    GZIP,
    ZSTD;

    private static final int MAGIC_BYTES = 6;

    static Compression of(Location shard) throws IOException {
        try (SeekableByteChannel channel = shard.openChannel()) {
            return of(shard, channel);
        }
    }

    /** The same, of an open shard, whose channel is then at its start. */
    static Compression of(Location shard, SeekableByteChannel channel) throws IOException {
        ByteBuffer magic = ByteBuffer.allocate(MAGIC_BYTES);
        for (int read = 0; read >= 0 && magic.hasRemaining();) {
            read = channel.read(magic);
        }
        channel.position(0);
        String head = new String(magic.array(), 0, magic.position(), StandardCharsets.ISO_8859_1);
        if (head.startsWith("\u001f\u008b")) {
            return GZIP;
        }
        // A frame, or a skippable one (0x184D2A50 to 0x184D2A5F), which some writers put first.
        if (head.startsWith("\u0028\u00b5\u002f\u00fd") || head.startsWith("*M\u0018", 1) && head.charAt(0) >> 4 == 5) {
            return ZSTD;
        }
        if (head.startsWith("BZh") || head.startsWith("\u00fd7zXZ\0")) {
            throw new MalformedStoreException(shard, 0, "a tar compressed by "
                    + (head.startsWith("B") ? "bzip2" : "xz"), "a plain tar, gzip or zstd");
        }
        return NONE;
    }

    /** Opens a tar for a scan of its headers. */
    TarSource open(Location shard, DecodeLimit limit) throws IOException {
        return this == NONE ? new TarSource.OfFile(shard, shard.openChannel(), TarSource.OfFile.PAGE_BYTES)
                : new TarSource.OfStream(decode(shard, limit));
    }

    /** Opens a tar to read all of it. The source closes the channel, as this does if it fails. */
    static TarSource openWhole(Location shard, SeekableByteChannel channel, DecodeLimit limit) throws IOException {
        try {
            Compression compression = of(shard, channel);
            // Remote bytes are there as memory: all but small members are copied once.
            return compression == NONE ? new TarSource.OfFile(shard, channel, shard.local().isPresent()
                    ? TarSource.OfFile.RUN_BYTES : TarSource.OfFile.PAGE_BYTES)
                    : new TarSource.OfStream(compression.decode(shard, channel, limit));
        } catch (Throwable t) {
            channel.close();
            throw t;
        }
    }

    /** Opens the decoded bytes of a tar, within a limit. Errors name the shard. */
    InputStream decode(Location shard, DecodeLimit limit) throws IOException {
        return decode(shard, shard.openChannel(), limit);
    }

    private InputStream decode(Location shard, SeekableByteChannel channel, DecodeLimit limit) throws IOException {
        try {
            InputStream packed = Channels.newInputStream(channel);
            InputStream in = this == GZIP ? Gzip.open(packed) : Zstd.open(packed, limit);
            return limit.budget(shard, channel.size()).count(new Decoded(shard, in));
        } catch (IOException e) {
            channel.close();
            throw named(shard, e);
        }
    }

    private static IOException named(Location shard, IOException e) {
        return e instanceof MissingLibraryException ? e
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
            } catch (IOException e) {
                throw named(shard, e);
            }
        }
    }
}
