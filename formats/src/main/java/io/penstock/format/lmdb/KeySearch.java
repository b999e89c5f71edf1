// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.lmdb;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Searches keys in a tree, in the library's default order for the tree's flags. */
record KeySearch(Pages pages, Tree tree) {

    private static final ValueLayout.OfLong BIG_ENDIAN =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** Descends to the only leaf page that may have a key; returns its offset, -1 for an empty tree. */
    long leaf(MemorySegment key) {
        if (tree.isEmpty()) {
            return -1;
        }
        long number = tree.root();
        for (int level = 1; level < tree.depth(); level++) {
            long page = pages.page(number, Pages.BRANCH);
            long end = pages.end(page);
            int nodes = pages.nodes(page, end);
            if (nodes == 0) {
                throw pages.malformed(page, "a branch without children", "one at least");
            }
            // The key of the first child is not stored: the child has everything before the second.
            number = pages.child(pages.node(page, end, lowerBound(page, end, 1, nodes, key, true) - 1));
        }
        return pages.page(number, Pages.LEAF);
    }

    /**
     * Returns the index of the first node from {@code from} on whose key is not before a key or, if {@code after},
     * follows it; {@code nodes} if there is none.
     */
    int lowerBound(long page, long end, int from, int nodes, MemorySegment key, boolean after) {
        int low = from;
        int high = nodes;
        while (low < high) {
            int middle = low + high >>> 1;
            int order = compare(pages.node(page, end, middle), key);
            if (order < 0 || after && order == 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    int compare(long node, MemorySegment key) {
        MemorySegment bytes = pages.bytes();
        long start = pages.key(node);
        int length = pages.keyBytes(node);
        long common = Math.min(length, key.byteSize());
        if (tree.comparesBackwards()) {
            for (long i = 1; i <= common; i++) {
                int order = Byte.compareUnsigned(bytes.get(JAVA_BYTE, start + length - i),
                        key.get(JAVA_BYTE, key.byteSize() - i));
                if (order != 0) {
                    return order;
                }
            }
        } else {
            // Keys are short: a word at a time is faster than a call that compares them whole.
            long at = 0;
            for (; common - at >= Long.BYTES; at += Long.BYTES) {
                int order = Long.compareUnsigned(bytes.get(BIG_ENDIAN, start + at), key.get(BIG_ENDIAN, at));
                if (order != 0) {
                    return order;
                }
            }
            for (; at < common; at++) {
                int order = Byte.compareUnsigned(bytes.get(JAVA_BYTE, start + at), key.get(JAVA_BYTE, at));
                if (order != 0) {
                    return order;
                }
            }
        }
        return Long.compare(length, key.byteSize());
    }
}
