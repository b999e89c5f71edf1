package io.penstock.store.lmdb;

import io.penstock.memory.Span;
import io.penstock.store.MalformedStoreException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Where the records of a database are, by position, which its B+tree does not say: for each leaf page the number of the
 * page and of its first record. It is made by one walk over the tree, which checks every node of it.
 *
 * <p>A <i>run</i> is a part of a leaf page with records one behind the other. As a rule it is the whole page. A page
 * of a database with several values a key (DUPSORT) is cut where the values of a key have a tree of their own: there,
 * each leaf of that tree is a run. A page of the main database is cut where it names other databases.
 */
final class LmdbIndex {

    /** Names of databases that an environment may have. */
    private static final int MAX_NAMES = 1 << 16;

    private final Pages pages;
    private final Tree tree;
    private final KeySearch search;
    private final Map<String, Tree> names = new LinkedHashMap<>();

    private int runs;
    private long[] pageOf = new long[16];
    /** The position of the first record of each run, and one more: the number of records. */
    private long[] firstOf = new long[17];
    /**
     * Of each run: if it is a leaf of a key's values, the node of the key; otherwise the complement of the index of its
     * first node. Null as long as all runs are whole pages.
     */
    private long[] ownerOf;

    private long keys;
    private long valueBytes;
    private long maxKeyBytes;
    private long maxValueBytes;

    /** The walk's; null after it. */
    private PageSet seen;

    private LmdbIndex(Pages pages, Tree tree, PageSet seen) {
        this.pages = pages;
        this.tree = tree;
        this.search = new KeySearch(pages, tree);
        this.seen = seen;
    }

    /**
     * Walks a database.
     *
     * @param what the database, for messages
     * @param mayHaveNames whether it is the main one, whose records may be databases
     * @param seen the pages that belong to other trees; this tree's are added
     */
    static LmdbIndex of(Pages pages, Tree tree, String what, boolean mayHaveNames, PageSet seen)
            throws MalformedStoreException {
        LmdbIndex index = new LmdbIndex(pages, tree, seen);
        index.walk(tree, what, -1, mayHaveNames && !tree.isDupSort());
        long entries = index.size() + index.names.size();
        if (entries != tree.entries()) {
            throw new MalformedStoreException(pages.file().path(), entries + " entries in " + what,
                    Long.toUnsignedString(tree.entries()) + ", as its record says");
        }
        index.seen = null;
        return index;
    }

    private void walk(Tree walked, String what, long owner, boolean mayHaveNames) throws MalformedStoreException {
        if (walked.isEmpty() ? walked.depth() != 0 : walked.depth() == 0 || walked.depth() > Tree.MAX_DEPTH) {
            throw new MalformedStoreException(pages.file().path(), what + " with root page "
                    + Long.toUnsignedString(walked.root()) + " and depth " + walked.depth(),
                    "a root and a depth of 1 to " + Tree.MAX_DEPTH + ", or none and 0");
        }
        if (!walked.isEmpty()) {
            walk(walked.root(), walked.depth(), owner, mayHaveNames);
        }
    }

    private void walk(long number, int levels, long owner, boolean mayHaveNames) throws MalformedStoreException {
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

    private void see(long number, long from) throws MalformedStoreException {
        if (!seen.add(number)) {
            throw pages.malformed(from, "page " + number + " a second time", "each page in one place of one tree");
        }
    }

    private void leaf(long number, long page, boolean mayHaveNames) throws MalformedStoreException {
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

    private int countValue(long node, long end) throws MalformedStoreException {
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

    private int valuesWithin(long node, long end) throws MalformedStoreException {
        int values = pages.valuesWithin(node, end);
        long page = pages.data(node);
        countValues(page, page + pages.dataBytes(node), values);
        return values;
    }

    private void values(long node, long end) throws MalformedStoreException {
        Tree values = pages.tree(node, end);
        long before = size();
        walk(values, "the values of a key", node, false);
        if (size() - before != values.entries()) {
            throw pages.malformed(pages.data(node), (size() - before) + " values of a key",
                    Long.toUnsignedString(values.entries()) + ", as the record of their tree says");
        }
    }

    private void countValues(long page, long end, int values) throws MalformedStoreException {
        Span value = new Span();
        for (int i = 0; i < values; i++) {
            pages.item(page, end, i, value);
            countValue(value.byteSize());
        }
    }

    private void countValue(long bytes) {
        valueBytes += bytes;
        maxValueBytes = Math.max(maxValueBytes, bytes);
    }

    private void addName(long node, long end) throws MalformedStoreException {
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
            ownerOf = new long[pageOf.length];
            Arrays.fill(ownerOf, 0, runs, ~0);
        }
        pageOf[runs] = number;
        if (ownerOf != null) {
            ownerOf[runs] = owner;
        }
        firstOf[runs + 1] = firstOf[runs] + records;
        runs++;
    }

    Tree tree() {
        return tree;
    }

    /** The databases that the main one names, by their names, in the order of their keys. */
    Map<String, Tree> names() {
        return names;
    }

    /** The number of records: pairs of a key and one of its values. */
    long size() {
        return firstOf[runs];
    }

    long keys() {
        return keys;
    }

    long valueBytes() {
        return valueBytes;
    }

    long maxKeyBytes() {
        return maxKeyBytes;
    }

    long maxValueBytes() {
        return maxValueBytes;
    }

    /** Points at the key of a record. */
    void key(long record, Span into) throws MalformedStoreException {
        int run = run(record);
        long owner = owner(run);
        long node = owner >= 0 ? owner : node(run, record - firstOf[run], null);
        into.set(pages.file(), pages.key(node), pages.keyBytes(node));
    }

    /** Points at the value of a record. */
    void value(long record, Span into) throws MalformedStoreException {
        int run = run(record);
        if (owner(run) >= 0) {
            long page = pages.leafOfValues(pageOf[run]);
            pages.item(page, pages.end(page), (int) (record - firstOf[run]), into);
        } else {
            node(run, record - firstOf[run], into);
        }
    }

    /** Checks what a pass over all values can check beyond what {@link #of} has. */
    void checkValue(long record) throws MalformedStoreException {
        int run = run(record);
        if (owner(run) < 0) {
            long node = node(run, record - firstOf[run], null);
            if ((pages.nodeFlags(node) & Pages.BIG_DATA) != 0) {
                pages.checkOverflow(node, pages.end(pages.page(pageOf[run], Pages.LEAF)));
            }
        }
    }

    /** The node of a record in a run of nodes; points at its value if {@code into} is not null. */
    private long node(int run, long record, Span into) throws MalformedStoreException {
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

    /** A node of a page that may have been overwritten since the walk. */
    private long checkedNode(long page, long end, int index) throws MalformedStoreException {
        int nodes = pages.nodes(page, end);
        if (index >= nodes) {
            throw pages.malformed(page, nodes + " nodes", "more than " + index + " (was it written since?)");
        }
        return pages.node(page, end, index);
    }

    private long owner(int run) {
        return ownerOf == null ? ~0 : ownerOf[run];
    }

    private int run(long record) {
        int at = Arrays.binarySearch(firstOf, 0, runs, record);
        return at >= 0 ? at : -at - 2;
    }

    /**
     * Points at the first value of a key, found from the tree's root.
     *
     * @return false if there is no such key
     */
    boolean value(MemorySegment key, Span into) throws MalformedStoreException {
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

    private void firstValue(Tree values, Span into) throws MalformedStoreException {
        long number = values.root();
        for (int level = 1; level < values.depth(); level++) {
            long page = pages.page(number, Pages.BRANCH);
            number = pages.child(checkedNode(page, pages.end(page), 0));
        }
        long leaf = pages.leafOfValues(number);
        pages.item(leaf, pages.end(leaf), 0, into);
    }

    /**
     * The position of the first record of a key, found by the first keys of the runs.
     *
     * @return -1 if there is no such key
     */
    long find(MemorySegment key) throws MalformedStoreException {
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

    private long firstNode(int run) throws MalformedStoreException {
        long owner = owner(run);
        if (owner >= 0) {
            return owner;
        }
        long page = pages.page(pageOf[run], Pages.LEAF);
        return checkedNode(page, pages.end(page), (int) ~owner);
    }

    private long findWithin(int run, MemorySegment key) throws MalformedStoreException {
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
