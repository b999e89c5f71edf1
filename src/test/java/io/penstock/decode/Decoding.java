// SPDX-License-Identifier: Apache-2.0
package io.penstock.decode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.error.PenstockException;
import io.penstock.store.Column;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Decodes a value the way a worker does: native memory, a target with other bytes around. */
final class Decoding {

    private static final int MARGIN = 16;
    private static final byte POISON = 0x5A;

    private Decoding() {
    }

    static byte[] decode(Decoder decoder, Column column, byte[] value) throws IOException {
        try (Arena arena = Arena.ofConfined(); Decoder.Session session = decoder.open()) {
            // What is behind the value is not part of it.
            MemorySegment stored = arena.allocate(value.length + MARGIN).fill(POISON);
            MemorySegment.copy(value, 0, stored, ValueLayout.JAVA_BYTE, 0, value.length);
            long bytes = decoder.field(column).isVariable() ? session.byteSize(stored, value.length)
                    : decoder.field(column).byteSize();
            MemorySegment target = arena.allocate(bytes + 2 * MARGIN).fill(POISON);
            session.decode(stored, value.length, target, MARGIN, bytes);
            for (int i = 0; i < MARGIN; i++) {
                assertEquals(POISON, target.get(ValueLayout.JAVA_BYTE, i));
                assertEquals(POISON, target.get(ValueLayout.JAVA_BYTE, MARGIN + bytes + i));
            }
            return target.asSlice(MARGIN, bytes).toArray(ValueLayout.JAVA_BYTE);
        }
    }

    static String refusal(Decoder decoder, Column column, byte[] value) {
        String message = assertThrows(PenstockException.class, () -> decode(decoder, column, value)).getMessage();
        assertEquals(-1, message.indexOf('\n'), message);
        return message;
    }
}
