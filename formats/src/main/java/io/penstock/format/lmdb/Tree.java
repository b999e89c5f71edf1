// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.lmdb;

import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The record of a B+tree, a database or the values of one key ({@code MDB_db}, 48 bytes):
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
 */
record Tree(int flags, int depth, long overflowPages, long entries, long root) {

    static final int BYTES = 48;

    /** The library's limit of levels ({@code CURSOR_STACK}). */
    static final int MAX_DEPTH = 32;

    private static final int REVERSE_KEY = 0x02;
    private static final int DUP_SORT = 0x04;
    private static final int INTEGER_KEY = 0x08;
    private static final int DUP_FIXED = 0x10;
    private static final int INTEGER_DUP = 0x20;
    private static final int REVERSE_DUP = 0x40;

    private record Flag(int bit, String name) {
    }

    private static final List<Flag> FLAGS = List.of(new Flag(REVERSE_KEY, "reverse_key"),
            new Flag(DUP_SORT, "dupsort"), new Flag(INTEGER_KEY, "integerkey"), new Flag(INTEGER_DUP, "integerdup"),
            new Flag(DUP_FIXED, "dupfixed"), new Flag(REVERSE_DUP, "reversedup"));

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

    /** Tells whether a key may have several values, sorted. */
    boolean isDupSort() {
        return (flags & DUP_SORT) != 0;
    }

    /** Tells whether keys compare from the last byte to the first, as little-endian integers of one length do. */
    boolean comparesBackwards() {
        return (flags & (REVERSE_KEY | INTEGER_KEY)) != 0;
    }

    /** Returns the flags by their names in py-lmdb. */
    List<String> flagNames() {
        return FLAGS.stream().filter(flag -> (flags & flag.bit) != 0).map(Flag::name).toList();
    }
}
