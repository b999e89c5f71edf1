// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Where a benchmark's batches come from, one at a time, without an end. */
interface Feed extends AutoCloseable {

    /**
     * Takes the next batch.
     *
     * @return its samples
     */
    int take() throws IOException;

    /** All bytes of the batch that was taken. */
    MemorySegment bytes();

    /** Gives the batch back. */
    void release();

    /** Batches that may be in memory at a time. */
    int slots();

    @Override
    void close();
}
