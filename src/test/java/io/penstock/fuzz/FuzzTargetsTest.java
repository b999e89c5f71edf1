// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.publish.Folder;
import io.penstock.testing.Folders;
import io.penstock.testing.Thorough;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/** Runs the fuzz targets of this package that are in some folders of classes, as the package's comment says. */
abstract class FuzzTargetsTest {

    private static final String TARGETS = System.getProperty("fuzz.target", "");
    /** How long each target runs; 0 for what a build gives it. */
    private static final long SECONDS = Long.getLong("fuzz.seconds", 0);
    static final int SEED = Integer.getInteger("fuzz.seed", 20261121);

    private static final String SUFFIX = "Fuzz";
    /** What a build gives each target at most; Jazzer chooses the targets of so many tries. */
    private static final int BUILD_INPUTS = Thorough.times(150, 500);
    private static final int BUILD_TRIES = 4 * BUILD_INPUTS;
    private static final Path FOUND = Path.of("src/test/resources/fuzz");

    @TestFactory
    Stream<DynamicTest> whatWasFoundOnceIsReadOrRefused() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (String name : targets()) {
            FuzzTarget target = FuzzTarget.of(name + SUFFIX);
            for (Path input : Folders.files(FOUND.resolve(name))) {
                tests.add(DynamicTest.dynamicTest(name + "/" + input.getFileName(), () -> replay(target, input)));
            }
        }
        return tests.stream();
    }

    @Tag("slow")
    @TestFactory
    Stream<DynamicTest> whatMutationsMakeOfSeedsIsReadOrRefused() throws IOException {
        int processors = Runtime.getRuntime().availableProcessors();
        List<List<String>> groups = new ArrayList<>();
        for (String name : targets()) {
            // In a build they share as many processes as there are processors; otherwise each has its own.
            if (SECONDS > 0 || groups.size() < processors) {
                groups.add(new ArrayList<>());
            }
            groups.stream().min(Comparator.comparingInt(List::size)).orElseThrow().add(name);
        }
        ExecutorService processes = Executors.newFixedThreadPool(processors);
        List<DynamicTest> tests = new ArrayList<>();
        for (List<String> group : groups) {
            Future<Void> fuzzed = processes.submit(() -> {
                fuzz(group);
                return null;
            });
            tests.add(DynamicTest.dynamicTest(String.join(", ", group), () -> outcome(fuzzed)));
        }
        processes.shutdown();
        return tests.stream().onClose(processes::shutdownNow);
    }

    /** The names of the targets: all classes of this package that are called so, of them those that were asked for. */
    private List<String> targets() throws IOException {
        List<String> targets = new ArrayList<>();
        String ending = SUFFIX + ".class";
        for (String classes : classes()) {
            Folders.files(Path.of(classes, FuzzTargetsTest.class.getPackageName().replace('.', '/'))).stream()
                    .map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(ending) && !file.startsWith(StoreFuzz.class.getSimpleName()))
                    .map(file -> file.substring(0, file.length() - ending.length()))
                    .filter(name -> TARGETS.isEmpty() || List.of(TARGETS.split(",")).contains(name))
                    .forEach(targets::add);
        }
        return targets;
    }

    /** The folders of classes that the targets are in, from the top of the repository. */
    abstract List<String> classes();

    private static void outcome(Future<Void> fuzzed) throws Throwable {
        try {
            fuzzed.get();
        } catch (ExecutionException e) {
            throw e.getCause();
        }
    }

    private static void replay(FuzzTarget target, Path input) throws IOException {
        Path inputs = Folders.inMemory();
        try {
            assertTimeoutPreemptively(Duration.ofSeconds(JazzerRun.BUILD_INPUT_SECONDS),
                    () -> FuzzDriver.replay(target, Files.readAllBytes(input), inputs));
        } finally {
            Folder.delete(inputs);
        }
    }

    private static void fuzz(List<String> names) throws IOException, InterruptedException {
        List<String> classes = names.stream().map(name -> name + SUFFIX).toList();
        FuzzTargets targets = new FuzzTargets(classes, Long.MAX_VALUE);
        List<byte[]> seeds = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            FuzzTarget target = FuzzTarget.of(classes.get(i));
            List<byte[]> own = new ArrayList<>(target.seeds());
            own.removeIf(seed -> seed.length > target.maxBytes());
            assertFalse(own.isEmpty(), names.get(i) + " has no seeds");
            for (Path input : Folders.files(FOUND.resolve(names.get(i)))) {
                own.add(Files.readAllBytes(input));
            }
            for (byte[] seed : own) {
                seeds.add(targets.inputFor(i, seed));
            }
        }
        Path home = Path.of("target/fuzz", SECONDS > 0 ? names.getFirst() : "build-" + names.getFirst());
        JazzerRun run;
        if (SECONDS == 0) {
            Folder.delete(home.resolve("corpus"));
            run = new JazzerRun(classes, BUILD_INPUTS, home, home.resolve("corpus"), home.resolve("findings"), 0,
                    List.of("-runs=" + BUILD_TRIES * names.size(), "-seed=" + SEED));
        } else {
            run = new JazzerRun(classes, Long.MAX_VALUE, home, home.resolve("corpus"), FOUND.resolve(names.getFirst()),
                    SECONDS, List.of());
        }
        JazzerRun.Result result = run.run(seeds);
        assertEquals(0, result.exitCode(), () -> found(targets, names, run) + ", see " + result.log());
        Map<String, Long> inputs = result.inputs();
        for (String name : names) {
            long count = inputs.getOrDefault(name + SUFFIX, 0L);
            System.out.println("fuzz " + name + ": " + count + " inputs");
            assertTrue(count > FuzzTarget.of(name + SUFFIX).seeds().size(),
                    () -> name + " ran " + count + " inputs, see " + result.log());
        }
        if (Folders.files(run.findings()).isEmpty()) {
            Files.delete(run.findings());
        }
    }

    /** Where the inputs of a failed run are, each in a folder of its target, without what chose the target. */
    private static String found(FuzzTargets targets, List<String> names, JazzerRun run) {
        List<Path> found = new ArrayList<>();
        try {
            for (Path finding : Folders.files(run.findings())) {
                byte[] input = Files.readAllBytes(finding);
                Path folder = run.home().resolve(names.get(targets.targetOf(input)));
                Files.createDirectories(folder);
                found.add(Files.write(folder.resolve(finding.getFileName()), targets.bytesOf(input)));
            }
        } catch (IOException e) {
            return "findings that cannot be read: " + e;
        }
        return "found " + found;
    }
}
