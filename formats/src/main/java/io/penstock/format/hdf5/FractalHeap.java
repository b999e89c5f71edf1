// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import io.penstock.error.MalformedStoreException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A fractal heap: the links or attributes of an object with many.
 *
 * <p>Objects lie in direct blocks, which double in size from row to row of a table:
 *
 * <pre>
 *     row 0:  width blocks of s bytes        rows below maxDirectRows: direct blocks
 *     row 1:  width blocks of s bytes        the others: indirect blocks, tables of the same kind
 *     row 2:  width blocks of 2 s bytes
 *     row r:  width blocks of 2^(r-1) s bytes
 * </pre>
 */
final class FractalHeap {

    private static final String NAME = "fractal heap";
    private static final int CHECKED_BLOCKS = 2;
    private static final int MANAGED = 0;
    private static final int HUGE = 1;
    private static final int TINY = 2;
    /** With ids longer than this, a tiny object's length has 12 bits, not 4. */
    private static final int SHORT_ID_BYTES = 17;

    private final AddressSpace space;
    private final long address;
    private final int idBytes;
    private final boolean checksummed;
    private final long hugeTree;
    private final int width;
    private final long startBytes;
    private final int maxDirectRows;
    private final int offsetBytes;
    private final int objectLengthBytes;
    private final long root;
    private final int rootRows;
    private final Set<Long> checked = new HashSet<>();

    FractalHeap(AddressSpace space, long address) {
        this.space = space;
        this.address = address;
        int bytes = 26 + 3 * space.addressBytes() + 12 * space.lengthBytes();
        Cursor at = space.open(address, bytes, NAME).signature("FRHP").version(0, 0);
        idBytes = at.u16();
        if (at.u16() != 0) {
            throw at.malformed("a heap with filters, which are not supported", "one without");
        }
        checksummed = (at.u8() & CHECKED_BLOCKS) != 0;
        long maxManagedBytes = at.u32();
        at.length();
        hugeTree = at.address();
        at.skip(space.addressBytes() + 9L * space.lengthBytes());
        width = at.u16();
        startBytes = at.length();
        long maxDirectBytes = at.length();
        int heapBits = at.u16();
        at.u16();
        root = at.address();
        rootRows = at.u16();
        at.checksum();
        if (Integer.bitCount(width) != 1 || Long.bitCount(startBytes) != 1 || Long.bitCount(maxDirectBytes) != 1
                || maxDirectBytes < startBytes || maxDirectBytes > Integer.MAX_VALUE || heapBits > Long.SIZE
                || rootRows > Long.SIZE || heapBits == 0) {
            throw at.malformed("a table of " + width + " columns and " + rootRows + " rows, blocks of " + startBytes
                    + " to " + maxDirectBytes + " bytes, " + heapBits + " bits",
                    "powers of two, up to 64 rows and bits");
        }
        maxDirectRows = log2(maxDirectBytes) - log2(startBytes) + 2;
        offsetBytes = (heapBits + 7) / 8;
        objectLengthBytes = Math.min((log2(maxDirectBytes) + 7) / 8, (log2(Math.max(1, maxManagedBytes)) + 8) / 8);
    }

    int idBytes() {
        return idBytes;
    }

    Cursor object(Cursor id) {
        int first = id.u8();
        int kind = first >> 4 & 3;
        if (first >> 6 != 0) {
            throw id.malformed("id of version " + (first >> 6) + " in a " + NAME, "0");
        }
        return switch (kind) {
            case MANAGED -> {
                long offset = id.notNegative(id.number(offsetBytes));
                yield managed(offset, id.notNegative(id.number(objectLengthBytes)));
            }
            case HUGE -> huge(id);
            case TINY -> id.part(idBytes <= SHORT_ID_BYTES ? (first & 0xF) + 1 : ((first & 0xF) << 8 | id.u8()) + 1,
                    "object of a " + NAME);
            default -> throw id.malformed("id of kind " + kind + " in a " + NAME, "0 to 2");
        };
    }

    private Cursor managed(long offset, long bytes) {
        long block = root;
        long blockStart = 0;
        int rows = rootRows;
        long blockBytes = startBytes;
        while (rows > 0) {
            long within = offset - blockStart;
            int row = 0;
            while (row < rows && within >= rowStart(row + 1)) {
                row++;
            }
            if (row == rows) {
                throw beyond(offset);
            }
            blockBytes = rowBlockBytes(row);
            long column = (within - rowStart(row)) / blockBytes;
            block = child(block, rows, (int) (row * (long) width + column));
            blockStart += rowStart(row) + column * blockBytes;
            rows = row < maxDirectRows ? 0 : log2(blockBytes) - log2(startBytes) - log2(width) + 1;
        }
        if (bytes > blockBytes || offset - blockStart > blockBytes - bytes) {
            throw beyond(offset);
        }
        check(block, blockBytes);
        return space.open(block, blockBytes, "object of a " + NAME).skip(offset - blockStart)
                .part(bytes, "object of a " + NAME);
    }

    private MalformedStoreException beyond(long offset) {
        return space.malformed(space.position(address, 0, NAME), "an object at " + offset + " of a " + NAME,
                "one within its blocks");
    }

    /** Returns the offset of a row's blocks in the table, at most 2^63 - 1. */
    private long rowStart(int row) {
        return row == 0 ? 0 : shifted((long) width * startBytes, row - 1);
    }

    private long rowBlockBytes(int row) {
        return row == 0 ? startBytes : shifted(startBytes, row - 1);
    }

    private static long shifted(long value, int bits) {
        return bits >= Long.numberOfLeadingZeros(value) - 1 ? Long.MAX_VALUE : value << bits;
    }

    private long child(long block, int rows, int entry) {
        long bytes = 9L + space.addressBytes() + offsetBytes + (long) rows * width * space.addressBytes();
        Cursor at = open(block, bytes, "FHIB");
        long child = at.skip(offsetBytes + (long) entry * space.addressBytes()).address();
        if (checked.add(block)) {
            at.skip(at.remaining() - 4).checksum();
        }
        return child;
    }

    /** Checks a direct block on its first use. Its checksum field counts as zeros. */
    private void check(long block, long bytes) {
        if (!checked.add(block)) {
            return;
        }
        Cursor at = open(block, bytes, "FHDB");
        if (checksummed) {
            at.skip(offsetBytes).checksumOfAll();
        }
    }

    private Cursor open(long block, long bytes, String signature) {
        Cursor at = space.open(block, bytes, NAME + " block").signature(signature).version(0, 0);
        if (at.address() != address) {
            throw at.malformed("a block of another heap", "one of the heap at " + address);
        }
        return at;
    }

    /** Opens a huge object, which is outside the heap. Its id is its address, or a number that a B-tree maps to one. */
    private Cursor huge(Cursor id) {
        if (idBytes > space.addressBytes() + space.lengthBytes()) {
            return space.open(id.address(), id.length(), "huge object of a " + NAME);
        }
        long wanted = id.number(Math.min(space.lengthBytes(), idBytes - 1));
        List<Cursor> found = new ArrayList<>();
        BTree2.walk(space, hugeTree, BTree2.HUGE_OBJECTS, record -> {
            long at = record.address();
            long bytes = record.length();
            if (record.length() == wanted) {
                found.add(space.open(at, bytes, "huge object of a " + NAME));
            }
        });
        if (found.isEmpty()) {
            throw id.malformed("huge object " + wanted + " of a " + NAME + ", which does not exist",
                    "one of its B-tree");
        }
        return found.getLast();
    }

    private static int log2(long powerOfTwo) {
        return Long.SIZE - 1 - Long.numberOfLeadingZeros(powerOfTwo);
    }
}
