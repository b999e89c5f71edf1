// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.table;

import io.penstock.io.MappedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntFunction;
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

    private final AtomicReferenceArray<@Nullable B> blocks;
    private final Object[] locks = new Object[STRIPES];
    private final IntFunction<MappedFile> files;
    private final Decoder<B> decoder;

    /** Creates blocks of which none is decoded; {@code files} has the file of each. */
    public DecodedOnce(int count, IntFunction<MappedFile> files, Decoder<B> decoder) {
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
                MappedFile file = files.apply(block);
                try {
                    found = file.reading(() -> decoder.decode(block));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                } catch (OutOfMemoryError e) {
                    throw new UncheckedIOException(new IOException(file.location() + ": no memory for the rows that are"
                            + " decoded together", e));
                }
                file.checkUnchanged();
                blocks.setRelease(block, found);
            }
            return found;
        }
    }
}
