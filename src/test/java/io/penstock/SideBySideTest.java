// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** The runner that sets the engine beside its peers counts, compares and reports as its own tests say. */
class SideBySideTest {

    @Test
    void theTestsOfTheRunnerPass() throws IOException, InterruptedException {
        Process process;
        try {
            process = new ProcessBuilder("python3", "-B", "-m", "unittest", "discover", "-s", "bench/peers")
                    .redirectErrorStream(true).start();
        } catch (IOException noPython) {
            Assumptions.abort("no python3 on the path");
            return;
        }
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(10, TimeUnit.MINUTES));
        assertEquals(0, process.exitValue(), output);
        assertTrue(output.strip().endsWith("OK"), output);
    }
}
