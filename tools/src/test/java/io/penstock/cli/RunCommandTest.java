// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.diagnose.Summary;
import io.penstock.testing.Corpora;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Trainers that know nothing of a diagnosis, as processes of their own. */
@Tag("slow")
class RunCommandTest {

    /** Input with branches, a loop, exceptions and a bridge method. */
    private static final String DATA = """
            package com.acme;

            import java.util.Iterator;
            import java.util.NoSuchElementException;

            final class Data implements Iterator<int[]> {
                private final int count;
                private int at;

                Data(int count) {
                    this.count = count;
                }

                @Override
                public boolean hasNext() {
                    return at < count;
                }

                @Override
                public int[] next() {
                    if (at >= count) {
                        throw new NoSuchElementException();
                    }
                    int sum = 0;
                    for (int i = 0; i < at; i++) {
                        sum += i % 2 == 0 ? i : -i;
                    }
                    return at++ % 3 == 0 ? new int[] {sum} : new int[] {sum, at};
                }
            }
            """;

    private static final String EPOCHS = """
            package com.acme;

            import java.util.Iterator;

            final class Epochs implements Iterable<int[]> {
                @Override
                public Iterator<int[]> iterator() {
                    return new Data(20);
                }
            }
            """;

    private static final String TRAINER = """
            package com.acme;

            public final class Trainer {
                public static void main(String[] args) {
                    long sum = 0;
                    for (int epoch = 0; epoch < 2; epoch++) {
                        for (int[] item : new Epochs()) {
                            sum += item.length;
                        }
                    }
                    System.exit(sum == 2 * (20 + 13) ? 7 : 1);
                }
            }
            """;

    private static final String LOADING = """
            package com.acme;

            import io.penstock.dataset.TokenWindows;
            import io.penstock.loader.Batch;
            import io.penstock.loader.DataLoader;
            import io.penstock.store.TokenStore;
            import java.nio.file.Path;

            public final class Loading {
                public static void main(String[] args) throws Exception {
                    try (TokenStore store = TokenStore.open(Path.of(args[0]), "nanogpt");
                            DataLoader loader = DataLoader.builder(TokenWindows.of(store, 32)).batchSize(4).workers(1)
                                    .name("acme").open()) {
                        for (int step = 0; step < 40; step++) {
                            loader.next().close();
                        }
                        if (args.length > 1) {
                            System.out.println("ready");
                            Thread.sleep(600_000);
                        }
                    }
                }
            }
            """;

    @TempDir
    Path folder;
    private Path classes;
    private Path report;

    @BeforeEach
    void compile() throws IOException {
        classes = Files.createDirectories(folder.resolve("classes"));
        report = folder.resolve("report, of a run");
        List<String> options = new ArrayList<>(List.of("-proc:none", "-d", classes.toString(), "-cp",
                System.getProperty("java.class.path")));
        for (String source : List.of(DATA, EPOCHS, TRAINER, LOADING)) {
            String name = source.replaceAll("(?s).*?final class (\\w+).*", "$1");
            options.add(Files.writeString(folder.resolve(name + ".java"), source).toString());
        }
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, options.toArray(String[]::new)));
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    private String withPenstock() {
        return classes + System.getProperty("path.separator") + System.getProperty("java.class.path");
    }

    private void assertTimed(String input) throws IOException {
        CommandRun run = CommandRun.of("run", "--report", report, "--input", input, "--", java(),
                "--enable-native-access=ALL-UNNAMED", "-cp", classes, "com.acme.Trainer");
        assertEquals(7, run.exitCode(), "the trainer's own status: " + run.err());
        assertTrue(run.out().contains("penstock report"), run.out());
        Summary summary = Summary.read(report);
        assertEquals(input, summary.run());
        assertEquals(2, summary.input().coldStart().count(), "two epochs");
        // Of 40 steps, two are the first of their epoch.
        assertEquals(38, summary.ranks().getFirst().steps());
        assertTrue(Files.readString(report.resolve("report.html")).contains(input));
    }

    @Test
    void anIteratorsNextIsTimedInATrainerThatHasNoPenstock() throws IOException {
        assertTimed("com.acme.Data#next");
    }

    @Test
    void anIteratorThatAMethodReturnsIsTimed() throws IOException {
        assertTimed("com.acme.Epochs#iterator");
    }

    @Test
    void aMethodThatDoesNotExistIsNamedAndTheTrainerRunsOn() {
        CommandRun run = CommandRun.of("run", "--report", report, "--input", "com.acme.Data#absent", "--", java(),
                "-cp", classes, "com.acme.Trainer");
        assertEquals(7, run.exitCode(), run.err());
        assertTrue(run.out().startsWith("No report"), run.out());
        assertFalse(Files.exists(report.resolve(Summary.JSON_FILE)));
    }

    @Test
    void aLoaderIsFoundAndItsReportHasCauses() throws IOException {
        Path tokens = Corpora.rawU16(folder, 20_000, 1);
        CommandRun run = CommandRun.of("run", "--report", report, "--baseline", folder.resolve("past.json"), "--",
                java(), "--enable-native-access=ALL-UNNAMED", "-cp", withPenstock(), "com.acme.Loading", tokens);
        assertEquals(0, run.exitCode(), run.err());
        Summary summary = Summary.read(report);
        assertEquals("acme", summary.run());
        assertEquals(4, summary.fingerprint().batchSize());
        assertFalse(summary.input().stages().isEmpty());
        assertTrue(summary.ranks().getFirst().steps() >= 38, summary.text());
    }

    @Test
    void aTrainerThatIsEndedFromOutsideHasItsReport() throws Exception {
        Path tokens = Corpora.rawU16(folder, 20_000, 1);
        Path jar = folder.resolve("agent.jar");
        RunCommand.writeAgent(jar);
        Process trainer = new ProcessBuilder(java(), "-javaagent:" + jar + "=report=" + folder.resolve("ended"),
                "--enable-native-access=ALL-UNNAMED", "-cp", withPenstock(), "com.acme.Loading", tokens.toString(),
                "wait").redirectErrorStream(true).start();
        try (BufferedReader said = new BufferedReader(trainer.inputReader(StandardCharsets.UTF_8))) {
            StringBuilder all = new StringBuilder();
            String line = said.readLine();
            while (line != null && !line.equals("ready")) {
                all.append(line).append('\n');
                line = said.readLine();
            }
            assertEquals("ready", line, all.toString());
            trainer.toHandle().destroy();
            said.lines().forEach(rest -> all.append(rest).append('\n'));
            assertTrue(trainer.waitFor() > 128, all.toString());
            assertTrue(all.toString().contains("report in"), all.toString());
        } finally {
            trainer.destroyForcibly();
        }
        assertEquals("acme", Summary.read(folder.resolve("ended")).run());
    }

    @Test
    void wrongUsageIsSaid() {
        CommandRun script = CommandRun.of("run", "--", "python3", "train.py");
        assertEquals(ExitCode.WRONG_USAGE, script.exitCode());
        assertTrue(script.err().contains("expected java"), script.err());
        CommandRun input = CommandRun.of("run", "--input", "com.acme.Data", "--", java(), "-version");
        assertEquals(ExitCode.WRONG_USAGE, input.exitCode());
        assertTrue(input.err().contains("CLASS#METHOD"), input.err());
    }
}
