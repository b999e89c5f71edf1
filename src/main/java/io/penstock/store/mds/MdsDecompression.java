package io.penstock.store.mds;

import io.penstock.codec.MissingLibraryException;
import io.penstock.codec.Zstd;
import io.penstock.store.MalformedStoreException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.util.zip.GZIPInputStream;

/** Decodes the compressed files of shards as a stream, for their mapping could shrink under a decoder. */
final class MdsDecompression {

    private static final int BUFFER_BYTES = 1 << 17;

    /**
     * What a compressed byte can at most stand for, generously: a block of zstd is 128 KiB and takes 4 bytes at least.
     * More is not believed, and no memory taken for it.
     */
    private static final long MAX_RATIO = 1 << 16;

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
        if (shard.raw().bytes() / MAX_RATIO > shard.zip().bytes()) {
            throw new MalformedStoreException(index.file(), shard.zip().bytes() + " bytes of " + shard.zip().name()
                    + " for " + shard.raw().bytes() + " bytes", "at most " + MAX_RATIO + " times as many");
        }
        return algorithm;
    }

    private static InputStream open(MdsShard shard, String algorithm) throws IOException {
        InputStream packed = Files.newInputStream(shard.zip().path());
        try {
            return algorithm.equals("gz") ? new GZIPInputStream(packed, BUFFER_BYTES) : Zstd.open(packed);
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
