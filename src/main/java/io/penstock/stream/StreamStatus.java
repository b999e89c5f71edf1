// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import java.util.List;

/**
 * How a stream does: how far it is behind its source, and why readers have waited for it.
 *
 * @param partitions those that are read here, as of the last second; empty before a loader is open
 * @param rereadRecords records that a run that resumed has read again
 * @param emptyNanos how long readers have waited for a source that had nothing, of all threads together
 * @param slowNanos how long they have waited for a source that had more than was read
 */
public record StreamStatus(List<Partition> partitions, long rereadRecords, long emptyNanos, long slowNanos) {

    /**
     * A partition.
     *
     * @param name its name
     * @param lag what is known of it
     */
    public record Partition(String name, PartitionReader.Lag lag) { }
}
