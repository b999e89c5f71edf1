// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** Programs in Python. */
public final class Python {

    /** How a program ends whose libraries are not installed. */
    private static final int NO_LIBRARY = 77;

    private Python() {
    }

    /** Runs a program and returns its output. The test is skipped without Python or the program's libraries. */
    public static String run(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(arguments));
        command.addFirst("python3");
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException noPython) {
            return Assumptions.abort("no python3 on the path");
        }
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(10, TimeUnit.MINUTES));
        Assumptions.assumeTrue(process.exitValue() != NO_LIBRARY, output);
        assertEquals(0, process.exitValue(), output);
        return output;
    }
}
