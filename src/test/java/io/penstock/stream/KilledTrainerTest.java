// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.JavaCommand;
import io.penstock.testing.Thorough;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes that are killed (-9) anywhere and resumed from the last state, with other workers and ranks, give each
 * record once, in the order of a run that was not killed. {@code -Dpenstock.kills=200 -Dpenstock.kills.lanes=64} kills
 * more often, on more lanes.
 */
@Tag("slow")
class KilledTrainerTest {

    private static final int KILLS = Thorough.times("penstock.kills", 2, 4);
    private static final int LANES = Integer.getInteger("penstock.kills.lanes", 8);
    private static final long SEED = Long.getLong("penstock.kills.seed", 18);

    @TempDir
    private Path folder;

    @Test
    void killedAndResumedWithOtherWorkersAndRanksARunGivesTheSameRecords() throws Exception {
        int each = 480 * Math.max(4, KILLS) / LANES;
        Path lines = Files.createDirectory(folder.resolve("lines"));
        for (int file = 0; file < LANES + 3; file++) {
            List<String> text = new ArrayList<>();
            for (int i = 0; i < each; i++) {
                text.add(String.format("%03d%07d", file + 1, i));
            }
            Files.write(lines.resolve("part-%03d.txt".formatted(file)), text);
        }
        long records = (long) each * LANES;
        Path straight = folder.resolve("straight");
        assertEquals(0, run(straight, 1, 1, records, Integer.MAX_VALUE, lines));
        Path killed = folder.resolve("killed");
        Random random = new Random(SEED);
        int kills = 0;
        int status = -1;
        while (status != 0) {
            int ranks = 1 << random.nextInt(3);
            int steps = kills < KILLS ? 1 + random.nextInt((int) (records / (4L * ranks * (KILLS + 1))))
                    : Integer.MAX_VALUE;
            status = run(killed, ranks, random.nextInt(9), records, steps, lines);
            kills += status == 0 ? 0 : 1;
            assertTrue(status == 0 || steps < Integer.MAX_VALUE, "seed " + SEED + ": a run that nobody killed failed");
        }
        System.out.println(getClass().getSimpleName() + ": " + kills + " kills on " + LANES + " lanes, seed " + SEED);
        byte[] bytes = Files.readAllBytes(killed);
        assertArrayEquals(Files.readAllBytes(straight), bytes, () -> "seed " + SEED);
        var distinct = new HashSet<String>();
        for (int at = 0; at < bytes.length; at += 10) {
            distinct.add(new String(bytes, at, 10));
        }
        assertEquals(records, distinct.size());
    }

    /** Runs a trainer, and kills it when it has made so many steps. */
    private int run(Path out, int ranks, int workers, long records, int steps, Path lines)
            throws IOException, InterruptedException {
        List<String> command = JavaCommand.of();
        command.addAll(List.of(KilledTrainer.class.getName(), lines.toString(), out.toString(), out + ".state",
                Integer.toString(ranks), Integer.toString(workers), Long.toString(records), Integer.toString(LANES)));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        StringBuilder said = new StringBuilder();
        try (BufferedReader reader = process.inputReader()) {
            int made = 0;
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                if (!Character.isDigit(line.charAt(0))) {
                    said.append(line).append('\n');
                } else if (++made >= steps) {
                    process.destroyForcibly();
                    break;
                }
            }
        }
        int status = process.waitFor();
        assertEquals("", said.toString());
        return status;
    }
}
