package io.penstock.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.store.mapped.Sha256;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Runs the fuzz targets of this package, as its comment says. */
class FuzzTest {

    private static final long SECONDS = Long.getLong("fuzz.seconds", 0);
    private static final String TARGETS = System.getProperty("fuzz.target", "");
    private static final int SEED = Integer.getInteger("fuzz.seed", 20261121);

    /** What each target gets in a build: so many inputs, or so many seconds if the machine is slow. */
    private static final int BUILD_INPUTS = 1500;
    private static final int BUILD_SECONDS = 6;
    private static final int INPUT_SECONDS = 5;
    private static final int START_SECONDS = 60;

    private static final Path FINDINGS = Path.of("src/test/resources/fuzz");
    private static final Pattern STATS = Pattern.compile("(?m)^stat::number_of_executed_units:\\s+(\\d+)$");

    @TestFactory
    Stream<DynamicTest> whatWasFoundOnceIsReadOrRefused() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (String name : targets()) {
            FuzzTarget target = FuzzTarget.of(name);
            for (Path input : findings(name)) {
                tests.add(DynamicTest.dynamicTest(name + "/" + input.getFileName(),
                        () -> replay(target, Files.readAllBytes(input))));
            }
        }
        return tests.stream();
    }

    @TestFactory
    Stream<DynamicTest> whatMutationsMakeOfSeedsIsReadOrRefused() throws IOException {
        return targets().stream().map(name -> DynamicTest.dynamicTest(name, () -> fuzz(name)));
    }

    @Test
    void partsOfAnInputAreTheFilesThatWereJoined() {
        List<byte[]> parts = List.of(new byte[] {1, 2}, new byte[0], new byte[] {(byte) 0xF0, 3});
        byte[] joined = Parts.join(parts);
        assertEquals(2 + 8 + 8 + 2, joined.length);
        List<byte[]> split = Parts.split(joined, 5);
        assertEquals(3, split.size());
        for (int i = 0; i < 3; i++) {
            assertEquals(-1, MemorySegment.ofArray(parts.get(i)).mismatch(MemorySegment.ofArray(split.get(i))));
        }
        assertEquals(10, Parts.split(joined, 2).get(1).length);
        assertEquals(1, Parts.split(new byte[0], 3).size());
    }

    /** The names of the targets: all classes of this package that are called so, or those that were asked for. */
    private static List<String> targets() throws IOException {
        if (!TARGETS.isEmpty()) {
            return List.of(TARGETS.split(","));
        }
        Path classes = Path.of("target/test-classes", FuzzTest.class.getPackageName().replace('.', '/'));
        try (Stream<Path> files = Files.list(classes)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith("Fuzz.class") && !name.equals(StoreFuzz.class.getSimpleName() + ".class"))
                    .map(name -> name.substring(0, name.length() - "Fuzz.class".length())).sorted().toList();
        }
    }

    private static List<Path> findings(String name) throws IOException {
        Path folder = FINDINGS.resolve(name);
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().toList();
        }
    }

    private static void replay(FuzzTarget target, byte[] input) throws IOException {
        Path folder = inputFolder();
        try {
            assertTimeoutPreemptively(Duration.ofSeconds(2 * INPUT_SECONDS),
                    () -> FuzzDriver.replay(target, input, folder));
        } finally {
            delete(folder);
        }
    }

    private static void fuzz(String name) throws IOException, InterruptedException {
        Path home = Path.of("target/fuzz", name);
        Path corpus = home.resolve(SECONDS == 0 ? "build-corpus" : "corpus");
        if (SECONDS == 0) {
            delete(corpus);
        }
        Files.createDirectories(corpus);
        Path seeds = writeSeeds(name, home.resolve("seeds"));
        Path findings = Files.createDirectories(SECONDS == 0 ? home.resolve("findings") : FINDINGS.resolve(name));
        Path log = home.resolve("log");
        Path inputs = inputFolder();
        try {
            Process jazzer = new ProcessBuilder(command(name, inputs, findings, corpus, seeds))
                    .redirectErrorStream(true).redirectOutput(log.toFile()).start();
            try {
                long limit = (SECONDS == 0 ? BUILD_SECONDS : SECONDS) + START_SECONDS;
                assertTrue(jazzer.waitFor(limit, TimeUnit.SECONDS), () -> name + " still runs after " + limit + " s");
            } finally {
                jazzer.destroyForcibly().waitFor();
            }
            String output = Files.readString(log);
            assertEquals(0, jazzer.exitValue(), () -> name + ", " + log + ":\n" + output);
            Matcher stats = STATS.matcher(output);
            assertTrue(stats.find(), () -> name + " ran nothing:\n" + output);
            System.out.println("fuzz " + name + ": " + stats.group(1) + " inputs");
        } finally {
            delete(inputs);
            try (Stream<Path> left = Files.list(findings)) {
                if (left.findAny().isEmpty()) {
                    Files.delete(findings);
                }
            }
        }
    }

    private static List<String> command(String name, Path inputs, Path findings, Path corpus, Path seeds)
            throws IOException {
        FuzzTarget target = FuzzTarget.of(name);
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-XX:+EnableDynamicAgentLoading", "-Xmx512m", "-Xss1m",
                "--sun-misc-unsafe-memory-access=allow",
                "-D" + FuzzDriver.FOLDER_PROPERTY + "=" + inputs, "-cp", System.getProperty("java.class.path"),
                "com.code_intelligence.jazzer.Jazzer", "--target_class=" + FuzzDriver.class.getName(),
                "--target_args=" + name, "--instrumentation_includes=io.penstock.**",
                "--instrumentation_excludes=io.penstock.fuzz.**", "--custom_hook_includes=io.penstock.**",
                "--custom_hook_excludes=io.penstock.fuzz.**",
                "--reproducer_path=" + findings.getParent(), "-artifact_prefix=" + findings + "/",
                "-max_len=" + target.maxBytes(), "-len_control=0", "-timeout=" + INPUT_SECONDS, "-rss_limit_mb=2048",
                "-print_final_stats=1", "-use_value_profile=1",
                "-max_total_time=" + (SECONDS == 0 ? BUILD_SECONDS : SECONDS)));
        if (SECONDS == 0) {
            command.addAll(List.of("-runs=" + BUILD_INPUTS, "-seed=" + SEED));
        }
        command.addAll(List.of(corpus.toString(), seeds.toString()));
        return command;
    }

    /** The seeds and what was found before, as files that are named after their content. */
    private static Path writeSeeds(String name, Path folder) throws IOException {
        delete(folder);
        Files.createDirectories(folder);
        FuzzTarget target = FuzzTarget.of(name);
        List<byte[]> seeds = new ArrayList<>(target.seeds());
        for (Path input : findings(name)) {
            seeds.add(Files.readAllBytes(input));
        }
        seeds.removeIf(seed -> seed.length > target.maxBytes());
        assertTrue(!seeds.isEmpty(), name + " has no seeds");
        for (byte[] seed : seeds) {
            Files.write(folder.resolve(Sha256.hex(MemorySegment.ofArray(seed), _ -> { })), seed);
        }
        return folder;
    }

    /** A folder in memory, where the system has one: millions of files are written there. */
    private static Path inputFolder() throws IOException {
        Path memory = Path.of("/dev/shm");
        return Files.isWritable(memory) ? Files.createTempDirectory(memory, "penstock-fuzz-")
                : Files.createTempDirectory("penstock-fuzz-");
    }

    private static void delete(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }
}
