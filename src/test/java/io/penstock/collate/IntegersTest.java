// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.penstock.memory.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class IntegersTest {

    private static final byte GUARD = 90;

    @ParameterizedTest
    @EnumSource(names = {"BOOL", "U8", "I16", "U16", "I32", "U32", "I64"})
    void everyElementIsFilledAndNothingBeside(DType dtype) {
        var random = new SplittableRandom(dtype.ordinal());
        int size = dtype.byteSize();
        int[] counts = {0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 511, 1024, 1025, 8191, 8192, 8193, 20_000};
        for (int count : counts) {
            for (long value : new long[] {0, 1, -1, -100, 50_256, random.nextLong()}) {
                int before = random.nextInt(1, 70);
                byte[] expected = new byte[before + count * size + 9];
                Arrays.fill(expected, GUARD);
                var bytes = ByteBuffer.wrap(expected).order(ByteOrder.LITTLE_ENDIAN);
                for (int i = 0; i < count; i++) {
                    for (int b = 0; b < size; b++) {
                        bytes.put(before + i * size + b, (byte) (value >> 8 * b));
                    }
                }
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment target = arena.allocate(expected.length).fill(GUARD);
                    Integers.fill(target, before, dtype, count, value);
                    assertArrayEquals(expected, target.toArray(ValueLayout.JAVA_BYTE),
                            count + " times " + value + " from " + before);
                }
            }
        }
    }
}
