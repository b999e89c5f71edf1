// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.lmdb;

import io.penstock.io.Span;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Locates the records of a database by position, which its B+tree cannot: keeps the number and the first record of each
 * leaf page. {@link TreeWalk} creates it and checks every node.
 *
 * <p>A <i>run</i> is a part of a leaf page with consecutive records, usually the whole page. In a database with several
 * values per key (DUPSORT), a page is cut where the values of a key have their own tree; each leaf of that tree is a
 * run. A page of the main database is cut at the names of other databases.
 *
 * @param names the databases that the main one names, in the order of their keys
 * @param pageOf the page of each run
 * @param firstOf the first record of each run, then the number of records
 * @param ownerOf for each run, if it is a leaf of a key's values, the node of the key; otherwise the complement of the
 *     index of its first node. Null if all runs are whole pages
 */
record LmdbIndex(Pages pages, Tree tree, KeySearch search, Map<String, Tree> names, int runs, long[] pageOf,
        long[] firstOf, long @Nullable [] ownerOf, LmdbIndex.Counts counts) {

    /** Totals of a database. */
    record Counts(long keys, long valueBytes, long maxKeyBytes, long maxValueBytes) {
    }

    /** Returns the number of records: pairs of a key and one of its values. */
    long size() {
        return firstOf[runs];
    }

    void key(long record, Span into) {
        int run = run(record);
        long owner = owner(run);
        long node = owner >= 0 ? owner : node(run, record - firstOf[run], null);
        into.set(pages.file(), pages.key(node), pages.keyBytes(node));
    }

    void value(long record, Span into) {
        int run = run(record);
        if (owner(run) >= 0) {
            long page = pages.leafOfValues(pageOf[run]);
            pages.item(page, pages.end(page), (int) (record - firstOf[run]), into);
        } else {
            node(run, record - firstOf[run], into);
        }
    }

    /** Checks the headers of a large value's pages, which the walk does not read. */
    void checkValue(long record) {
        int run = run(record);
        if (owner(run) < 0) {
            long node = node(run, record - firstOf[run], null);
            if ((pages.nodeFlags(node) & Pages.BIG_DATA) != 0) {
                pages.checkOverflow(node, pages.end(pages.page(pageOf[run], Pages.LEAF)));
            }
        }
    }

    /** Returns the node of a record in a run of nodes; locates its value if {@code into} is not null. */
    private long node(int run, long record, @Nullable Span into) {
        long page = pages.page(pageOf[run], Pages.LEAF);
        long end = pages.end(page);
        int index = (int) ~owner(run);
        if (!tree.isDupSort()) {
            long node = checkedNode(page, end, index + (int) record);
            if (into != null) {
                pages.value(node, end, into);
            }
            return node;
        }
        for (long left = record; ; index++) {
            long node = checkedNode(page, end, index);
            boolean hasValues = (pages.nodeFlags(node) & Pages.DUP_DATA) != 0;
            int values = hasValues ? pages.valuesWithin(node, end) : 1;
            if (left < values) {
                if (into != null && hasValues) {
                    pages.item(pages.data(node), pages.data(node) + pages.dataBytes(node), (int) left, into);
                } else if (into != null) {
                    pages.value(node, end, into);
                }
                return node;
            }
            left -= values;
        }
    }

    /** Returns a node of a page that may have been overwritten since the walk. */
    private long checkedNode(long page, long end, int index) {
        int nodes = pages.nodes(page, end);
        if (index >= nodes) {
            throw pages.malformed(page, nodes + " nodes", "more than " + index + " (was it written since?)");
        }
        return pages.node(page, end, index);
    }

    private long owner(int run) {
        return ownerOf == null ? ~0 : ownerOf[run];
    }

    /** Returns the run of a record. Searches from a guess, because most pages hold similar numbers of records. */
    private int run(long record) {
        int low = (int) ((double) record / size() * (runs - 1));
        int high = low + 1;
        for (int step = 1; firstOf[low] > record; step <<= 1) {
            high = low;
            low = Math.max(0, low - step);
        }
        for (int step = 1; firstOf[high] <= record; step <<= 1) {
            low = high;
            high = Math.min(runs, high + step);
        }
        while (high - low > 1) {
            int middle = low + high >>> 1;
            if (firstOf[middle] <= record) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Locates the first value of a key from the tree's root; returns false if the key does not exist. */
    boolean value(MemorySegment key, Span into) {
        long page = search.leaf(key);
        if (page < 0) {
            return false;
        }
        long end = pages.end(page);
        int nodes = pages.nodes(page, end);
        int index = search.lowerBound(page, end, 0, nodes, key, false);
        if (index == nodes || search.compare(pages.node(page, end, index), key) != 0) {
            return false;
        }
        long node = pages.node(page, end, index);
        int flags = pages.nodeFlags(node);
        if ((flags & Pages.SUB_DATA) != 0) {
            if (!tree.isDupSort()) {
                return false;
            }
            firstValue(pages.tree(node, end), into);
        } else if ((flags & Pages.DUP_DATA) != 0) {
            pages.valuesWithin(node, end);
            pages.item(pages.data(node), pages.data(node) + pages.dataBytes(node), 0, into);
        } else {
            pages.value(node, end, into);
        }
        return true;
    }

    private void firstValue(Tree values, Span into) {
        long number = values.root();
        for (int level = 1; level < values.depth(); level++) {
            long page = pages.page(number, Pages.BRANCH);
            number = pages.child(checkedNode(page, pages.end(page), 0));
        }
        long leaf = pages.leafOfValues(number);
        pages.item(leaf, pages.end(leaf), 0, into);
    }

    /** Returns the first record of a key, found by the first keys of the runs; -1 if the key does not exist. */
    long find(MemorySegment key) {
        int low = 0;
        int high = runs;
        while (low < high) {
            int middle = low + high >>> 1;
            if (search.compare(firstNode(middle), key) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low < runs && search.compare(firstNode(low), key) == 0) {
            return firstOf[low];
        }
        return low == 0 || owner(low - 1) >= 0 ? -1 : findWithin(low - 1, key);
    }

    private long firstNode(int run) {
        long owner = owner(run);
        if (owner >= 0) {
            return owner;
        }
        long page = pages.page(pageOf[run], Pages.LEAF);
        return checkedNode(page, pages.end(page), (int) ~owner);
    }

    private long findWithin(int run, MemorySegment key) {
        long page = pages.page(pageOf[run], Pages.LEAF);
        long end = pages.end(page);
        int nodes = pages.nodes(page, end);
        int from = (int) ~owner(run);
        int index = search.lowerBound(page, end, from, nodes, key, false);
        long record = firstOf[run];
        for (int i = from; i < index && record < firstOf[run + 1]; i++) {
            long node = pages.node(page, end, i);
            record += (pages.nodeFlags(node) & Pages.DUP_DATA) == 0 ? 1 : pages.valuesWithin(node, end);
        }
        return record < firstOf[run + 1] && search.compare(pages.node(page, end, index), key) == 0 ? record : -1;
    }
}
