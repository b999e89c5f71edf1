// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.device.cuda.ChildJvm;
import io.penstock.internal.Leak;
import io.penstock.testing.Corpora;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is dropped without being closed. */
class LeakTest {

    @Test
    void whatIsDroppedIsNamedOnceWithThePlaceWhereItWasOpenedAndWhatIsClosedIsNot(@TempDir Path folder)
            throws Exception {
        Path corpus = Corpora.rawU16(folder, 10_000, 1);
        ChildJvm.Result result = new ChildJvm().option("-Dpenstock.leaks=on")
                .run(LeakProgram.class, corpus.toString());
        String output = result.output();
        assertEquals(0, result.exitCode(), output);
        assertTrue(output.contains("told: 3") && output.contains("watching: true"), output);
        assertTrue(output.contains("file " + corpus + " was not closed") && output.contains("LeakProgram.dropStore"),
                output);
        assertTrue(output.contains("loader dropped was not closed") && output.contains("LeakProgram.dropLoader"),
                output);
        assertTrue(output.contains("batch of loader kept: batch 0 of epoch 0 was not closed")
                && output.contains("LeakProgram.dropBatch"), output);
        assertFalse(output.contains("LeakProgram.useAndClose"), output);
    }

    @Test
    void withoutThePropertyNothingIsNoted() throws Exception {
        assertSame(Leak.watch(new Object(), "a", "b"), Leak.watch(new Object(), "c", "d"));
        assertFalse(Leak.isLookedFor());
    }
}
