package io.penstock.cli;

import io.penstock.collate.Collator;
import io.penstock.dataset.Dataset;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A store that is open, seen as samples, and how they become batches.
 *
 * @param path where it is
 * @param kind its format
 * @param closer closes the store and what was made of it
 * @param dataset its samples
 * @param collator what makes batches of them
 * @param windowTokens the input tokens of a sample, padding included; 0 if samples are not of tokens
 * @param maxLength the most elements of a field of varying length that are kept
 * @param sizes the samples of each store, one behind the other
 * @param blockStarts where runs of samples begin that lie together, and the size; null where the store has none
 * @param cut how samples are cut out of the store, as JSON writers take it
 * @param text the same for people, for example {@code 80 windows of 128+1 tokens}
 */
record SampleSource(Path path, String kind, Runnable closer, Dataset dataset, Collator collator, long windowTokens,
        long maxLength, List<Long> sizes, long[] blockStarts, Map<String, Object> cut, String text)
        implements AutoCloseable {

    @Override
    public void close() {
        closer.run();
    }
}
