// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

/** The names of the links of a group of version 1. */
final class LocalHeap {

    private static final String NAME = "local heap";

    private final AddressSpace space;
    private final long dataAddress;
    private final long dataBytes;

    LocalHeap(AddressSpace space, long address) {
        this.space = space;
        Cursor at = space.open(address, 8 + 2 * space.lengthBytes() + space.addressBytes(), NAME).signature("HEAP")
                .version(0, 0).skip(3);
        dataBytes = at.length();
        at.lengthOrAll();
        dataAddress = at.address();
        space.position(dataAddress, dataBytes, NAME);
    }

    String text(long offset) {
        long start = space.position(dataAddress, dataBytes, NAME);
        Cursor all = new Cursor(space, start, start + dataBytes, "name in a " + NAME);
        return all.skip(offset).terminated();
    }
}
