// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import org.jspecify.annotations.Nullable;

/** The value of elements that were never written. */
final class FillValue {

    private static final int NEVER_WRITTEN = 1;

    /** Returns the bytes of one element as stored; null for zeros. */
    static byte @Nullable [] read(ObjectHeader header, long elementBytes) {
        Cursor at = header.openIfThere(Message.FILL_VALUE, "fill value message");
        Cursor oldest = at != null ? null : header.openIfThere(Message.OLD_FILL_VALUE, "old fill value message");
        byte[] value = at != null ? read(at) : oldest != null ? oldest.bytes(oldest.u32()) : null;
        return value == null || value.length != elementBytes ? null : value;
    }

    private static byte @Nullable [] read(Cursor at) {
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
