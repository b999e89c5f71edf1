// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class MemoryNodeTest {

    private static final Path NODE = Path.of("/sys/devices/system/node/node0/cpulist");

    @Test
    void aListOfProcessorsIsReadAsLinuxWritesIt() {
        assertEquals("{0, 1, 2, 3, 8, 10, 11}", MemoryNode.processors("0-3,8,10-11").toString());
        assertEquals("{}", MemoryNode.processors("").toString());
        assertThrows(NumberFormatException.class, () -> MemoryNode.processors("all"));
    }

    /** Where the calling thread may run, by the system's own words. */
    private static BitSet allowed() {
        try {
            return Files.readAllLines(Path.of("/proc/thread-self/status")).stream()
                    .filter(line -> line.startsWith("Cpus_allowed_list:"))
                    .map(line -> MemoryNode.processors(line.substring(line.indexOf(':') + 1).strip()))
                    .findFirst().orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aThreadIsBoundToTheProcessorsOfANodeAndNoOtherThreadIs() throws Exception {
        assumeTrue(Files.exists(NODE));
        BitSet before = allowed();
        BitSet ofNode = MemoryNode.processors(Files.readString(NODE).strip());
        assumeTrue(before.intersects(ofNode));
        var bound = new AtomicReference<BitSet>();
        Thread thread = Thread.ofPlatform().start(() -> {
            assertTrue(MemoryNode.bindThread(0));
            bound.set(allowed());
        });
        thread.join();
        BitSet outside = (BitSet) bound.get().clone();
        outside.andNot(ofNode);
        assertTrue(outside.isEmpty() && !bound.get().isEmpty(), bound + " is not in " + ofNode);
        assertEquals(before, allowed());
    }

    @Test
    void aNodeThatIsNotThereBindsNothing() {
        assumeTrue(Files.exists(NODE));
        BitSet before = allowed();
        assertFalse(MemoryNode.bindThread(-1));
        assertFalse(MemoryNode.bindThread(9999));
        assertEquals(before, allowed());
    }
}
