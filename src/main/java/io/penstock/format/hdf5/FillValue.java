package io.penstock.format.hdf5;

import io.penstock.io.MalformedStoreException;

/** What the elements hold that were never written. */
final class FillValue {

    private static final int NEVER_WRITTEN = 1;

    private FillValue() {
    }

    /** The bytes of one element as the file would store it; null for zeros. */
    static byte[] read(ObjectHeader header, long elementBytes) throws MalformedStoreException {
        Cursor at = header.open(Message.FILL_VALUE, "fill value message");
        byte[] value = at == null ? readOldest(header) : read(at);
        return value == null || value.length != elementBytes ? null : value;
    }

    private static byte[] readOldest(ObjectHeader header) throws MalformedStoreException {
        Cursor at = header.open(Message.OLD_FILL_VALUE, "old fill value message");
        return at == null ? null : at.bytes(at.u32());
    }

    private static byte[] read(Cursor at) throws MalformedStoreException {
        int version = at.versionOf(1, 3);
        if (version == 3) {
            int flags = at.u8();
            boolean never = (flags >> 2 & 3) == NEVER_WRITTEN;
            return (flags & 0x20) == 0 || never ? null : at.bytes(at.u32());
        }
        boolean never = at.skip(1).u8() == NEVER_WRITTEN;
        boolean isDefined = at.u8() != 0;
        if (never || version > 1 && !isDefined) {
            return null;
        }
        int bytes = at.i32();
        return bytes <= 0 ? null : at.bytes(bytes);
    }
}
