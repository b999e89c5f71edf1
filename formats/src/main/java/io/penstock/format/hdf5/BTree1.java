// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

/** A B-tree of version 1: the symbol table nodes of a group, or the chunks of a dataset. */
record BTree1(AddressSpace space, int type, int keyBytes, BTree1.Visitor visitor) {

    static final int GROUP = 0;
    static final int CHUNKS = 1;

    private static final String NAME = "B-tree node";

    @FunctionalInterface
    interface Visitor {

        /** Receives a child and the key before it. */
        void visit(Cursor key, long child);
    }

    static void walk(AddressSpace space, long root, int type, int keyBytes, Visitor visitor) {
        new BTree1(space, type, keyBytes, visitor).walk(root, -1);
    }

    /** Checks that levels descend by one from parent to child, so no node is its own descendant. */
    private void walk(long address, int expectedLevel) {
        int prefixBytes = 8 + 2 * space.addressBytes();
        Cursor prefix = space.open(address, prefixBytes, NAME).signature("TREE");
        int foundType = prefix.u8();
        int level = prefix.u8();
        int entries = prefix.u16();
        if (foundType != type || expectedLevel >= 0 && level != expectedLevel) {
            throw prefix.malformed("type " + foundType + ", level " + level, "type " + type
                    + (expectedLevel < 0 ? "" : ", level " + expectedLevel));
        }
        long bytes = prefixBytes + entries * (long) (keyBytes + space.addressBytes()) + keyBytes;
        Cursor at = space.open(address, bytes, NAME).skip(prefixBytes);
        for (int i = 0; i < entries; i++) {
            Cursor key = at.part(keyBytes, "key of a B-tree");
            long child = at.address();
            if (level > 0) {
                walk(child, level - 1);
            } else {
                visitor.visit(key, child);
            }
        }
    }
}
