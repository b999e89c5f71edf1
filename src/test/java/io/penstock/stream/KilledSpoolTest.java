// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.StackAndPad;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.Tensor;
import io.penstock.state.LoaderState;
import io.penstock.testing.JavaCommand;
import io.penstock.testing.Thorough;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Trainers that read a pipe through a spool, and are killed (-9) anywhere and resumed from the last state, give no
 * record twice, at each position always the same one, and in order. {@code -Dpenstock.kills=200} kills more often.
 */
@Tag("slow")
class KilledSpoolTest {

    private static final int KILLS = Thorough.times("penstock.kills", 2, 4);
    private static final long SEED = Long.getLong("penstock.kills.seed", 18);
    private static final int DIGITS = 8;

    @TempDir
    private Path folder;

    /** Takes the folders of the spool and the state. Reads lines of digits, and says each with its position. */
    static final class Trainer {

        private Trainer() {
        }

        public static void main(String[] args) throws IOException {
            Path saved = Path.of(args[0], "state.json");
            StreamSource source = new SpoolSource(LineSource.once("numbers", System.in), Path.of(args[0], "spool"),
                    1 << 20);
            try (StreamDataset stream = StreamDataset.builder(source).field("line").open()) {
                DataLoaderBuilder builder = DataLoader.builder(stream).collator(StackAndPad.cutTo(DIGITS)).batchSize(8)
                        .workers(1);
                LoaderState from = Files.exists(saved) ? LoaderState.read(saved) : null;
                long position = from == null ? 0 : from.position();
                try (DataLoader loader = (from == null ? builder : builder.resume(from)).open()) {
                    while (loader.hasNext()) {
                        StringBuilder said = new StringBuilder();
                        try (Batch batch = loader.next()) {
                            Tensor lines = batch.tensor("line");
                            for (int row = 0; row < batch.count(); row++) {
                                said.append(position++).append(' ');
                                for (int i = 0; i < DIGITS; i++) {
                                    said.append((char) lines.getLong((long) row * DIGITS + i));
                                }
                                said.append('\n');
                            }
                        }
                        System.out.print(said);
                        System.out.flush();
                        if (position % 3 == 0) {
                            loader.state().write(saved);
                        }
                    }
                    loader.state().write(saved);
                }
            }
        }
    }

    @Test
    void killedAndResumedARunGivesEachRecordAtOnePosition() throws Exception {
        Random random = new Random(SEED);
        List<String> given = new ArrayList<>();
        long next = 0;
        for (int run = 0; run <= KILLS; run++) {
            next = run(next, run == KILLS ? Integer.MAX_VALUE : 1 + random.nextInt(300), given);
        }
        String before = "";
        for (String record : given) {
            assertTrue(record.compareTo(before) > 0, record + " behind " + before + ", seed " + SEED);
            before = record;
        }
        assertTrue(given.size() > 0);
        assertEquals(given.size(), LoaderState.read(folder.resolve("state.json")).position());
    }

    /** Runs a trainer on numbers from a first one on, kills it behind so many, and returns the next number. */
    private long run(long first, int most, List<String> given) throws IOException, InterruptedException {
        List<String> command = JavaCommand.of();
        command.addAll(List.of(Trainer.class.getName(), folder.toString()));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        long[] sent = {first};
        Thread sender = Thread.ofPlatform().start(() -> {
            try (OutputStream to = process.getOutputStream()) {
                for (int i = 0; i < 3000; i++) {
                    to.write(String.format("%0" + DIGITS + "d%n", sent[0]++).getBytes(StandardCharsets.US_ASCII));
                }
            } catch (IOException _) {
                // The trainer was killed.
            }
        });
        try (BufferedReader reader = process.inputReader()) {
            int seen = 0;
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                String[] words = line.split(" ");
                if (words.length < 2 || words[1].length() < DIGITS) {
                    continue;                          // killed while it said that
                }
                int position = Integer.parseInt(words[0]);
                if (position < given.size()) {
                    assertEquals(given.get(position), words[1], "position " + position + ", seed " + SEED);
                } else {
                    assertEquals(given.size(), position, "seed " + SEED);
                    given.add(words[1]);
                }
                if (++seen == most) {
                    process.toHandle().destroyForcibly();      // and read what it has said
                }
            }
        }
        int status = process.waitFor();
        sender.join();
        assertTrue(status == 0 || most < Integer.MAX_VALUE, "a run that nobody killed failed: " + status);
        return sent[0];
    }
}
