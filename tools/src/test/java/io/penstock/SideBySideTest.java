// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.Python;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The runner that sets the engine beside its peers counts, compares and reports as its own tests say. */
class SideBySideTest {

    @Test
    void theTestsOfTheRunnerPass() throws IOException, InterruptedException {
        String output = Python.run("-B", "-m", "unittest", "discover", "-s", "bench/peers");
        assertTrue(output.strip().endsWith("OK"), output);
    }
}
