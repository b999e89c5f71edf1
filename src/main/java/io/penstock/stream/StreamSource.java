// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import java.io.IOException;
import java.util.List;

/**
 * Records that are read in order and have no index: the lines of files that grow, a topic, a table, a pipe. They come
 * in partitions, each an ordered list that is read from a cursor.
 *
 * <p>An implementation has no threads and no state but what it is opened with: {@link StreamDataset} reads it on one
 * thread of its own, and saves the cursors with the loader's state.
 *
 * {@snippet :
 * try (StreamDataset records = StreamDataset.builder(LineSource.of(Path.of("feed.jsonl"))).field("json").open();
 *         DataLoader loader = DataLoader.builder(records).batchSize(32).collator(new StackAndPad(4096)).open()) {
 *     for (Batch batch : loader.epoch()) {
 *         try (batch) {
 *             step(batch.tensor("json"));
 *         }
 *     }
 * }
 * }
 */
public interface StreamSource {

    /** {@return a text that identifies the source, such as the names of files; states of another source are refused} */
    String fingerprint();

    /** {@return the names of the partitions, at least one; they are unique, and are read by turns in this order} */
    List<String> partitions();

    /**
     * Opens a partition.
     *
     * @param partition its position in {@link #partitions}
     * @param cursor where to begin: what {@link PartitionReader#cursor} gave; empty for the partition's start
     * @return the reader, which the caller closes
     * @throws IOException if the partition cannot be read, or no longer has what the cursor stands for; names it, and
     *     says what was found and expected
     */
    PartitionReader open(int partition, String cursor) throws IOException;
}
