// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.table;

import io.penstock.io.MappedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Blocks of rows, each decoded once by the first thread that needs it. Thread-safe; a thread waits only for another
 * that decodes the same block or one that shares its lock.
 *
 * @param <B> where a decoded block is
 */
public final class DecodedOnce<B> {

    private static final int STRIPES = 64;

    @FunctionalInterface
    public interface Decoder<B> {

        /** Several threads may call this at once, for different blocks. An error names the file. */
        B decode(int block) throws IOException;
    }

    /** The file of each block. */
    @FunctionalInterface
    public interface Files {

        /** Returns a file that is open until it is released. */
        MappedFile acquire(int block);

        /** Is called when the block's file is not needed any more. */
        default void release(int block) {
        }
    }

    private final AtomicReferenceArray<@Nullable B> blocks;
    private final Object[] locks = new Object[STRIPES];
    private final Files files;
    private final Decoder<B> decoder;

    /** Creates blocks of which none is decoded. */
    public DecodedOnce(int count, Files files, Decoder<B> decoder) {
        this.blocks = new AtomicReferenceArray<>(count);
        this.files = files;
        this.decoder = decoder;
        Arrays.setAll(locks, _ -> new Object());
    }

    /** Returns a block, decoding it if needed. An error names the file; later calls fail too. */
    public B get(int block) {
        B found = blocks.getAcquire(block);
        return found != null ? found : decode(block);
    }

    private B decode(int block) {
        synchronized (locks[block % STRIPES]) {
            B found = blocks.getAcquire(block);
            if (found == null) {
                MappedFile file = files.acquire(block);
                try {
                    found = file.reading(() -> decoder.decode(block));
                    file.checkUnchanged();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                } catch (OutOfMemoryError e) {
                    throw new UncheckedIOException(new IOException(file.location() + ": no memory for the rows that are"
                            + " decoded together", e));
                } finally {
                    files.release(block);
                }
                blocks.setRelease(block, found);
            }
            return found;
        }
    }
}
