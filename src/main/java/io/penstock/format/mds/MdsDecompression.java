package io.penstock.format.mds;

import io.penstock.codec.MissingLibraryException;
import io.penstock.codec.decoder.Gzip;
import io.penstock.codec.decoder.Zstd;
import io.penstock.io.MalformedStoreException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.NoSuchFileException;

/** Decodes the compressed files of shards as a stream, for their mapping could shrink under a decoder. */
final class MdsDecompression {

    private static final int BUFFER_BYTES = 1 << 17;

    private MdsDecompression() {
    }

    /** The algorithm without its level; refuses those that are not read. */
    static String algorithm(MdsIndex index, MdsShard shard) throws MalformedStoreException {
        String compression = shard.compression();
        int colon = compression.indexOf(':');
        String algorithm = colon < 0 ? compression : compression.substring(0, colon);
        if (!algorithm.equals("zstd") && !algorithm.equals("gz")) {
            throw new MalformedStoreException(index.file(), "shards compressed by '" + algorithm + "'",
                    "zstd or gz (or the shards as they were before, beside the compressed ones)");
        }
        return algorithm;
    }

    private static InputStream open(MdsShard shard, String algorithm) throws IOException {
        InputStream packed = shard.zip().path().newInputStream();
        try {
            return algorithm.equals("gz") ? Gzip.open(packed) : Zstd.open(packed);
        } catch (Throwable t) {
            packed.close();
            throw t;
        }
    }

    /** Fails if the library that it takes is missing, or the file does not begin as the algorithm's do. */
    static void check(MdsShard shard, String algorithm) throws IOException {
        try (InputStream in = open(shard, algorithm)) {
            in.read();
        } catch (MissingLibraryException e) {
            throw e;
        } catch (IOException e) {
            throw named(shard, algorithm, e);
        }
    }

    /** Decodes a shard into memory of exactly its size. */
    static void decode(MdsShard shard, String algorithm, MemorySegment target) throws IOException {
        byte[] chunk = new byte[BUFFER_BYTES];
        long done = 0;
        try (InputStream in = open(shard, algorithm)) {
            for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
                if (read > target.byteSize() - done) {
                    done = Long.MAX_VALUE;
                    break;
                }
                MemorySegment.copy(chunk, 0, target, ValueLayout.JAVA_BYTE, done, read);
                done += read;
            }
        } catch (MissingLibraryException e) {
            throw e;
        } catch (IOException e) {
            throw named(shard, algorithm, e);
        }
        if (done != target.byteSize()) {
            throw new MalformedStoreException(shard.zip().path(), (done == Long.MAX_VALUE ? "more" : done + " bytes")
                    + " after decompression", target.byteSize() + " bytes, as the index has it");
        }
    }

    private static IOException named(MdsShard shard, String algorithm, IOException e) {
        return e instanceof NoSuchFileException ? e : new MalformedStoreException(shard.zip().path(),
                "what is no " + algorithm + " (" + (e.getMessage() == null ? e.getClass().getSimpleName()
                        : e.getMessage()) + ")", "whole " + algorithm + " data");
    }
}
