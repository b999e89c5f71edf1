// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.collate.Collator;
import io.penstock.dataset.Dataset;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An open store or stream, its samples, and the collator of their batches.
 *
 * @param path its name on the command line
 * @param kind its format
 * @param closer closes the store and everything opened on it
 * @param windowTokens the input tokens of a sample, padding included; 0 if samples are not of tokens
 * @param maxLength variable-length fields are truncated to this many elements
 * @param sizes the number of samples of each store
 * @param blockStarts the first sample of each block of neighboring samples, then the size; empty if there are no blocks
 * @param cut how samples are cut out of the store, as JSON writers take it
 * @param text the same for people, for example {@code 80 windows of 128+1 tokens}
 */
record SampleSource(String path, String kind, Runnable closer, Dataset dataset, Collator collator, long windowTokens,
        long maxLength, List<Long> sizes, long[] blockStarts, Map<String, @Nullable Object> cut, String text)
        implements AutoCloseable {

    static final long[] NO_BLOCKS = {};

    /** The same samples with other fields. */
    SampleSource with(Dataset other, Map<String, @Nullable Object> otherCut, String otherText) {
        return new SampleSource(path, kind, closer, other, collator, windowTokens, maxLength, sizes, blockStarts,
                otherCut, otherText);
    }

    @Override
    public void close() {
        closer.run();
    }
}
