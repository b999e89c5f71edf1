// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

/**
 * A message of an object header.
 *
 * @param flags bit 1: the content is a reference to the message
 * @param order its creation order if that is tracked, otherwise 0
 */
record Message(AddressSpace space, int type, int flags, int order, long start, long end) {

    static final int DATASPACE = 0x01;
    static final int LINK_INFO = 0x02;
    static final int DATATYPE = 0x03;
    static final int OLD_FILL_VALUE = 0x04;
    static final int FILL_VALUE = 0x05;
    static final int LINK = 0x06;
    static final int EXTERNAL_FILES = 0x07;
    static final int LAYOUT = 0x08;
    static final int FILTERS = 0x0B;
    static final int ATTRIBUTE = 0x0C;
    static final int CONTINUATION = 0x10;
    static final int SYMBOL_TABLE = 0x11;
    static final int ATTRIBUTE_INFO = 0x15;
    static final int CACHE_IMAGE = 0x18;

    /** The last type that the specification has. */
    static final int LAST = CACHE_IMAGE;

    private static final int SHARED = 2;
    private static final int FAIL_IF_UNKNOWN = 0x80;

    Cursor open(String what) {
        return new Cursor(space, start, end, what);
    }

    boolean isShared() {
        return (flags & SHARED) != 0;
    }

    boolean mustBeKnown() {
        return (flags & FAIL_IF_UNKNOWN) != 0;
    }
}
