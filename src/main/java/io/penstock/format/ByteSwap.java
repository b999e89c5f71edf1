// SPDX-License-Identifier: Apache-2.0
package io.penstock.format;

import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Converts big-endian numbers to little-endian ones, or back. */
public final class ByteSwap {

    /** Reverses the bytes of each number of 1, 2, 4 or 8 bytes, in place. */
    public static void inPlace(MemorySegment numbers, int elementBytes) {
        if (elementBytes > 1) {
            ValueLayout little = elementBytes == 2 ? LittleEndian.I16
                    : elementBytes == 4 ? LittleEndian.I32 : LittleEndian.I64;
            MemorySegment.copy(numbers, little.withOrder(ByteOrder.BIG_ENDIAN), 0, numbers, little, 0,
                    numbers.byteSize() / elementBytes);
        }
    }
}
