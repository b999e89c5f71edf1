// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.json.Json;
import io.penstock.testing.JavaCommand;
import io.penstock.testing.Signals;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * What a run of the command line gave.
 *
 * @param exitCode the exit status
 * @param out standard output
 * @param err standard error
 */
public record CommandRun(int exitCode, String out, String err) {

    /** Runs a command in this JVM. */
    public static CommandRun of(Object... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        String[] strings = strings(args);
        int exitCode = Penstock.commandLine(strings).setOut(new PrintWriter(out)).setErr(new PrintWriter(err))
                .execute(strings);
        return new CommandRun(exitCode, out.toString(), err.toString());
    }

    /** Runs a command in a JVM of its own. */
    static CommandRun inProcess(Object... args) throws IOException, InterruptedException {
        return onClassPath(JavaCommand.classPath(), args);
    }

    /** Runs a command in a JVM of its own with another class path. */
    static CommandRun onClassPath(String classPath, Object... args) throws IOException, InterruptedException {
        Path err = Files.createTempFile("penstock", ".err");
        try {
            Process process = builder(classPath, err, args).start();
            String out = new String(process.getInputStream().readAllBytes(), UTF_8);
            return new CommandRun(process.waitFor(), out, Files.readString(err));
        } finally {
            Files.delete(err);
        }
    }

    /** Starts a command in a JVM of its own, its standard error going to a file. */
    static Process start(Path err, Object... args) throws IOException {
        return builder(JavaCommand.classPath(), err, args).start();
    }

    /** The same with its standard output going to a file. */
    static Process start(Path err, File out, Object... args) throws IOException {
        return builder(JavaCommand.classPath(), err, args).redirectOutput(out).start();
    }

    /** A command in a JVM of its own, to be started. */
    static ProcessBuilder builder(Path err, Object... args) {
        return builder(JavaCommand.classPath(), err, args);
    }

    private static ProcessBuilder builder(String classPath, Path err, Object... args) {
        List<String> command = JavaCommand.onClassPath(classPath);
        command.add(Penstock.class.getName());
        command.addAll(List.of(strings(args)));
        return new ProcessBuilder(command).redirectError(err.toFile());
    }

    /**
     * Runs a command in a JVM of its own and interrupts it, as Ctrl-C does: once it has come so far that it says so,
     * which nobody sees from outside, so each run is given twice as long as the one before.
     *
     * @param farEnough whether what it printed at its end is of an interrupt that did not come too early
     */
    static CommandRun interrupted(Predicate<String> farEnough, Object... args)
            throws IOException, InterruptedException {
        for (long seconds = 2;; seconds *= 2) {
            Path err = Files.createTempFile("penstock", ".err");
            Process process = start(err, args);
            try {
                assertFalse(process.waitFor(seconds, TimeUnit.SECONDS), () -> "ended early");
                Signals.interrupt(process);
                String out = new String(process.getInputStream().readAllBytes(), UTF_8);
                CommandRun run = new CommandRun(process.waitFor(), out, Files.readString(err));
                if (farEnough.test(out)) {
                    return run;
                }
            } finally {
                process.destroyForcibly();
                Files.delete(err);
            }
        }
    }

    /** Runs a command in a JVM of its own and interrupts it once it is ready; its standard error goes to a file. */
    static void interruptedWhen(Callable<Boolean> ready, Path err, Object... args) throws Exception {
        Process process = start(err, args);
        try {
            while (!ready.call()) {
                assertTrue(process.isAlive(), "ended early");
                Thread.sleep(5);
            }
            Signals.interrupt(process);
            assertTrue(process.waitFor(10, TimeUnit.MINUTES), "still runs");
        } finally {
            process.destroyForcibly();
        }
        assertEquals(130, process.exitValue());
        assertEquals("penstock: interrupted\n", Files.readString(err));
    }

    Map<String, Object> json() {
        return Json.object(Json.parse(out));
    }

    private static String[] strings(Object... args) {
        String[] strings = new String[args.length];
        for (int i = 0; i < args.length; i++) {
            strings[i] = args[i].toString();
        }
        return strings;
    }
}
