// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.internal.Sha256;
import io.penstock.io.publish.Folder;
import io.penstock.testing.Folders;
import io.penstock.testing.JavaCommand;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Targets under Jazzer's own driver, in a process of their own: what takes its memory or its time, or ends it, does so
 * without the tests.
 *
 * @param targetClasses the simple names of the targets' classes
 * @param most how many inputs each target runs at most
 * @param home where seeds and log are put
 * @param corpus inputs that reached something new, of earlier runs and of this one
 * @param findings where an input that is a finding is written
 * @param seconds how long it runs; 0 for a run that is bounded by its inputs
 * @param arguments further options of Jazzer or libFuzzer
 */
record JazzerRun(List<String> targetClasses, long most, Path home, Path corpus, Path findings, long seconds,
        List<String> arguments) {

    /** What an input may take; in a build more, since other programs may have the processors. */
    static final int INPUT_SECONDS = 5;
    static final int BUILD_INPUT_SECONDS = 120;

    /** A run that hangs is ended this long after it should have ended. */
    private static final int HANG_SECONDS = 3_600;
    private static final Pattern INPUTS = Pattern.compile("(?m)^inputs of (\\w+): (\\d+)$");

    /**
     * How a run ended.
     *
     * @param exitCode 0 if nothing was found
     * @param log all that it printed
     */
    record Result(int exitCode, Path log) {

        String output() throws IOException {
            return Files.readString(log);
        }

        /** The inputs that each target has run, by its class; none if the process did not come to its end. */
        Map<String, Long> inputs() throws IOException {
            return INPUTS.matcher(output()).results().collect(Collectors.toMap(line -> line.group(1),
                    line -> Long.parseLong(line.group(2))));
        }
    }

    /** Runs it to its end. */
    Result run(List<byte[]> seeds) throws IOException, InterruptedException {
        Files.createDirectories(corpus);
        Files.createDirectories(findings);
        Path seedFolder = home.resolve("seeds");
        Folder.delete(seedFolder);
        Files.createDirectories(seedFolder);
        for (byte[] seed : seeds) {
            Files.write(seedFolder.resolve(Sha256.hex(MemorySegment.ofArray(seed), _ -> { })), seed);
        }
        Path log = home.resolve("log");
        Path inputs = Folders.inMemory();
        Process jazzer = new ProcessBuilder(command(inputs, seedFolder)).redirectErrorStream(true)
                .redirectOutput(log.toFile()).start();
        try {
            if (!jazzer.waitFor(seconds + HANG_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError(targetClasses + " still runs after " + (seconds + HANG_SECONDS) + " s");
            }
            return new Result(jazzer.exitValue(), log);
        } finally {
            jazzer.destroyForcibly().waitFor();
            Folder.delete(inputs);
        }
    }

    private List<String> command(Path inputs, Path seeds) {
        String[] options = {"--sun-misc-unsafe-memory-access=allow", "-XX:+EnableDynamicAgentLoading", "-Xmx512m",
            "-D" + FuzzDriver.FOLDER_PROPERTY + "=" + inputs};
        List<String> command = seconds == 0 ? JavaCommand.of(options)
                : JavaCommand.optimized(JavaCommand.classPath(), options);
        command.addAll(List.of(
                "com.code_intelligence.jazzer.Jazzer", "--target_class=" + FuzzDriver.class.getName(),
                "--target_args=" + most + " " + String.join(" ", targetClasses),
                "--instrumentation_includes=io.penstock.**",
                "--instrumentation_excludes=" + FuzzDriver.class.getName() + ":" + StoreOracle.class.getName(),
                "--custom_hook_includes=io.penstock.**", "--reproducer_path=" + home,
                "-artifact_prefix=" + findings + "/", "-max_len=" + new FuzzTargets(targetClasses, most).maxBytes(),
                "-len_control=0", "-timeout=" + (seconds == 0 ? BUILD_INPUT_SECONDS : INPUT_SECONDS),
                "-rss_limit_mb=2048", "-use_value_profile=1",
                "-print_final_stats=1", "-max_total_time=" + seconds));
        command.addAll(arguments);
        command.addAll(List.of(corpus.toString(), seeds.toString()));
        return command;
    }
}
