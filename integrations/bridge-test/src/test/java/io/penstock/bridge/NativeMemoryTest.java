// SPDX-License-Identifier: Apache-2.0
package io.penstock.bridge;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

class NativeMemoryTest {

    private static final int STEPS = 50_000;

    private final NativeMemory memory = new NativeMemory();

    @Test
    void aTensorForgottenAtEachStepIsFound() throws Exception {
        try (Arena forgotten = Arena.ofConfined()) {
            AssertionError error = assertThrows(AssertionError.class, () -> memory.assertLeftByNo(STEPS, count -> {
                for (int i = 0; i < count; i++) {
                    forgotten.allocate(400);
                }
            }));
            assertTrue(error.getMessage().startsWith("each round of 50000 steps left native memory; bytes: "),
                    error.getMessage());
        }
    }

    @Test
    void whatIsTakenOncePasses() throws Exception {
        try (Arena taken = Arena.ofConfined()) {
            boolean[] done = new boolean[1];
            memory.assertLeftByNo(STEPS, count -> {
                if (!done[0]) {
                    taken.allocate(40 << 20);
                    done[0] = true;
                }
            });
        }
    }
}
