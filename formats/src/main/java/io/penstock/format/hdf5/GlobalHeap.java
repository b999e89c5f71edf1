// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import java.util.HashMap;
import java.util.Map;

/** Values of variable length, in collections of numbered objects; each collection is read once. */
final class GlobalHeap {

    private static final String NAME = "global heap collection";

    private record Place(long position, long bytes) {
    }

    private final AddressSpace space;
    private final Map<Long, Map<Integer, Place>> collections = new HashMap<>();

    GlobalHeap(AddressSpace space) {
        this.space = space;
    }

    byte[] object(long collection, long number) {
        Map<Integer, Place> objects = collections.get(collection);
        if (objects == null) {
            objects = read(collection);
            collections.put(collection, objects);
        }
        Place place = number > 0xFFFF ? null : objects.get((int) number);
        if (place == null) {
            throw space.malformed(space.position(collection, 0, NAME), "no object " + number + " in a " + NAME,
                    "the object that a value refers to");
        }
        space.spend(place.bytes(), NAME);
        return new Cursor(space, place.position(), place.position() + place.bytes(), NAME).bytes(place.bytes());
    }

    private Map<Integer, Place> read(long address) {
        int prefixBytes = 8 + space.lengthBytes();
        long bytes = space.open(address, prefixBytes, NAME).signature("GCOL").version(1, 1).skip(3).length();
        Cursor at = space.open(address, bytes, NAME);
        at.skip(prefixBytes);
        Map<Integer, Place> objects = new HashMap<>();
        while (at.remaining() >= prefixBytes) {
            int number = at.u16();
            long size = at.skip(6).length();
            if (number == 0) {
                break;
            }
            objects.put(number, new Place(at.position(), size));
            at.skip(size);
            at.align(8);
        }
        return objects;
    }
}
