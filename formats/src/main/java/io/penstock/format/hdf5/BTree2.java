// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

/** A B-tree of version 2: sorted records of one size, in inner nodes and leaves. */
final class BTree2 {

    /** Objects too large for a fractal heap, by a number. */
    static final int HUGE_OBJECTS = 1;
    static final int LINKS = 5;
    static final int ATTRIBUTES = 8;
    static final int CHUNKS = 10;
    static final int FILTERED_CHUNKS = 11;

    private static final String NAME = "B-tree";
    private static final int MAX_DEPTH = 32;
    private static final int NODE_BYTES_BESIDE_RECORDS = 10;

    @FunctionalInterface
    interface Visitor {

        void visit(Cursor record);
    }

    private final AddressSpace space;
    private final int type;
    private final int recordBytes;
    private final Visitor visitor;
    /** For each depth of a child, the size of the number of all records below it; leaves have none. */
    private final int[] totalBytes;
    private final int countBytes;

    private BTree2(AddressSpace space, int type, int recordBytes, long nodeBytes, int depth, Visitor visitor,
            Cursor header) {
        this.space = space;
        this.type = type;
        this.recordBytes = recordBytes;
        this.visitor = visitor;
        this.totalBytes = new int[depth + 1];
        long records = (nodeBytes - NODE_BYTES_BESIDE_RECORDS) / recordBytes;
        long total = records;
        this.countBytes = bytesFor(records);
        for (int level = 1; level <= depth; level++) {
            long pointerBytes = space.addressBytes() + countBytes + totalBytes[level - 1];
            records = (nodeBytes - NODE_BYTES_BESIDE_RECORDS - pointerBytes) / (recordBytes + pointerBytes);
            if (records < 1 || total > Long.MAX_VALUE / (records + 2)) {
                throw header.malformed("nodes of " + nodeBytes + " bytes, " + depth + " levels",
                        "nodes that hold a record, as many levels as a tree can have");
            }
            total = (records + 1) * total + records;
            totalBytes[level] = bytesFor(total);
        }
    }

    static void walk(AddressSpace space, long address, int type, Visitor visitor) {
        Cursor header = space.open(address, 22 + space.addressBytes() + space.lengthBytes(), NAME)
                .signature("BTHD").version(0, 0);
        int foundType = header.u8();
        long nodeBytes = header.u32();
        int recordBytes = header.u16();
        int depth = header.u16();
        long root = header.skip(2).address();
        int records = header.u16();
        header.length();
        header.checksum();
        if (foundType != type || recordBytes == 0 || nodeBytes < NODE_BYTES_BESIDE_RECORDS + recordBytes
                || depth > MAX_DEPTH) {
            throw header.malformed("type " + foundType + ", records of " + recordBytes + " bytes, nodes of " + nodeBytes
                    + ", depth " + depth, "type " + type + ", nodes that hold a record, depth up to " + MAX_DEPTH);
        }
        if (root != AddressSpace.UNDEFINED) {
            new BTree2(space, type, recordBytes, nodeBytes, depth, visitor, header).walk(root, records, depth);
        }
    }

    private void walk(long address, long records, int depth) {
        int pointerBytes = depth == 0 ? 0 : space.addressBytes() + countBytes + totalBytes[depth - 1];
        long bytes = NODE_BYTES_BESIDE_RECORDS + records * recordBytes + (records + 1) * pointerBytes;
        Cursor at = space.open(address, bytes, NAME + " node").signature(depth == 0 ? "BTLF" : "BTIN").version(0, 0);
        if (at.u8() != type) {
            throw at.malformed("a node of another type", "type " + type);
        }
        Cursor all = at.part(records * recordBytes, "record of a B-tree");
        Cursor pointers = at.part((depth == 0 ? 0 : records + 1) * pointerBytes, "pointer of a B-tree");
        at.checksum();
        for (long i = 0; i <= records; i++) {
            if (depth > 0) {
                long child = pointers.address();
                long childRecords = pointers.notNegative(pointers.number(countBytes));
                pointers.skip(totalBytes[depth - 1]);
                if (childRecords > space.end() / recordBytes) {
                    throw pointers.malformed("a node of " + childRecords + " records", "one within the file");
                }
                walk(child, childRecords, depth - 1);
            }
            if (i < records) {
                visitor.visit(all.part(recordBytes, "record of a B-tree"));
            }
        }
    }

    private static int bytesFor(long most) {
        return (Long.SIZE - Long.numberOfLeadingZeros(most | 1) + 7) / 8;
    }
}
