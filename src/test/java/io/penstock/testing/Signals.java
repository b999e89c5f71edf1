// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Signals to processes that a test started. */
public final class Signals {

    public static final int SIGHUP = 1;
    public static final int SIGINT = 2;
    public static final int SIGTERM = 15;

    private static final String IGNORED = "SigIgn:";

    private Signals() {
    }

    /** Sends a signal. */
    public static void send(int signal, Process process) throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).inheritIO().start();
        assertEquals(0, kill.waitFor());
    }

    /** Interrupts a process, as Ctrl-C does. The test is skipped where the process cannot be interrupted. */
    public static void interrupt(Process process) throws IOException, InterruptedException {
        assumeFalse(isIgnored(SIGINT, process), "the tests run in the background of a script, where SIGINT is ignored");
        send(SIGINT, process);
    }

    /** Whether a process was started to ignore a signal, as one in the background of a script is. */
    public static boolean isIgnored(int signal, Process process) throws IOException {
        Path status = Path.of("/proc/" + process.pid() + "/status");
        if (!Files.exists(status)) {
            return false;
        }
        String mask = Files.readAllLines(status).stream().filter(line -> line.startsWith(IGNORED)).findAny()
                .orElseThrow().substring(IGNORED.length()).strip();
        return (Long.parseUnsignedLong(mask, 16) >> signal - 1 & 1) == 1;
    }
}
