// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.lmdb;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Span;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Walks a database's tree once, checks every node, and creates the {@link LmdbIndex}. */
final class TreeWalk {

    /** The most named databases. */
    private static final int MAX_NAMES = 1 << 16;

    private final Pages pages;
    private final Tree tree;
    private final PageSet seen;
    private final Map<String, Tree> names = new LinkedHashMap<>();
    private final Span value = new Span();

    private int runs;
    private long[] pageOf = new long[16];
    private long[] firstOf = new long[17];
    /** Null while all runs are whole pages. */
    private long @Nullable [] ownerOf;

    private long keys;
    private long valueBytes;
    private long maxKeyBytes;
    private long maxValueBytes;

    private TreeWalk(Pages pages, Tree tree, PageSet seen) {
        this.pages = pages;
        this.tree = tree;
        this.seen = seen;
    }

    /**
     * Walks a database. {@code seen} has the pages of other trees, and receives this tree's. Only the main database may
     * have names.
     */
    static LmdbIndex index(Pages pages, Tree tree, String what, boolean mayHaveNames, PageSet seen) {
        TreeWalk walk = new TreeWalk(pages, tree, seen);
        walk.walk(tree, what, -1, mayHaveNames && !tree.isDupSort());
        long entries = walk.records() + walk.names.size();
        // The library counts a key's empty value also where its second value has replaced it.
        if (tree.isDupSort() ? Long.compareUnsigned(entries, tree.entries()) > 0 : entries != tree.entries()) {
            throw new MalformedStoreException(pages.file().location(), entries + " entries in " + what,
                    Long.toUnsignedString(tree.entries()) + ", as its record says");
        }
        return new LmdbIndex(pages, tree, new KeySearch(pages, tree), walk.names, walk.runs, walk.pageOf,
                walk.firstOf, walk.ownerOf, new LmdbIndex.Counts(walk.keys, walk.valueBytes, walk.maxKeyBytes,
                        walk.maxValueBytes));
    }

    private long records() {
        return firstOf[runs];
    }

    private void walk(Tree walked, String what, long owner, boolean mayHaveNames) {
        if (walked.isEmpty() ? walked.depth() != 0 : walked.depth() == 0 || walked.depth() > Tree.MAX_DEPTH) {
            throw new MalformedStoreException(pages.file().location(), what + " with root page "
                    + Long.toUnsignedString(walked.root()) + " and depth " + walked.depth(),
                    "a root and a depth of 1 to " + Tree.MAX_DEPTH + ", or none and 0");
        }
        if (!walked.isEmpty()) {
            walk(walked.root(), walked.depth(), owner, mayHaveNames);
        }
    }

    private void walk(long number, int levels, long owner, boolean mayHaveNames) {
        if (levels > 1) {
            long page = pages.page(number, Pages.BRANCH);
            see(number, page);
            long end = pages.end(page);
            int nodes = pages.nodes(page, end);
            for (int i = 0; i < nodes; i++) {
                walk(pages.child(pages.node(page, end, i)), levels - 1, owner, mayHaveNames);
            }
        } else if (owner < 0) {
            long page = pages.page(number, Pages.LEAF);
            see(number, page);
            leaf(number, page, mayHaveNames);
        } else {
            long page = pages.leafOfValues(number);
            see(number, page);
            int values = pages.nodes(page, pages.end(page));
            countValues(page, pages.end(page), values);
            add(number, owner, values);
        }
    }

    private void see(long number, long from) {
        if (!seen.add(number)) {
            throw pages.malformed(from, "page " + number + " a second time", "each page in one place of one tree");
        }
    }

    private void leaf(long number, long page, boolean mayHaveNames) {
        long end = pages.end(page);
        int nodes = pages.nodes(page, end);
        int from = 0;
        long records = 0;
        for (int i = 0; i < nodes; i++) {
            long node = pages.node(page, end, i);
            int flags = pages.nodeFlags(node);
            boolean isTree = (flags & Pages.SUB_DATA) != 0;
            boolean hasValues = (flags & Pages.DUP_DATA) != 0;
            if (isTree ? hasValues != tree.isDupSort() || !hasValues && !mayHaveNames
                    : hasValues && !tree.isDupSort()) {
                throw pages.malformed(node + 4, "node flags 0x" + Integer.toHexString(flags), tree.isDupSort()
                        ? "a value, or several" : mayHaveNames ? "a value, or a database" : "a value");
            }
            if (isTree) {
                add(number, ~from, records);
                from = i + 1;
                records = 0;
                if (hasValues) {
                    countKey(node);
                    values(node, end);
                } else {
                    addName(node, end);
                }
            } else {
                countKey(node);
                records += hasValues ? valuesWithin(node, end) : countValue(node, end);
            }
        }
        add(number, ~from, records);
    }

    private void countKey(long node) {
        keys++;
        maxKeyBytes = Math.max(maxKeyBytes, pages.keyBytes(node));
    }

    private int countValue(long node, long end) {
        if ((pages.nodeFlags(node) & Pages.BIG_DATA) != 0) {
            long first = pages.overflow(node, end);
            for (long i = pages.overflowPages(node) - 1; i >= 0; i--) {
                see(first + i, node);
            }
        } else {
            pages.checkData(node, end);
        }
        countValue(pages.dataBytes(node));
        return 1;
    }

    private int valuesWithin(long node, long end) {
        int values = pages.valuesWithin(node, end);
        long page = pages.data(node);
        countValues(page, page + pages.dataBytes(node), values);
        return values;
    }

    private void values(long node, long end) {
        Tree values = pages.tree(node, end);
        long before = records();
        walk(values, "the values of a key", node, false);
        if (records() - before != values.entries()) {
            throw pages.malformed(pages.data(node), (records() - before) + " values of a key",
                    Long.toUnsignedString(values.entries()) + ", as the record of their tree says");
        }
    }

    private void countValues(long page, long end, int values) {
        for (int i = 0; i < values; i++) {
            pages.item(page, end, i, value);
            countValue(value.byteSize());
        }
    }

    private void countValue(long bytes) {
        valueBytes += bytes;
        maxValueBytes = Math.max(maxValueBytes, bytes);
    }

    private void addName(long node, long end) {
        Tree named = pages.tree(node, end);
        String name = KeyText.of(pages.bytes(), pages.key(node), pages.keyBytes(node));
        if (names.size() == MAX_NAMES || names.put(name, named) != null) {
            throw pages.malformed(node, "the database " + name + " a second time, or one too many",
                    "at most " + MAX_NAMES + ", of different names");
        }
    }

    private void add(long number, long owner, long records) {
        if (records == 0) {
            return;
        }
        if (runs == pageOf.length) {
            int capacity = Math.addExact(runs, runs >> 1);
            pageOf = Arrays.copyOf(pageOf, capacity);
            firstOf = Arrays.copyOf(firstOf, capacity + 1);
            ownerOf = ownerOf == null ? null : Arrays.copyOf(ownerOf, capacity);
        }
        if (owner != ~0 && ownerOf == null) {
            long[] owners = new long[pageOf.length];
            Arrays.fill(owners, 0, runs, ~0);
            ownerOf = owners;
        }
        pageOf[runs] = number;
        if (ownerOf != null) {
            ownerOf[runs] = owner;
        }
        firstOf[runs + 1] = firstOf[runs] + records;
        runs++;
    }
}
