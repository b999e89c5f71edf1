package io.penstock.format.lmdb;

/**
 * Pages that a walk has seen. Every page belongs to one place: a walk that never enters a page twice ends, and does no
 * more work than the file has pages, whatever the file says.
 */
final class PageSet {

    private final long[] words;

    PageSet(long pages) {
        words = new long[Math.toIntExact((pages + Long.SIZE - 1) / Long.SIZE)];
    }

    /** Adds a page; false if it was there. */
    boolean add(long page) {
        int word = (int) (page >>> 6);
        long bit = 1L << page;
        boolean isNew = (words[word] & bit) == 0;
        words[word] |= bit;
        return isNew;
    }
}
