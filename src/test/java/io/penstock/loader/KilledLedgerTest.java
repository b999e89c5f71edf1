// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.state.LedgerAudit;
import io.penstock.state.LoaderState;
import io.penstock.testing.JavaCommand;
import io.penstock.testing.Thorough;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Trainers that keep a ledger, and are killed (-9) anywhere and resumed from the last state, pass the audit. */
@Tag("slow")
class KilledLedgerTest {

    private static final int KILLS = Thorough.times("penstock.kills", 2, 4);
    private static final long SEED = Long.getLong("penstock.kills.seed", 36);

    @TempDir
    private Path folder;

    /** Takes a folder. Says each step, and saves a state after every seventh. */
    static final class Trainer {

        private Trainer() {
        }

        public static void main(String[] args) throws IOException {
            Path folder = Path.of(args[0]);
            Path saved = folder.resolve("state.json");
            try (DataLoader loader = LoaderLedgerTest.loader(folder, 0, 1).resumeIfPresent(saved).open()) {
                for (int step = 1; step <= 2000; step++) {
                    try (Batch batch = loader.next()) {
                        System.out.println(batch.number());
                    }
                    if (step % 7 == 0) {
                        loader.state().write(saved);
                    }
                }
                loader.state().write(saved);
            }
        }
    }

    @Test
    void killedAndResumedARunPassesTheAudit() throws Exception {
        Random random = new Random(SEED);
        for (int run = 0; run <= KILLS; run++) {
            run(run == KILLS ? Integer.MAX_VALUE : 1 + random.nextInt(1000));
        }
        LedgerAudit audit = LedgerAudit.of(folder, Optional.of(LoaderLedgerTest.run()));
        assertEquals(List.of(), audit.problems(), "seed " + SEED);
        assertEquals(KILLS + 1, audit.runs());
        assertEquals(LoaderState.read(folder.resolve("state.json")).chain(), audit.chain());
    }

    private void run(int most) throws IOException, InterruptedException {
        List<String> command = JavaCommand.of();
        command.addAll(List.of(Trainer.class.getName(), folder.toString()));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader lines = process.inputReader()) {
            for (int said = 0; said < most && lines.readLine() != null; said++) {
                // reads what the trainer says
            }
        } finally {
            if (most < Integer.MAX_VALUE) {
                process.destroyForcibly();
            }
            process.waitFor();
        }
        assertTrue(Files.size(folder.resolve("rank-00000.ledger")) > 0);
    }
}
