// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.table;

import io.penstock.io.MappedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Column blocks, each decoded once by the first thread that needs it. Thread-safe; a thread waits only for another that
 * decodes the same block or one that shares its lock.
 */
public final class ColumnBlocks {

    private static final int STRIPES = 64;

    @FunctionalInterface
    public interface Decoder {

        /** Several threads may call this at once, for different blocks. An error names the file. */
        ColumnBlock decode(int block) throws IOException;
    }

    private final AtomicReferenceArray<@Nullable ColumnBlock> blocks;
    private final Object[] locks = new Object[STRIPES];
    private final Decoder decoder;

    public ColumnBlocks(int count, Decoder decoder) {
        this.blocks = new AtomicReferenceArray<>(count);
        this.decoder = decoder;
        Arrays.setAll(locks, _ -> new Object());
    }

    /** Returns a block, decoding it if needed. An error names the file; later calls fail too. */
    public ColumnBlock get(int block, MappedFile file) {
        ColumnBlock found = blocks.getAcquire(block);
        return found != null ? found : decode(block, file);
    }

    private ColumnBlock decode(int block, MappedFile file) {
        synchronized (locks[block % STRIPES]) {
            ColumnBlock found = blocks.getAcquire(block);
            if (found == null) {
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
