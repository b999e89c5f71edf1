package io.penstock.format.lmdb;

import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * What the file says of one B+tree, a database or the values of one key ({@code MDB_db}, 48 bytes):
 *
 * <pre>{@code
 *  0 u32 item bytes of LEAF2 pages (of the first tree of a meta page: the page size)
 *  4 u16 flags
 *  6 u16 depth: 0 of an empty tree, 1 if the root is a leaf
 *  8 u64 branch pages
 * 16 u64 leaf pages
 * 24 u64 overflow pages
 * 32 u64 entries
 * 40 u64 root page, all ones of an empty tree
 * }</pre>
 *
 * @param flags how keys and values are ordered and stored
 * @param depth levels
 * @param overflowPages pages of values that do not fit into a leaf
 * @param entries key-value pairs
 * @param root the page number of the root; -1 if there is none
 */
record Tree(int flags, int depth, long overflowPages, long entries, long root) {

    static final int BYTES = 48;

    /** Levels that a tree can have, as the library limits them ({@code CURSOR_STACK}). */
    static final int MAX_DEPTH = 32;

    private static final int REVERSE_KEY = 0x02;
    private static final int DUP_SORT = 0x04;
    private static final int INTEGER_KEY = 0x08;
    private static final int DUP_FIXED = 0x10;
    private static final int INTEGER_DUP = 0x20;
    private static final int REVERSE_DUP = 0x40;

    static Tree at(MemorySegment bytes, long offset) {
        return new Tree(bytes.get(LittleEndian.I16, offset + 4) & 0xFFFF,
                bytes.get(LittleEndian.I16, offset + 6) & 0xFFFF,
                bytes.get(LittleEndian.I64, offset + 24),
                bytes.get(LittleEndian.I64, offset + 32),
                bytes.get(LittleEndian.I64, offset + 40));
    }

    boolean isEmpty() {
        return root == -1;
    }

    /** Whether a key has several values, sorted. */
    boolean isDupSort() {
        return (flags & DUP_SORT) != 0;
    }

    /**
     * Whether keys compare from their last byte to their first. Little-endian integers of one length do, and so do
     * reversed keys.
     */
    boolean comparesBackwards() {
        return (flags & (REVERSE_KEY | INTEGER_KEY)) != 0;
    }

    /** The flags by the names that they have in Python. */
    List<String> flagNames() {
        List<String> names = new ArrayList<>();
        addName(names, REVERSE_KEY, "reverse_key");
        addName(names, DUP_SORT, "dupsort");
        addName(names, INTEGER_KEY, "integerkey");
        addName(names, INTEGER_DUP, "integerdup");
        addName(names, DUP_FIXED, "dupfixed");
        addName(names, REVERSE_DUP, "reversedup");
        return names;
    }

    private void addName(List<String> names, int flag, String name) {
        if ((flags & flag) != 0) {
            names.add(name);
        }
    }
}
