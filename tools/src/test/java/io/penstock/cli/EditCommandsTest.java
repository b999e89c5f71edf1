// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.state.Checkpoint;
import io.penstock.state.LoaderState;
import io.penstock.testing.Corpora;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Edits of a run, and the audit, on the command line. */
class EditCommandsTest {

    @TempDir
    private Path folder;

    private static CommandRun run(List<Object> store, String command, Object... more) {
        List<Object> all = new ArrayList<>(List.of(command.split(" ")));
        if (command.startsWith("state") || command.startsWith("audit")) {
            all.add(more[0]);
            all.addAll(store);
            all.addAll(List.of(more).subList(1, more.length));
        } else {
            all.addAll(store);
            all.addAll(List.of(more));
        }
        return CommandRun.of(all.toArray());
    }

    private static String samples(String line) {
        return line.replaceFirst(".*(\\[.*\\]).*", "$1");
    }

    @Test
    void aRunIsEditedResumedAndAudited() throws IOException {
        Path raw = Corpora.rawU16(folder, 5_000, 5);
        List<Object> store = List.of(raw, "--format=nanogpt", "--window=16", "--batch=4");
        Path state = folder.resolve("state.json");
        Path ledger = folder.resolve("ledger");
        List<String> before = run(store, "batches", "--limit=30").out().lines().toList();
        assertEquals(0, run(store, "batches", "--limit=10", "--state", state, "--ledger", ledger).exitCode());
        CommandRun edit = run(store, "state edit", state, "--excise=12..14,20");
        assertEquals(0, edit.exitCode(), edit.err());
        assertTrue(edit.out().contains("2 edits added, 2 edits in all"), edit.out());
        List<String> after = run(store, "batches", "--limit=10", "--state", state, "--ledger", ledger).out().lines()
                .toList();
        List<String> expected = new ArrayList<>(before.subList(10, 12));
        expected.addAll(before.subList(15, 20));
        expected.addAll(before.subList(21, 24));
        assertEquals(expected.stream().map(EditCommandsTest::samples).toList(),
                after.stream().map(EditCommandsTest::samples).toList());
        CommandRun show = CommandRun.of("state", "show", state.toString());
        assertTrue(show.out().contains("leaves out positions 48 to 59 of epoch 0"), show.out());
        CommandRun audit = run(store, "audit", ledger, "--state", state);
        assertEquals(0, audit.exitCode(), audit.out() + audit.err());
        assertTrue(audit.out().startsWith("2 starts, 20 steps, 80 positions"), audit.out());
        assertEquals(0, run(store, "batches", "--limit=1", "--state", state).exitCode());
        audit = run(store, "audit", ledger, "--state", state);
        assertEquals(1, audit.exitCode());
        assertTrue(audit.out().contains("the ledger does not end where this state does"), audit.out());
    }

    @Test
    void theFolderOfARunStandsForItsLatestCheckpoint() throws IOException {
        Path raw = Corpora.rawU16(folder, 5_000, 5);
        List<Object> store = List.of(raw, "--format=nanogpt", "--window=16", "--batch=4");
        Path state = folder.resolve("state.json");
        Path run = folder.resolve("run");
        for (long step : new long[] {10, 20}) {
            assertEquals(0, run(store, "batches", "--limit=10", "--state", state).exitCode());
            Checkpoint.save(Checkpoint.newFolder(run, step), step, LoaderState.read(state));
        }
        assertEquals(80L, CommandRun.of("state", "show", run, "--json").json().get("position"));
        CommandRun edit = run(store, "state edit", run, "--excise=22");
        assertEquals(0, edit.exitCode(), edit.err());
        assertEquals(List.of(0, 1), List.of(Checkpoint.load(run.resolve("step-00000010")).state().edits().size(),
                Checkpoint.load(run.resolve("step-00000020")).state().edits().size()));
    }

    @Test
    void weightsChangeAndStoresAreAdded() throws IOException {
        Path first = Corpora.rawU16(folder, 5_000, 5);
        Path second = Files.copy(first, folder.resolve("second.bin"));
        Path third = Files.copy(first, folder.resolve("third.bin"));
        List<Object> options = List.of("--format=nanogpt", "--window=16", "--batch=4", "--draws=600");
        List<Object> two = new ArrayList<>(List.of(first, second, "--weights=0.5,0.5"));
        two.addAll(options);
        List<Object> three = new ArrayList<>(List.of(first, second, third, "--weights=0.5,0.5,0"));
        three.addAll(options);
        Path state = folder.resolve("state.json");
        assertEquals(0, run(two, "batches", "--limit=10", "--state", state).exitCode());
        assertEquals(ExitCode.BAD_INPUT, run(three, "batches", "--limit=10", "--state", state).exitCode());
        CommandRun edit = run(three, "state edit", state, "--add-stores", "--reweigh=0,0,1");
        assertEquals(0, edit.exitCode(), edit.err());
        CommandRun after = run(three, "batches", "--limit=5", "--state", state, "--json");
        assertEquals(0, after.exitCode(), after.err());
        assertTrue(after.out().contains("\"samples\":[6") || after.out().contains("\"samples\":[7")
                || after.out().contains("\"samples\":[8") || after.out().contains("\"samples\":[9"), after.out());
    }

    @Test
    void wrongEditsAreRefused() throws IOException {
        Path raw = Corpora.rawU16(folder, 5_000, 5);
        List<Object> store = List.of(raw, "--format=nanogpt", "--window=16", "--batch=4");
        Path state = folder.resolve("state.json");
        run(store, "batches", "--limit=10", "--state", state);
        for (String wrong : new String[] {"--excise=x", "--excise=3..1", "--excise-samples=100000", "--reweigh=1,1",
            "--excise-documents=1", "--excise-file=nothing", "--until=0", "--repeat=1..2..3"}) {
            CommandRun edit = run(store, "state edit", state, wrong);
            assertEquals(ExitCode.WRONG_USAGE, edit.exitCode(), wrong + " " + edit.err());
        }
        assertEquals(ExitCode.WRONG_USAGE, run(store, "state edit", state).exitCode());
        assertEquals(ExitCode.BAD_INPUT, CommandRun.of("audit", folder.resolve("none").toString()).exitCode());
    }
}
