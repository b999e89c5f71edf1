// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

/** Advice to the OS about a range of a mapped file; see {@link MappedFile#advise}. */
public enum Advice {
    /** Random access: no read-ahead. */
    RANDOM(1, 1),
    /** Sequential access: read far ahead. */
    SEQUENTIAL(2, 2),
    /** Start reading the pages now, without waiting. */
    WILL_NEED(3, 3),
    /** The pages are not needed soon: the OS may drop them. */
    DONT_NEED(4, 4),
    /**
     * Read and map the pages before returning, so that later accesses do not fault (Linux 5.14 and later). A range
     * beyond the end of the file returns an error instead of a fault.
     */
    POPULATE_READ(22, -1);

    /** The constant of {@code madvise(2)} on Linux. */
    final int madvise;
    /** The constant of {@code posix_fadvise(2)} on Linux, or -1. */
    final int fadvise;

    Advice(int madvise, int fadvise) {
        this.madvise = madvise;
        this.fadvise = fadvise;
    }
}
