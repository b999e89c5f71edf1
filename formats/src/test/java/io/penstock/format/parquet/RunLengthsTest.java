// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs of numbers of each width are those that a loop over single bits has written. */
class RunLengthsTest {

    private static final int GROUP = 8;

    static int[] widths() {
        return IntStream.rangeClosed(0, 32).toArray();
    }

    private static void varint(ByteArrayOutputStream out, int value) {
        for (int left = value; ; left >>>= 7) {
            out.write(left < 0x80 ? left : left & 0x7F | 0x80);
            if (left < 0x80) {
                return;
            }
        }
    }

    private static PageBytes page(Arena arena, byte[] bytes) {
        MemorySegment memory = arena.allocate(bytes.length + PageBytes.SLACK_BYTES);
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return new PageBytes(memory, 0, bytes.length);
    }

    /** Writes numbers in groups of 8, the lowest bit first. */
    private static void packed(ByteArrayOutputStream out, int[] numbers, int bits) {
        varint(out, numbers.length / GROUP << 1 | 1);
        byte[] bytes = new byte[numbers.length * bits / 8];
        for (int i = 0, bit = 0; i < numbers.length; i++) {
            for (int b = 0; b < bits; b++, bit++) {
                bytes[bit >>> 3] |= (byte) ((numbers[i] >>> b & 1) << (bit & 7));
            }
        }
        out.writeBytes(bytes);
    }

    private static void repeated(ByteArrayOutputStream out, int number, int count, int bits) {
        varint(out, count << 1);
        for (int shift = 0; shift < bits; shift += 8) {
            out.write(number >>> shift);
        }
    }

    @ParameterizedTest
    @MethodSource("widths")
    void numbersOfEachWidthAreReadInStepsOfAnyLength(int bits) {
        SplittableRandom random = new SplittableRandom(bits);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int mask = bits == 0 ? 0 : -1 >>> 32 - bits;
        int[] expected = new int[0];
        for (int run = 0; run < 20; run++) {
            int[] numbers = new int[GROUP * random.nextInt(1, 30)];
            if (run % 3 == 2) {
                Arrays.fill(numbers, random.nextInt() & mask);
                repeated(out, numbers[0], numbers.length, bits);
            } else {
                Arrays.setAll(numbers, _ -> random.nextInt() & mask);
                packed(out, numbers, bits);
            }
            int before = expected.length;
            expected = Arrays.copyOf(expected, before + numbers.length);
            System.arraycopy(numbers, 0, expected, before, numbers.length);
        }
        try (Arena arena = Arena.ofConfined()) {
            RunLengths runs = new RunLengths(page(arena, out.toByteArray()), bits, "numbers");
            int[] found = new int[expected.length];
            int[] step = new int[61];
            for (int done = 0; done < found.length; ) {
                int count = Math.min(random.nextInt(1, step.length), found.length - done);
                boolean known = runs.areAll(expected[done], count);
                runs.read(step, count);
                System.arraycopy(step, 0, found, done, count);
                int first = expected[done];
                assertTrue(!known || Arrays.stream(expected, done, done + count).allMatch(each -> each == first));
                done += count;
            }
            assertArrayEquals(expected, found);
        }
    }

    @Test
    void aRunTellsThatItIsOfOneValueWithoutBeingRead() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        repeated(out, 1, 100, 1);
        packed(out, new int[] {1, 1, 1, 1, 1, 1, 1, 0}, 1);
        try (Arena arena = Arena.ofConfined()) {
            RunLengths runs = new RunLengths(page(arena, out.toByteArray()), 1, "levels");
            assertTrue(runs.areAll(1, 100));
            assertFalse(runs.areAll(0, 100));
            assertFalse(runs.areAll(1, 101));
            int[] into = new int[100];
            runs.read(into, 100);
            assertEquals(100, Arrays.stream(into).sum());
            assertFalse(runs.areAll(1, 7));
            runs.read(into, 8);
            assertEquals(0, into[7]);
        }
    }
}
