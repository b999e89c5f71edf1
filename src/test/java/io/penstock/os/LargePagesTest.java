// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LargePagesTest {

    @Test
    void theContentStaysWhereverTheMemoryBegins() {
        byte[] content = new byte[9 << 20];
        new SplittableRandom(1).nextBytes(content);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(content.length + 100, 4096);
            for (int offset : new int[] {0, 1, 100}) {
                MemorySegment part = memory.asSlice(offset, content.length);
                MemorySegment.copy(content, 0, part, ValueLayout.JAVA_BYTE, 0, content.length);
                System.out.println("large pages from " + offset + ": " + LargePages.advise(part));
                assertArrayEquals(content, part.toArray(ValueLayout.JAVA_BYTE));
            }
        }
    }

    @Test
    void littleMemoryIsLeftAlone() {
        try (Arena arena = Arena.ofConfined()) {
            assertFalse(LargePages.advise(arena.allocate(1)));
            assertFalse(LargePages.advise(arena.allocate((4 << 20) - 1)));
        }
    }
}
