// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/** A reused array for the bytes of one record, for readers that work on arrays. For one thread. */
final class RecordBytes {

    private static final int MAX_ARRAY = Integer.MAX_VALUE - 8;

    private byte[] bytes = new byte[0];

    /** Returns an array that begins with a record, and may be longer; the next call reuses it. */
    byte[] of(MemorySegment record) {
        int length = Math.toIntExact(record.byteSize());
        if (length > bytes.length) {
            bytes = new byte[Math.max(length, (int) Math.min(2L * bytes.length, MAX_ARRAY))];
        }
        MemorySegment.copy(record, JAVA_BYTE, 0, bytes, 0, length);
        return bytes;
    }
}
