// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import java.util.Map;

/**
 * How a stream does: how far it is behind its source, and why readers have waited for it.
 *
 * @param partitions what is known of those that are read here, by name, as of the last second; empty before a loader is
 *     open
 * @param rereadRecords records that a run that resumed has read again
 * @param emptyNanos how long readers have waited for a source that had nothing, of all threads together
 * @param slowNanos how long they have waited for a source that had more than was read
 */
public record StreamStatus(Map<String, PartitionReader.Lag> partitions, long rereadRecords, long emptyNanos,
        long slowNanos) { }
