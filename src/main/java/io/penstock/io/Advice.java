package io.penstock.io;

/** What the OS may be told about a range of a mapped file; see {@link MappedFile#advise}. */
public enum Advice {
    /** Pages will be read in no order: no read-ahead. */
    RANDOM(1, 1),
    /** Pages will be read in order: read far ahead. */
    SEQUENTIAL(2, 2),
    /** Pages will be read soon: begin reading them now, without waiting. */
    WILL_NEED(3, 3),
    /** Pages will not be read soon: this mapping's pages may be dropped. */
    DONT_NEED(4, 4),
    /**
     * Read the pages and map them before returning, so that no later access faults (Linux 5.14 and later). A range
     * beyond the end of the file is reported, where touching it would be a fault.
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
