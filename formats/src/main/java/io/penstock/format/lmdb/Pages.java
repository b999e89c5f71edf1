// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.lmdb;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * The pages of an environment and their nodes. Each call checks that what it reads is within the page and the file.
 * Pages and nodes are offsets in the file.
 *
 * <pre>{@code
 * page    0 u64 its number   8 u16 item bytes (LEAF2)   10 u16 flags
 *        12 u16 end of the pointers   14 u16 start of the nodes
 *        16 u16 a pointer a node, from the page's start; of a LEAF2 page: the items themselves
 *        (of an overflow page: 12 u32 pages, 16 the value)
 * node    0 u32 bytes of the value   4 u16 flags   6 u16 bytes of the key   8 the key, then the value
 *        (of a branch page: 0 u48 page)
 * }</pre>
 *
 * <p>A value is in the node. With BIGDATA, the node has the number of the value's first overflow page. With DUPDATA,
 * the key has several values, in a small page within the node or, with SUBDATA too, in their own tree. SUBDATA alone is
 * a named database.
 */
final class Pages {

    static final int HEADER_BYTES = 16;
    static final int FLAGS = 10;

    static final int BRANCH = 0x01;
    static final int LEAF = 0x02;
    static final int META = 0x08;
    private static final int LEAF2 = 0x20;
    private static final int SUB_PAGE = 0x40;
    private static final int OVERFLOW = 0x04;

    private static final int KINDS = BRANCH | LEAF | OVERFLOW | META | LEAF2 | SUB_PAGE;

    static final int BIG_DATA = 0x01;
    static final int SUB_DATA = 0x02;
    static final int DUP_DATA = 0x04;

    private static final int NODE_BYTES = 8;
    private static final int META_PAGES = 2;

    private final MappedFile file;
    private final MemorySegment bytes;
    private final int pageBytes;
    private final long lastPage;
    private final long filePages;

    Pages(MappedFile file, Meta meta) {
        this.file = file;
        this.bytes = file.segment();
        this.pageBytes = meta.pageBytes();
        this.lastPage = meta.lastPage();
        this.filePages = file.byteSize() / pageBytes;
        if (lastPage < 1 || lastPage > Long.MAX_VALUE / pageBytes - 1) {
            throw new MalformedStoreException(file.location(), "page " + Long.toUnsignedString(lastPage)
                    + " as the last one in use", "at least 1, and within 2^63 bytes");
        }
    }

    MappedFile file() {
        return file;
    }

    MemorySegment bytes() {
        return bytes;
    }

    long count() {
        return Math.min(lastPage + 1, filePages);
    }

    /** Tells whether the file ends before its last page. That is legal: unwritten pages may have been freed. */
    boolean isCut() {
        return filePages <= lastPage;
    }

    long end(long page) {
        return page + pageBytes;
    }

    /** Returns the page of a number and checks that it is a {@link #BRANCH} or a {@link #LEAF}. */
    long page(long number, int kind) {
        return page(number, kind, KINDS);
    }

    /** Returns a leaf page in the tree of a key's values; it may have items instead of nodes. */
    long leafOfValues(long number) {
        return page(number, LEAF, KINDS & ~LEAF2);
    }

    private long page(long number, int kind, int mask) {
        checkRange(number, 1);
        long page = number * pageBytes;
        long stored = bytes.get(LittleEndian.I64, page);
        int flags = flags(page);
        if (stored != number || (flags & mask) != kind) {
            throw malformed(page, "page " + Long.toUnsignedString(stored) + " with flags 0x"
                    + Integer.toHexString(flags), "page " + number + ", " + (kind == LEAF ? "a leaf" : "a branch"));
        }
        return page;
    }

    private void checkRange(long number, long pages) {
        if (number < META_PAGES || number > lastPage || pages > lastPage + 1 - number) {
            throw new MalformedStoreException(file.location(), pages + " pages from page "
                    + Long.toUnsignedString(number), "pages 2 to " + lastPage);
        }
        if (pages > filePages - number) {
            throw malformed(file.byteSize(), "the file ends, but page " + (number + pages - 1) + " of " + pageBytes
                    + " bytes is in use", (lastPage + 1) * pageBytes + " bytes (is it cut?)");
        }
    }

    private int flags(long page) {
        return u16(page + FLAGS);
    }

    int nodes(long page, long end) {
        int pointersEnd = u16(page + 12);
        int nodes = pointersEnd - HEADER_BYTES >> 1;
        long needed = hasItems(page) ? (long) nodes * itemBytes(page) : 2L * nodes;
        if (nodes < 0 || needed > end - page - HEADER_BYTES) {
            throw malformed(page + 12, "pointers that end at byte " + pointersEnd + " of their page",
                    "at least 16, and within the page's " + (end - page) + " bytes");
        }
        return nodes;
    }

    /** Tells whether a page has items of one size instead of nodes. */
    private boolean hasItems(long page) {
        return (flags(page) & LEAF2) != 0;
    }

    private int itemBytes(long page) {
        return u16(page + 8);
    }

    long node(long page, long end, int index) {
        int pointer = u16(page + HEADER_BYTES + 2L * index);
        long node = page + pointer;
        if (pointer < HEADER_BYTES || end - node < NODE_BYTES || end - node - NODE_BYTES < keyBytes(node)) {
            throw malformed(page + HEADER_BYTES + 2L * index, "node " + index + " at byte " + pointer
                    + " of its page", "header and key within the page's " + (end - page) + " bytes");
        }
        return node;
    }

    int nodeFlags(long node) {
        return u16(node + 4);
    }

    int keyBytes(long node) {
        return u16(node + 6);
    }

    long key(long node) {
        return node + NODE_BYTES;
    }

    long data(long node) {
        return node + NODE_BYTES + keyBytes(node);
    }

    /** Returns the size of a leaf's value, wherever it is. */
    long dataBytes(long node) {
        return bytes.get(LittleEndian.I32, node) & 0xFFFF_FFFFL;
    }

    /** Returns the number of the page that a branch's node points to. */
    long child(long node) {
        return bytes.get(LittleEndian.I32, node) & 0xFFFF_FFFFL | (long) nodeFlags(node) << 32;
    }

    void value(long node, long end, Span into) {
        if ((nodeFlags(node) & BIG_DATA) != 0) {
            into.set(file, overflow(node, end) * pageBytes + HEADER_BYTES, dataBytes(node));
        } else {
            checkData(node, end);
            into.set(file, data(node), dataBytes(node));
        }
    }

    void checkData(long node, long end) {
        if (dataBytes(node) > end - data(node)) {
            throw malformed(node, "a value of " + dataBytes(node) + " bytes", "at most the "
                    + (end - data(node)) + " that are left of its page");
        }
    }

    /** Returns the first overflow page of a node's value; all of them are within the file. */
    long overflow(long node, long end) {
        if (end - data(node) < Long.BYTES) {
            throw malformed(node, "a page number beyond the end of the page", "8 bytes");
        }
        long first = bytes.get(LittleEndian.I64, data(node));
        checkRange(first, overflowPages(node));
        return first;
    }

    /** Returns the number of overflow pages of a node's value. */
    long overflowPages(long node) {
        return (HEADER_BYTES - 1 + dataBytes(node)) / pageBytes + 1;
    }

    /** Checks the header of the first overflow page; only verification reads it. */
    void checkOverflow(long node, long end) {
        long page = overflow(node, end) * pageBytes;
        long pages = bytes.get(LittleEndian.I32, page + 12) & 0xFFFF_FFFFL;
        if ((flags(page) & OVERFLOW) == 0 || pages < overflowPages(node)) {
            throw malformed(page, "flags 0x" + Integer.toHexString(flags(page)) + ", " + pages + " pages",
                    "overflow pages for " + dataBytes(node) + " bytes");
        }
    }

    /** Returns the tree of a SUBDATA node. */
    Tree tree(long node, long end) {
        checkData(node, end);
        if (dataBytes(node) != Tree.BYTES) {
            throw malformed(node, "a tree's record of " + dataBytes(node) + " bytes", String.valueOf(Tree.BYTES));
        }
        return Tree.at(bytes, data(node));
    }

    /** Returns the number of values within a DUPDATA node; {@link #data} is their page. */
    int valuesWithin(long node, long end) {
        checkData(node, end);
        long page = data(node);
        if (dataBytes(node) < HEADER_BYTES || (flags(page) & KINDS & ~LEAF2) != (LEAF | SUB_PAGE)) {
            throw malformed(page, dataBytes(node) + " bytes that are no page of values", "a sub-page");
        }
        return nodes(page, page + dataBytes(node));
    }

    /** Locates one of several values of a key: an item of a LEAF2 page, or the key of a leaf's node. */
    void item(long page, long end, int index, Span into) {
        if (index >= nodes(page, end)) {
            throw malformed(page, nodes(page, end) + " values of a key", "more than " + index);
        }
        if (hasItems(page)) {
            into.set(file, page + HEADER_BYTES + (long) index * itemBytes(page), itemBytes(page));
        } else {
            long node = node(page, end, index);
            into.set(file, key(node), keyBytes(node));
        }
    }

    private int u16(long offset) {
        return bytes.get(LittleEndian.I16, offset) & 0xFFFF;
    }

    MalformedStoreException malformed(long offset, String found, String expected) {
        return new MalformedStoreException(file.location(), offset, found, expected);
    }
}
