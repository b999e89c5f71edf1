// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DictionariesTest {

    /** A worker that is given up may still decode when its store is closed. */
    @Test
    void oneThatIsReadWhileAllAreClosedIsFreedBehindItsUse() throws IOException {
        List<MemorySegment> parts = new ArrayList<>();
        var dictionaries = new Dictionaries(1 << 20);
        try (Dictionaries.Lease lease = dictionaries.of(0, memory -> {
            parts.add(memory.allocate(100, 8));
            dictionaries.close();
            parts.add(memory.allocate(100, 8));
            return null;
        })) {
            assertTrue(parts.stream().allMatch(part -> part.scope().isAlive()), "in use: " + lease.dictionary());
        }
        assertFalse(parts.stream().anyMatch(part -> part.scope().isAlive()));
    }
}
