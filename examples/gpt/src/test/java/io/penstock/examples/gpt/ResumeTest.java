// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
class ResumeTest {

    private static final int STEPS = 40;
    private static final int KILLS = 6;

    @TempDir
    private Path folder;

    @Test
    void aRunThatIsKilledAtRandomStepsHasTheLossesAndWeightsOfOneThatIsNot() throws IOException, InterruptedException {
        killAndResume(KILLS, "cpu", Map.of());
    }

    @Test
    void soHasOneOnAGpuThatIsSimulated() throws IOException, InterruptedException {
        killAndResume(2, "cuda", SimulatedGpu.build(folder.resolve("gpu")).environment());
    }

    /** Conversations by a chat template, of which only the answers are trained on. */
    @Test
    void soHasOneOnConversations() throws IOException, InterruptedException {
        killAndResume(Corpus.chats(folder), 3, "cpu", Map.of());
    }

    private void killAndResume(int kills, String device, Map<String, String> environment)
            throws IOException, InterruptedException {
        killAndResume(Corpus.tokenize(folder), kills, device, environment);
    }

    /** Kills a child JVM when its log has come to a random step, and again after it has resumed. */
    private void killAndResume(Corpus corpus, int kills, String device, Map<String, String> environment)
            throws IOException, InterruptedException {
        Path whole = folder.resolve("whole");
        SimulatedGpu.run(0, program(environment, corpus, whole, device, 3));
        assertEquals(STEPS, Files.readAllLines(whole.resolve("losses.csv")).size());

        long seed = System.nanoTime();
        Random random = new Random(seed);
        Path killed = folder.resolve("killed");
        int died = 0;
        for (int kill = 0; kill < kills; kill++) {
            int step = 1 + random.nextInt(STEPS * (kill + 1) / kills);
            int threads = 1 + random.nextInt(3);
            died += killAt(step, killed, program(environment, corpus, killed, device, threads)) ? 1 : 0;
        }
        SimulatedGpu.run(0, program(environment, corpus, killed, device, 2));

        String where = "seed " + seed + ", " + died + " kills";
        assertTrue(died > 0, where);
        assertEquals(Files.readString(whole.resolve("losses.csv")), Files.readString(killed.resolve("losses.csv")),
                where);
        for (String file : List.of("model.safetensors", "optimizer.safetensors")) {
            Path expected = checkpoint(whole).resolve(file);
            assertEquals(-1, Files.mismatch(expected, checkpoint(killed).resolve(file)), where + ": " + file);
        }
    }

    private static ProcessBuilder program(Map<String, String> environment, Corpus corpus, Path out, String device,
            int threads) {
        return SimulatedGpu.program(Train.class, environment, "--first", corpus.letters().toString(), "--second",
                corpus.books().toString(), "--out", out.toString(), "--resume", "--device", device, "--steps",
                String.valueOf(STEPS), "--batch", "4", "--context", "32", "--layers", "1", "--heads", "1", "--width",
                "32", "--warmup", "5", "--validate-every", "8", "--save-every", "3", "--print-every", "10",
                "--threads", String.valueOf(threads));
    }

    /** Returns false if the run had ended before. */
    private static boolean killAt(int step, Path out, ProcessBuilder program) throws IOException, InterruptedException {
        Path log = out.resolve("losses.csv");
        Files.createDirectories(out);
        if (!Files.exists(log)) {
            Files.createFile(log);
        }
        FileTime before = Files.getLastModifiedTime(log);
        Process run = program.start();
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
        // Resuming drops the lines after the checkpoint.
        while (run.isAlive() && (Files.getLastModifiedTime(log).equals(before) || lines(log) < step)) {
            assertTrue(System.nanoTime() < deadline, () -> "no step " + step + ": " + output(run));
            Thread.sleep(1);
        }
        boolean wasAlive = run.isAlive();
        run.destroyForcibly().waitFor();
        if (!wasAlive) {
            assertEquals(0, run.exitValue(), () -> output(run));
        }
        return wasAlive;
    }

    private static long lines(Path log) throws IOException {
        return Files.readString(log).lines().count();
    }

    private static String output(Process process) {
        try {
            return new String(process.getInputStream().readAllBytes());
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static Path checkpoint(Path run) throws IOException {
        try (Stream<Path> all = Files.list(run)) {
            return all.filter(each -> each.getFileName().toString().startsWith("step-")).sorted().toList().getLast();
        }
    }
}
