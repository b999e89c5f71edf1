// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.lmdb;

/**
 * The pages that a walk has visited. Each page belongs to one place. A walk that visits no page twice ends after at
 * most all pages of the file, whatever the file contains.
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
