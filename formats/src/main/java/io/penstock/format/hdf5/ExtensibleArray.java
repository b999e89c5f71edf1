// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import org.jspecify.annotations.Nullable;

/**
 * A growing array: the chunk index of a dataset with one unlimited dimension.
 *
 * <pre>
 *     index block:  the first elements | addresses of data blocks | addresses of super blocks
 *     level u:      2^(u/2) data blocks of 2^((u+1)/2) · m elements, rounded down; m elements in the smallest
 * </pre>
 *
 * The addresses of the lowest levels' data blocks are in the index block; each other level has a super block. Large
 * data blocks have pages.
 */
final class ExtensibleArray {

    private static final String NAME = "extensible array";

    private final AddressSpace space;
    private final FixedArray.Visitor visitor;
    private final int elementBytes;
    private final int indexElements;
    private final int leastElements;
    private final int leastPointers;
    private final long pageElements;
    private final int offsetBytes;
    private final int levels;
    private final long end;
    private final long indexBlock;
    private long next;

    private ExtensibleArray(AddressSpace space, long address, FixedArray.Visitor visitor) {
        this.space = space;
        this.visitor = visitor;
        Cursor at = space.open(address, 16 + 6L * space.lengthBytes() + space.addressBytes(), NAME).signature("EAHD")
                .version(0, 0).skip(1);
        elementBytes = at.u8();
        int maxBits = at.u8();
        indexElements = at.u8();
        leastElements = at.u8();
        leastPointers = at.u8();
        int pageBits = at.u8();
        at.skip(4L * space.lengthBytes());
        end = at.length();
        at.length();
        indexBlock = at.address();
        at.checksum();
        if (elementBytes < space.addressBytes() || maxBits < 1 || maxBits > Long.SIZE
                || Integer.bitCount(leastElements) != 1 || Integer.bitCount(leastPointers) != 1 || leastPointers < 2
                || pageBits > 30 || Integer.numberOfTrailingZeros(leastElements) > maxBits) {
            throw at.malformed("elements of " + elementBytes + " bytes, up to 2^" + maxBits + ", at least "
                    + leastElements + " a block and " + leastPointers + " blocks, pages of 2^" + pageBits,
                    "powers of two that fit together");
        }
        pageElements = 1L << pageBits;
        offsetBytes = (maxBits + 7) / 8;
        levels = 1 + maxBits - Integer.numberOfTrailingZeros(leastElements);
    }

    /** Visits the elements up to the last one ever set. */
    static void walk(AddressSpace space, long address, FixedArray.Visitor visitor) {
        ExtensibleArray array = new ExtensibleArray(space, address, visitor);
        if (array.indexBlock != AddressSpace.UNDEFINED && array.end > 0) {
            array.walkIndexBlock();
        }
    }

    private void walkIndexBlock() {
        int levelsInIndex = 2 * Integer.numberOfTrailingZeros(leastPointers);
        int blocksInIndex = 2 * (leastPointers - 1);
        int superBlocks = Math.max(0, levels - levelsInIndex);
        long bytes = prefixBytes() + (long) indexElements * elementBytes
                + (blocksInIndex + superBlocks) * (long) space.addressBytes() + 4;
        Cursor at = open(indexBlock, bytes, "EAIB", " index block");
        Cursor first = at.part((long) indexElements * elementBytes, "element of an " + NAME);
        Cursor blocks = at.part((long) blocksInIndex * space.addressBytes(), "data block address");
        Cursor supers = at.part((long) superBlocks * space.addressBytes(), "super block address");
        at.checksum();
        FixedArray.elements(first, 0, indexElements, elementBytes, visitor);
        next = indexElements;
        for (int level = 0; level < levels && next < end; level++) {
            if (level < levelsInIndex) {
                for (long b = blocksOf(level); b > 0; b--) {
                    walkDataBlock(blocks.address(), elementsOf(level), null, 0);
                }
            } else {
                walkSuperBlock(supers.address(), level);
            }
        }
    }

    private void walkSuperBlock(long address, int level) {
        long blocks = blocksOf(level);
        long elements = elementsOf(level);
        if (address == AddressSpace.UNDEFINED || next > Long.MAX_VALUE / 4) {
            next += blocks * elements;
            return;
        }
        long pages = elements > pageElements ? elements / pageElements : 0;
        if (blocks > space.end() / space.addressBytes() || pages > space.end()) {
            throw space.malformed(space.position(address, 0, NAME), blocks + " data blocks of " + elements
                    + " elements", "as many as the file has room for");
        }
        long bitBytes = pages == 0 ? 0 : blocks * ((pages + 7) / 8);
        long bytes = prefixBytes() + offsetBytes + bitBytes + blocks * space.addressBytes() + 4;
        Cursor at = open(address, bytes, "EASB", " super block").skip(offsetBytes);
        byte[] written = at.bytes(bitBytes);
        Cursor addresses = at.part(blocks * space.addressBytes(), "data block address");
        at.checksum();
        for (long b = 0; b < blocks && next < end; b++) {
            walkDataBlock(addresses.address(), elements, pages == 0 ? null : written, b * pages);
        }
    }

    /**
     * @param written a bit for each page; null if the block has no pages
     * @param firstPage the bit of the block's first page
     */
    private void walkDataBlock(long address, long elements, byte @Nullable [] written, long firstPage) {
        long first = next;
        next += elements;
        if (address == AddressSpace.UNDEFINED || first >= end) {
            return;
        }
        long prefixBytes = prefixBytes() + offsetBytes;
        if (written == null) {
            if (elements > space.end() / elementBytes) {
                throw space.malformed(space.position(address, 0, NAME), "a data block of " + elements + " elements",
                        "as many as the file has room for");
            }
            Cursor at = open(address, prefixBytes + elements * elementBytes + 4, "EADB", " data block");
            Cursor body = at.skip(offsetBytes).part(elements * elementBytes, "element of an " + NAME);
            at.checksum();
            FixedArray.elements(body, first, Math.min(elements, end - first), elementBytes, visitor);
            return;
        }
        open(address, prefixBytes + 4, "EADB", " data block").skip(offsetBytes).checksum();
        long page = address + prefixBytes + 4;
        for (long i = 0; i < elements / pageElements; i++) {
            if (FixedArray.isSet(written, firstPage + i)) {
                FixedArray.page(space, page, first + i * pageElements, pageElements, elementBytes, visitor);
            }
            page += pageElements * elementBytes + 4;
        }
    }

    private Cursor open(long address, long bytes, String signature, String part) {
        Cursor at = space.open(address, bytes, NAME + part).signature(signature).version(0, 0);
        return at.skip(1L + space.addressBytes());
    }

    private int prefixBytes() {
        return 6 + space.addressBytes();
    }

    private static long blocksOf(int level) {
        return 1L << level / 2;
    }

    private long elementsOf(int level) {
        return (1L << (level + 1) / 2) * leastElements;
    }
}
