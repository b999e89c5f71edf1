// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.Folders;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Fuzzes the parsers of the engine; checks how inputs are cut and that a planted fault is found. */
class FuzzTest extends FuzzTargetsTest {

    /** What finding the planted fault may take; a tenth does as a rule. */
    private static final int PLANTED_INPUTS = 500_000;

    @TempDir
    private Path folder;

    @Override
    List<String> classes() {
        return List.of("target/test-classes");
    }

    @Tag("slow")
    @Test
    void aFaultBehindFourComparisonsIsFoundAndItsInputKept() throws Exception {
        Path findings = folder.resolve("findings");
        JazzerRun.Result result = new JazzerRun(List.of(PlantedFault.class.getSimpleName()), PLANTED_INPUTS, folder,
                folder.resolve("corpus"), findings, 0, List.of("-runs=" + PLANTED_INPUTS, "-seed=" + SEED))
                .run(PlantedFault.TARGET.seeds());
        assertNotEquals(0, result.exitCode());
        assertTrue(result.output().contains("IllegalStateException: the planted fault"), result.output());
        assertEquals(1, Folders.files(findings).size());
    }

    @Test
    void partsOfAnInputAreTheFilesThatWereJoined() {
        List<byte[]> parts = List.of(new byte[] {1, 2}, new byte[0], new byte[] {(byte) 0xF0, 3});
        byte[] joined = Parts.join(parts);
        assertEquals(2 + 8 + 8 + 2, joined.length);
        List<byte[]> split = Parts.split(joined, 5);
        assertEquals(3, split.size());
        for (int i = 0; i < 3; i++) {
            assertArrayEquals(parts.get(i), split.get(i));
        }
        assertEquals(10, Parts.split(joined, 2).get(1).length);
        assertEquals(1, Parts.split(new byte[0], 3).size());
    }

    @Test
    void anInputOfSeveralTargetsIsTheirsByItsFirstByte() {
        FuzzTargets targets = new FuzzTargets(List.of("NpzFuzz", "JsonFuzz"), 1);
        byte[] json = new byte[FuzzTarget.of("JsonFuzz").maxBytes() + 1];
        byte[] input = targets.inputFor(1, json);
        assertEquals(1, targets.targetOf(input));
        assertEquals(json.length - 1, targets.bytesOf(input).length, "no longer than that target has them");
        assertEquals(1, targets.targetOf(new byte[] {(byte) 255, 7}));
        assertArrayEquals(new byte[] {7}, targets.bytesOf(new byte[] {(byte) 255, 7}));
        assertEquals(0, targets.targetOf(new byte[0]));
        assertArrayEquals(json, new FuzzTargets(List.of("NpzFuzz"), 1).inputFor(0, json));
    }
}
