// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

/** A link of a group: to an object by the address of its header, or by a path in the same file. */
record Link(String name, Kind kind, long address, String target) {

    enum Kind {
        HARD,
        SOFT,
        /** In another file, or user-defined: never followed. */
        ELSEWHERE
    }

    private static final int HAS_TYPE = 8;
    private static final int HAS_CREATION_ORDER = 4;
    private static final int HAS_CHARSET = 16;

    static Link read(Cursor at) {
        at.version(1, 1);
        int flags = at.u8();
        int type = (flags & HAS_TYPE) != 0 ? at.u8() : 0;
        at.skip((flags & HAS_CREATION_ORDER) != 0 ? 8 : 0);
        at.skip((flags & HAS_CHARSET) != 0 ? 1 : 0);
        String name = at.text(at.notNegative(at.number(1 << (flags & 3))));
        return switch (type) {
            case 0 -> new Link(name, Kind.HARD, at.address(), "");
            case 1 -> new Link(name, Kind.SOFT, AddressSpace.UNDEFINED, at.text(at.u16()));
            default -> new Link(name, Kind.ELSEWHERE, AddressSpace.UNDEFINED, "");
        };
    }
}
