// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.json.Json;
import io.penstock.testing.Corpora;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StatsCommandTest {

    @TempDir
    Path folder;
    private Path tokens;

    @BeforeEach
    void write() throws IOException {
        tokens = Corpora.rawU16(folder, 40_000, 5);
    }

    private CommandRun stats(Path store, Object... more) {
        List<Object> args = new ArrayList<>(List.of("stats", store, "--format=nanogpt", "--window=32", "--batch=8"));
        args.addAll(List.of(more));
        return CommandRun.of(args.toArray());
    }

    @Test
    void theSameDataIsUnchangedAndOverwrittenDataIsFound() throws IOException {
        Path baseline = folder.resolve("baseline.json");
        CommandRun saved = stats(tokens, "--save", baseline, "--epochs", 2, "--seed", 1);
        assertEquals(0, saved.exitCode(), saved.err());
        assertTrue(saved.out().contains("No change over 2 epochs.\nSaved to " + baseline), saved.out());

        CommandRun same = stats(tokens, "--baseline", baseline, "--fail-on-drift", "--json", "--seed", 2);
        assertEquals(0, same.exitCode(), same.err());
        assertEquals(false, same.json().get("drift"));
        assertEquals(same.json().get("batches_read"), same.json().get("batches_looked_at"));

        byte[] bytes = Files.readAllBytes(tokens);
        for (int i = 0; i < bytes.length / 2; i += 20) {
            ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putShort(2 * i, (short) 7);
        }
        Path changed = Files.write(folder.resolve("changed.bin"), bytes);
        CommandRun found = stats(changed, "--baseline", baseline, "--fail-on-drift");
        assertEquals(1, found.exitCode(), found.err());
        assertTrue(found.out().contains("CHANGED since " + baseline), found.out());
        assertTrue(found.out().contains("tokens: distribution ") && found.out().contains("id 7 from "), found.out());
        CommandRun told = stats(changed, "--baseline", baseline, "--json");
        assertEquals(0, told.exitCode(), "only asked to tell");
        Map<String, Object> first = Json.object(Json.array(told.json().get("changed_since_baseline")).getFirst());
        assertEquals("distribution", first.get("measure"));
    }

    @Test
    void whatIsLookedAtIsWhatWasTakenThoughWorkersAreAhead() {
        CommandRun run = stats(tokens, "--limit", 21, "--json", "--workers", 2);
        assertEquals(0, run.exitCode(), run.err());
        assertEquals(21L, run.json().get("batches_read"));
        assertEquals(21L, run.json().get("batches_looked_at"));
        assertEquals(21L * 8 * 33, run.json().get("values_looked_at"));
    }

    @Test
    void ranksFilesAreMergedToWhatOneRunSees() {
        Path whole = folder.resolve("whole.json");
        assertEquals(0, stats(tokens, "--save", whole).exitCode());
        for (int rank = 0; rank < 2; rank++) {
            CommandRun run = stats(tokens, "--save", folder.resolve("rank" + rank), "--rank", rank, "--world", 2);
            assertEquals(0, run.exitCode(), run.err());
        }
        CommandRun merged = stats(tokens, "--baseline", folder.resolve("rank0"), "--baseline",
                folder.resolve("rank1"), "--fail-on-drift");
        assertEquals(0, merged.exitCode(), merged.err() + merged.out());
        assertTrue(merged.out().contains("(1,250 samples)") || merged.out().contains("(1,249 samples)")
                || merged.out().contains("(1,248 samples)"), merged.out());
    }

    @Test
    void whatCannotBeComparedIsRefusedInOneLine() throws IOException {
        Path baseline = folder.resolve("baseline.json");
        assertEquals(0, stats(tokens, "--save", baseline).exitCode());
        CommandRun other = CommandRun.of("stats", tokens, "--format=nanogpt", "--window=64", "--baseline", baseline);
        assertEquals(3, other.exitCode());
        assertEquals("penstock: " + baseline + ": the data has other fields: found tokens: u16[65] as ids, expected"
                + " tokens: u16[33] as ids (--allow-other-shape compares the common fields)\n", other.err());
        CommandRun allowed = CommandRun.of("stats", tokens, "--format=nanogpt", "--window=64", "--baseline",
                baseline, "--allow-other-shape", "--fail-on-drift");
        assertEquals(0, allowed.exitCode(), allowed.out() + allowed.err());
        Path bad = Files.writeString(folder.resolve("bad.json"), "{\"a\":1}");
        CommandRun refused = stats(tokens, "--baseline", bad);
        assertEquals(3, refused.exitCode());
        assertTrue(refused.err().startsWith("penstock: " + bad + ": not a data profile"), refused.err());
        assertEquals(3, stats(tokens, "--baseline", folder.resolve("none")).exitCode());
        assertEquals(2, stats(tokens, "--every", 0).exitCode());
        assertEquals(2, stats(tokens, "--save", folder.resolve("no/such/folder")).exitCode());
    }
}
