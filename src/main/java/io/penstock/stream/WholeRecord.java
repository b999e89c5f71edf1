// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.error.CodecException;
import io.penstock.text.Utf8;
import java.lang.foreign.MemorySegment;
import java.util.Locale;

/**
 * {@link RecordText#WHOLE} for one thread. It checks UTF-8, because an encoder would replace what is not, and leaves
 * out a byte order mark.
 */
final class WholeRecord implements RecordText {

    private final RecordBytes copy = new RecordBytes();

    @Override
    public MemorySegment of(MemorySegment record) {
        byte[] bytes = copy.of(record);
        int length = Math.toIntExact(record.byteSize());
        int bad = Utf8.firstIllFormed(bytes, 0, length);
        if (bad >= 0) {
            throw new CodecException(String.format(Locale.ROOT, "at byte %d of the record: found byte 0x%02x,"
                    + " expected UTF-8", bad, bytes[bad]));
        }
        return record.asSlice(Utf8.markBytes(bytes, 0, length));
    }
}
