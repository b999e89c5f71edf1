// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

/**
 * An array of a fixed number of elements: the chunk index of a dataset that cannot grow. A long one has pages; the bit
 * of a page that was never written is 0.
 */
final class FixedArray {

    private static final String NAME = "fixed array";

    @FunctionalInterface
    interface Visitor {

        void visit(long number, Cursor element);
    }

    static void walk(AddressSpace space, long address, Visitor visitor) {
        Cursor header = space.open(address, 12L + space.lengthBytes() + space.addressBytes(), NAME).signature("FAHD")
                .version(0, 0).skip(1);
        int elementBytes = header.u8();
        int pageBits = header.u8();
        long count = header.length();
        long block = header.address();
        header.checksum();
        if (elementBytes < space.addressBytes() || count > space.end() / elementBytes || pageBits > 30) {
            throw header.malformed(count + " elements of " + elementBytes + " bytes, pages of 2^" + pageBits,
                    "elements of at least an address, as many as the file has room for");
        }
        if (block == AddressSpace.UNDEFINED) {
            return;
        }
        long pageElements = 1L << pageBits;
        long pages = count > pageElements ? (count + pageElements - 1) / pageElements : 0;
        int prefixBytes = 6 + space.addressBytes();
        long bodyBytes = pages > 0 ? (pages + 7) / 8 : count * elementBytes;
        Cursor at = space.open(block, prefixBytes + bodyBytes + 4, NAME + " data block").signature("FADB")
                .version(0, 0);
        at.skip(prefixBytes - 5);
        Cursor body = at.part(bodyBytes, "element of a " + NAME);
        at.checksum();
        if (pages == 0) {
            elements(body, 0, count, elementBytes, visitor);
            return;
        }
        byte[] written = body.bytes(bodyBytes);
        long page = block + prefixBytes + bodyBytes + 4;
        for (long first = 0, i = 0; first < count; first += pageElements, i++) {
            long elements = Math.min(pageElements, count - first);
            if (isSet(written, i)) {
                page(space, page, first, elements, elementBytes, visitor);
            }
            page += elements * elementBytes + 4;
        }
    }

    static void page(AddressSpace space, long address, long first, long count, int elementBytes, Visitor visitor) {
        Cursor at = space.open(address, count * elementBytes + 4, "page of an array");
        Cursor body = at.part(count * elementBytes, "element of an array");
        at.checksum();
        elements(body, first, count, elementBytes, visitor);
    }

    static void elements(Cursor body, long first, long count, int elementBytes, Visitor visitor) {
        for (long i = 0; i < count; i++) {
            visitor.visit(first + i, body.part(elementBytes, "element of an array"));
        }
    }

    /** Bits count from the most significant one of each byte. */
    static boolean isSet(byte[] bits, long bit) {
        return (bits[(int) (bit / 8)] >> 7 - bit % 8 & 1) != 0;
    }
}
