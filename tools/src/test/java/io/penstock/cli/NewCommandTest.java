// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.JavaCommand;
import io.penstock.testing.Modules;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The project that {@code penstock new trainer} writes compiles, trains, and resumes; CI also builds it by Maven. */
@Timeout(1200)
class NewCommandTest {

    @TempDir
    Path folder;

    private Path project(String kind) {
        Path project = folder.resolve("my trainer");
        CommandRun run = CommandRun.of("new", "trainer", project, kind, "--store", "../tokens");
        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.out().contains("mvn -q compile exec:exec"), run.out());
        return project;
    }

    @ParameterizedTest
    @CsvSource({"--plain, Model.java", "--djl, Network.java", "--pytorch, Network.java"})
    void itsProjectIsFourFilesWithTheNamesFilledIn(String kind, String model) throws Exception {
        Path project = project(kind);
        try (Stream<Path> files = Files.walk(project).filter(Files::isRegularFile)) {
            List<String> names = files.map(file -> project.relativize(file).toString()).sorted().toList();
            assertEquals(Stream.of("README.md", "pom.xml", "src/main/java/trainer/" + model,
                    "src/main/java/trainer/Trainer.java").sorted().toList(), names);
            for (String name : names) {
                assertFalse(Files.readString(project.resolve(name)).matches("(?s).*@[A-Z]+@.*"), name);
            }
        }
        var pom = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(project.resolve("pom.xml").toFile());
        assertEquals("../tokens", pom.getElementsByTagName("store").item(0).getTextContent());
        assertEquals("my-trainer", pom.getElementsByTagName("artifactId").item(0).getTextContent());
    }

    @Test
    void whatComesNextNamesTheFolderAbsolutely() {
        Path project = folder.resolve("there");
        CommandRun run = CommandRun.of("new", "trainer", Path.of("").toAbsolutePath().relativize(project));
        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.out().contains("    ./penstock quickstart --keep " + project + "/quickstart\n    cd " + project
                + "\n"), run.out());
    }

    @Test
    void itTrainsAndResumesAsIfItHadNotStopped() throws Exception {
        Path project = project("--plain");
        compile(project);
        tokenize();

        List<String> straight = train(project, 60);
        assertEquals(List.of("step-00000060"), checkpoints(project));
        double first = loss(straight.getFirst());
        double last = loss(straight.getLast());
        assertTrue(last < first - 2, straight::toString);

        Files.move(project.resolve("checkpoint"), folder.resolve("of-the-straight-run"));
        train(project, 23);
        List<String> resumed = train(project, 60);
        assertEquals(straight.getLast(), resumed.getLast());
    }

    /** Between the weights of a step and their state: weights that were written over older ones would be lost here. */
    @Test
    void aRunThatIsKilledWhileItSavesResumesFromTheCheckpointBefore() throws Exception {
        Path project = project("--plain");
        Path model = project.resolve("src/main/java/trainer/Model.java");
        String written = "Files.write(file, bytes.array());";
        String source = Files.readString(model);
        assertTrue(source.contains(written), source);
        Files.writeString(model, source.replace(written, written
                + " if (Integer.getInteger(\"kill\", 0) == ++writes) { Runtime.getRuntime().halt(137); }")
                .replace("    private final float[] scores;", "    private final float[] scores;\n"
                        + "    private static int writes;"));
        compile(project);
        tokenize();
        List<String> straight = train(project, 45);
        Files.move(project.resolve("checkpoint"), folder.resolve("of-the-straight-run"));

        Process killed = start(project, 45, "-DsaveEvery=10", "-Dkill=1");
        assertEquals("", checkpointOf(killed));
        killed = start(project, 45, "-DsaveEvery=10", "-Dkill=3");
        assertEquals("", checkpointOf(killed));
        assertEquals(List.of("step-00000010", "step-00000020", "step-00000030"), checkpoints(project));
        killed = start(project, 45, "-DsaveEvery=10", "-Dkill=2");
        assertEquals("20", checkpointOf(killed));
        killed = start(project, 45, "-DsaveEvery=10", "-Dkill=1");
        assertEquals("30", checkpointOf(killed));
        assertEquals(List.of("step-00000020", "step-00000030", "step-00000040"), checkpoints(project));
        assertEquals(straight.getLast(), train(project, 45, "-DsaveEvery=10").getLast());
        assertEquals(List.of("step-00000040", "step-00000045"), checkpoints(project));
    }

    @Test
    void aRunThatIsInterruptedSavesTheStepAtHand() throws Exception {
        Path project = project("--plain");
        compile(project);
        tokenize();
        Process process = start(project, 1_000_000, "-DsaveEvery=1000000");
        List<String> lines = new ArrayList<>();
        try (BufferedReader printed = process.inputReader(UTF_8)) {
            for (String line = printed.readLine(); line != null; line = printed.readLine()) {
                lines.add(line);
                if (line.startsWith("step 20 ")) {
                    process.toHandle().destroy();               // Process.destroy() closes what it prints
                }
            }
        }
        assertEquals(128 + 15, process.waitFor(), lines::toString);
        String last = lines.stream().filter(line -> line.startsWith("step ")).toList().getLast().split(" ")[1];
        assertEquals(List.of(String.format(Locale.ROOT, "step-%08d", Long.parseLong(last))), checkpoints(project));
        String next = Long.toString(Long.parseLong(last) + 1);
        assertTrue(train(project, Integer.parseInt(next)).getFirst().startsWith("step " + next + " "));
    }

    private void tokenize() {
        CommandRun tokenized = CommandRun.of("tokenize", "examples/corpus", "-o", folder.resolve("tokens"));
        assertEquals(0, tokenized.exitCode(), tokenized.err());
    }

    private static List<String> checkpoints(Path project) throws IOException {
        try (Stream<Path> all = Files.list(project.resolve("checkpoint"))) {
            return all.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }

    /** The step from which a run resumed that was then killed; empty if it began. */
    private static String checkpointOf(Process killed) throws IOException, InterruptedException {
        String printed = new String(killed.getInputStream().readAllBytes(), UTF_8);
        assertEquals(137, killed.waitFor(), printed);
        return printed.lines().filter(line -> line.startsWith("resumed behind step "))
                .map(line -> line.substring(line.lastIndexOf(' ') + 1)).collect(Collectors.joining());
    }

    private void compile(Path project) {
        Path sources = project.resolve("src/main/java/trainer");
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, System.out, System.err, "-Xlint:all", "-Werror",
                "-proc:none", "-implicit:none", "-cp", System.getProperty("java.class.path"),
                "-d", project.resolve("classes").toString(),
                sources.resolve("Trainer.java").toString(), sources.resolve("Model.java").toString()));
    }

    /** The lines with a loss of a run of the project in a JVM of its own. */
    private static List<String> train(Path project, int steps, String... options)
            throws IOException, InterruptedException {
        Process process = start(project, steps, options);
        String printed = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertEquals(0, process.waitFor(), printed);
        assertTrue(printed.contains("Verdict"), printed);
        return printed.lines().filter(line -> line.startsWith("step ")).toList();
    }

    private static Process start(Path project, int steps, String... options) throws IOException {
        List<String> command = JavaCommand.optimized(project.resolve("classes") + ":"
                + Modules.path(), "-Xmx512m");
        command.addAll(List.of(options));
        command.addAll(List.of("trainer.Trainer", "../tokens", Integer.toString(steps)));
        return new ProcessBuilder(command).directory(project.toFile()).redirectErrorStream(true).start();
    }

    private static double loss(String line) {
        return Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
    }

    @Test
    void itWritesIntoAnEmptyFolderAndIntoNoOther() throws IOException {
        Path project = Files.createDirectories(folder.resolve("there"));
        assertEquals(0, CommandRun.of("new", "trainer", project).exitCode());
        Map<Path, String> before = contents(project);
        CommandRun again = CommandRun.of("new", "trainer", project);
        assertEquals(1, again.exitCode(), again.err());
        assertTrue(again.err().contains("is not empty"), again.err());
        assertEquals(before, contents(project));

        Path file = Files.writeString(folder.resolve("file"), "mine");
        assertEquals(1, CommandRun.of("new", "trainer", file).exitCode());
        assertEquals("mine", Files.readString(file));
    }

    private static Map<Path, String> contents(Path project) throws IOException {
        try (Stream<Path> files = Files.walk(project).filter(Files::isRegularFile)) {
            return files.collect(Collectors.toMap(file -> file, file -> {
                try {
                    return Files.readString(file);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }));
        }
    }

    @Test
    void aStoreThatAPomCannotHoldIsRefused() {
        CommandRun run = CommandRun.of("new", "trainer", folder.resolve("x"), "--store", "a<b");
        assertEquals(2, run.exitCode());
        assertFalse(Files.exists(folder.resolve("x")));
    }

    @Test
    void aProjectIsOfOneLibrary() {
        CommandRun run = CommandRun.of("new", "trainer", folder.resolve("x"), "--plain", "--djl");
        assertEquals(2, run.exitCode());
        assertFalse(Files.exists(folder.resolve("x")));
    }

    @Test
    void newWithoutAKindSaysWhatItCanWrite() {
        CommandRun run = CommandRun.of("new");
        assertEquals(2, run.exitCode());
        assertTrue(run.err().contains("expected trainer"), run.err());
    }
}
