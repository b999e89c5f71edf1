// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.penstock.testing.JavaCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;

/** A JVM for checks: a process loads CUDA's library once, and that of the tests must not load a false one. */
public final class ChildJvm {
    private static final int TIMEOUT_SECONDS = 1_800;

    /** How a program ended. */
    public record Result(int exitCode, String output) {
    }

    /** An outcome: the name of a check and how it ended, followed by the reason if it failed. */
    private static final Pattern OUTCOME = Pattern.compile("## (.+) (ok|failed) \\d+");

    private boolean nativeAccess = true;
    private boolean optimized;
    private final List<String> properties = new ArrayList<>();
    private String limit;
    private final Map<String, String> environment = new HashMap<>();
    private long timeoutSeconds = TIMEOUT_SECONDS;

    /** Starts without any of the settings that the tests' own environment may have. */
    public ChildJvm() {
        for (String variable : List.of("PENSTOCK_CUDART", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES",
                "LD_LIBRARY_PATH", "JAVA_TOOL_OPTIONS", "SIM_CUDA_STRICT_EXIT")) {
            environment.put(variable, null);
        }
    }

    public ChildJvm library(Path library) {
        properties.add("-Dpenstock.cudart=" + library);
        return this;
    }

    /** Compiles and collects as a user's JVM does: for what counts allocations. */
    public ChildJvm optimized() {
        optimized = true;
        return this;
    }

    /** Adds an option of the JVM. */
    public ChildJvm option(String option) {
        properties.add(option);
        return this;
    }

    /** Starts under a limit of the shell's, such as {@code -v 1000000}: what {@code ulimit} takes. */
    public ChildJvm limit(String ulimit) {
        limit = ulimit;
        return this;
    }

    /** Gives it other than a minute. */
    public ChildJvm within(long seconds) {
        timeoutSeconds = seconds;
        return this;
    }

    ChildJvm withoutNativeAccess() {
        nativeAccess = false;
        properties.add("--illegal-native-access=deny");
        return this;
    }

    public ChildJvm variable(String name, Object value) {
        environment.put(name, value.toString());
        return this;
    }

    /** Runs one check of {@link CudaChecks}; it passes if the JVM ends with 0. */
    String run(String check) throws IOException, InterruptedException {
        Result result = run(CudaChecks.class, check);
        assertEquals(0, result.exitCode(), () -> check + ":\n" + result.output());
        return result.output();
    }

    /**
     * Runs a program that prints the outcomes of checks, as {@code Scenarios} does, and makes a test of each outcome,
     * and one of the program's end.
     */
    public Stream<DynamicTest> tests(Class<?> main, String... arguments) throws IOException, InterruptedException {
        Result result = run(main, arguments);
        List<DynamicTest> tests = new ArrayList<>();
        Matcher outcome = OUTCOME.matcher(result.output());
        int begin = 0;
        while (outcome.find()) {
            String before = result.output().substring(begin, outcome.start());
            int reason = outcome.end();
            boolean ok = outcome.group(2).equals("ok");
            tests.add(DynamicTest.dynamicTest(outcome.group(1), () -> assertTrue(ok,
                    () -> before + result.output().substring(reason).split("\n## ", 2)[0])));
            begin = outcome.end();
        }
        tests.add(DynamicTest.dynamicTest("to the end", () -> {
            assertEquals(0, result.exitCode(), result::output);
            assertTrue(tests.size() > 1, result::output);
        }));
        return tests.stream();
    }

    /** Runs a program to its end. */
    public Result run(Class<?> main, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(limit == null ? List.of()
                : List.of("sh", "-c", "ulimit " + limit + " && exec \"$0\" \"$@\""));
        properties.add("-Xmx256m");
        String[] options = properties.toArray(String[]::new);
        command.addAll(!nativeAccess ? JavaCommand.withoutNativeAccess(options)
                : optimized ? JavaCommand.optimized(JavaCommand.classPath(), options) : JavaCommand.of(options));
        command.add(main.getName());
        command.addAll(List.of(arguments));
        Path output = Files.createTempFile("cuda-check", ".txt");
        try {
            ProcessBuilder builder = new ProcessBuilder(command)
                    .redirectErrorStream(true).redirectOutput(output.toFile());
            environment.forEach((name, value) -> {
                if (value == null) {
                    builder.environment().remove(name);
                } else {
                    builder.environment().put(name, value);
                }
            });
            Process process = builder.start();
            if (!process.waitFor(timeoutSeconds, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
                fail(main.getSimpleName() + List.of(arguments) + " still ran after " + timeoutSeconds + " s:\n"
                        + Files.readString(output));
            }
            return new Result(process.exitValue(), Files.readString(output));
        } finally {
            Files.delete(output);
        }
    }
}
