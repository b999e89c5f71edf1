package io.penstock.store.webdataset;

import io.penstock.codec.Gzip;
import io.penstock.codec.MissingLibraryException;
import io.penstock.codec.Zstd;
import io.penstock.store.MalformedStoreException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** How a shard is compressed, which its first bytes say. */
enum Compression {
    NONE,
    GZIP,
    ZSTD;

    /** What any shard may decode to, however small it is. */
    private static final long FREE_DECODED_BYTES = 1L << 28;

    /** What deflate reaches at most, about: beyond that and the free part, a shard is taken for a bomb. */
    private static final long MAX_RATIO = 1100;

    private static final int MAGIC_BYTES = 6;

    static Compression of(Path shard) throws IOException {
        byte[] head;
        try (InputStream in = Files.newInputStream(shard)) {
            head = in.readNBytes(MAGIC_BYTES);
        }
        if (startsWith(head, 0x1f, 0x8b)) {
            return GZIP;
        }
        // A frame, or a skippable one (0x184D2A50 to 0x184D2A5F), with which some writers begin.
        if (startsWith(head, 0x28, 0xb5, 0x2f, 0xfd)
                || head.length > 3 && (head[0] & 0xF0) == 0x50 && head[1] == 0x2a && head[2] == 0x4d
                && head[3] == 0x18) {
            return ZSTD;
        }
        if (startsWith(head, 'B', 'Z', 'h') || startsWith(head, 0xfd, '7', 'z', 'X', 'Z', 0)) {
            throw new MalformedStoreException(shard, 0, "a tar compressed by " + (head[0] == 'B' ? "bzip2" : "xz"),
                    "a plain tar, gzip or zstd");
        }
        return NONE;
    }

    private static boolean startsWith(byte[] head, int... bytes) {
        if (head.length < bytes.length) {
            return false;
        }
        for (int i = 0; i < bytes.length; i++) {
            if ((head[i] & 0xFF) != bytes[i]) {
                return false;
            }
        }
        return true;
    }

    /** What a shard of that many bytes may decode to. */
    long maxDecodedBytes(long bytes) {
        return this == NONE ? bytes
                : Math.max(FREE_DECODED_BYTES, Math.min(bytes, Long.MAX_VALUE / MAX_RATIO) * MAX_RATIO);
    }

    /** The tar's bytes. */
    TarSource open(Path shard) throws IOException {
        return this == NONE ? new TarSource.OfFile(shard) : new TarSource.OfStream(decode(shard));
    }

    /** The tar's bytes, decoded; what is malformed is said with the shard's name. */
    InputStream decode(Path shard) throws IOException {
        FileChannel channel = FileChannel.open(shard, StandardOpenOption.READ);
        try {
            InputStream packed = Channels.newInputStream(channel);
            InputStream in = this == GZIP ? Gzip.open(packed) : Zstd.open(packed);
            return new Decoded(shard, in, maxDecodedBytes(channel.size()));
        } catch (IOException e) {
            channel.close();
            throw named(shard, e);
        }
    }

    private static IOException named(Path shard, IOException e) {
        return e instanceof MissingLibraryException ? e
                : new MalformedStoreException(shard, "compressed data that is cut or malformed (" + e.getMessage()
                        + ")", "whole compressed data");
    }

    /** Names the shard in errors, and ends what decodes without end. */
    private static final class Decoded extends InputStream {

        private final Path shard;
        private final InputStream in;
        private final long maxBytes;
        private long bytes;

        Decoded(Path shard, InputStream in, long maxBytes) {
            this.shard = shard;
            this.in = in;
            this.maxBytes = maxBytes;
        }

        @Override
        public int read() throws IOException {
            byte[] single = new byte[1];
            return read(single, 0, 1) < 0 ? -1 : single[0] & 0xFF;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            int read;
            try {
                read = in.read(target, offset, length);
            } catch (IOException e) {
                throw named(shard, e);
            }
            bytes += Math.max(0, read);
            if (bytes > maxBytes) {
                throw new MalformedStoreException(shard, "decodes to more than " + maxBytes + " bytes",
                        "at most 256 MiB, or " + MAX_RATIO + " times its size");
            }
            return read;
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }
}
