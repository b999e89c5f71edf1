// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.remote.ObjectHost;
import io.penstock.testing.Corpora;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Whatever prints and cannot ends with 1 and one line. */
class OutputTest {

    private static final String LINE = "penstock: cannot write to standard output: No space left on device\n";

    @TempDir
    private Path folder;

    /** A disk without room. */
    private static final class Full extends OutputStream {
        @Override
        public void write(int b) throws IOException {
            throw new IOException("No space left on device");
        }
    }

    private static CommandRun intoFull(Object... args) {
        return run(new Output(new Full()), args);
    }

    private static CommandRun run(PrintWriter out, Object... args) {
        StringWriter err = new StringWriter();
        String[] strings = List.of(args).stream().map(Object::toString).toArray(String[]::new);
        int exitCode = Penstock.commandLine(strings).setOut(out).setErr(new PrintWriter(err)).execute(strings);
        return new CommandRun(exitCode, "", err.toString());
    }

    private static void assertSaid(CommandRun run, Object what) {
        assertEquals(LINE, run.err(), what::toString);
        assertEquals(ExitCode.FAILURE, run.exitCode(), what::toString);
    }

    @Test
    void everyCommandSaysThatItsOutputCannotBeWritten() throws IOException {
        Path raw = Corpora.rawU16(folder, 5_000, 5);
        try (ObjectHost host = ObjectHost.start().put("raw.bin", Files.readAllBytes(raw))) {
            everyCommandSaysIt(raw, host);
        }
    }

    private void everyCommandSaysIt(Path raw, ObjectHost host) throws IOException {
        Path text = Files.writeString(folder.resolve("text.txt"), "a text of some words");
        Path chat = Files.writeString(folder.resolve("chat.jsonl"), "{\"prompt\":\"a\",\"completion\":\"b\"}");
        Path state = folder.resolve("state.json");
        List<Object> lines = List.of("--source", text, "--window=2", "--batch=1");
        Path run = folder.resolve("run");
        Path watched = folder.resolve("watched");
        List<Object> source = List.of(raw, "--format=nanogpt", "--window=32");
        Path part = folder.resolve("part-00000-of-00001");
        Path joined = folder.resolve("joined");
        List<List<Object>> prepared = List.of(
                List.of("tokenize", text, "-o", folder.resolve("part"), "--shard=0/1"),
                List.of("manifest", part, "-o", joined), with("stream", source, "--steps=3", "--state", state,
                        "--ledger", folder.resolve("ledger")),
                with("stream", source, "--steps=3", "--report", run, "--watch", watched));
        for (List<Object> command : prepared) {
            CommandRun made = CommandRun.of(command.toArray());
            assertEquals(0, made.exitCode(), made.err());
        }
        Path cache = folder.resolve("cache");
        List<List<Object>> commands = new ArrayList<>(List.of(
                List.of("fetch", host.url("raw.bin"), "--cache", cache), List.of("cache", "ls", "--cache", cache),
                List.of("augment", "list"),
                List.of("quickstart", "--keep", folder.resolve("kept")),
                List.of("tokenize", text, "-o", folder.resolve("tokens"), "--encoding=gpt2"),
                List.of("manifest", part, "-o", folder.resolve("other")),
                List.of("merge", joined, "-o", folder.resolve("merged")),
                List.of("chat", "show", chat, "--template=chatml"), List.of("clips", "index", "--help"),
                List.of("clips", "frames", "--help"), List.of("clips", "mel", "--help"),
                List.of("inspect", raw, "--format=nanogpt"),
                with("batches", source), with("explain", source, "--step=1"), with("stream", source, "--steps=3"),
                with("batches", lines),
                with("stream", source, "--steps=3", "--device=host", "--transfer=copy", "--device-clock"),
                with("stream", lines), with("batches", source, "--state", folder.resolve("other.json")),
                List.of("report", run), List.of("watch", watched, "--once"),
                List.of("run", "--report", folder.resolve("ran"), "--", ProcessHandle.current().info().command()
                        .orElse("java"), "-version"),
                List.of("compare", run, run), with("stats", source),
                with("tune", source, "--device=host", "--budget=50ms"),
                List.of("convert", source.getFirst(), folder.resolve("converted.safetensors"), "--format=nanogpt"),
                List.of("checksum", raw), List.of("verify", raw, "--format=nanogpt"),
                List.of("state", "show", state), List.of("state", "diff", state, state), List.of("devices"),
                List.of("audit", folder.resolve("ledger")), List.of("state", "edit", state, raw,
                        "--format=nanogpt", "--window=32", "--excise=5"),
                List.of("new", "trainer", folder.resolve("trainer"))));
        for (String command : Penstock.COMMANDS.keySet()) {
            assertTrue(commands.stream().anyMatch(one -> one.getFirst().equals(command)), command);
            assertSaid(intoFull(command, "--help"), command);
        }
        for (List<Object> command : commands) {
            Object[] args = command.toArray();
            assertSaid(intoFull(args), command);
        }
        for (List<Object> command : List.of(List.<Object>of("inspect", raw, "--format=nanogpt", "--json"),
                with("batches", source, "--json"), with("stream", source, "--steps=3", "--json"),
                List.<Object>of("state", "show", state, "--json"), List.<Object>of("--help"),
                List.<Object>of("--version"))) {
            assertSaid(intoFull(command.toArray()), command);
        }
    }

    private static List<Object> with(String command, List<Object> arguments, Object... more) {
        List<Object> all = new ArrayList<>();
        all.add(command);
        all.addAll(arguments);
        all.addAll(List.of(more));
        return all;
    }

    @Test
    void aCommandThatFailsByItselfSaysThat() {
        CommandRun run = intoFull("inspect", folder.resolve("absent"));
        assertEquals(ExitCode.BAD_INPUT, run.exitCode());
        assertTrue(run.err().contains("absent: no such file"), run.err());
    }

    @Test
    void whatIsWrittenIsUtf8AndAWriterThatGivesNoReasonIsNamedWithoutOne() {
        var bytes = new ByteArrayOutputStream();
        PrintWriter out = new Output(bytes);
        out.print("\u00e9\n");
        out.flush();
        assertEquals("\u00e9\n", bytes.toString(StandardCharsets.UTF_8));
        CommandRun run = run(new PrintWriter(new Full()), "--version");
        assertEquals("penstock: cannot write to standard output\n", run.err());
        assertEquals(ExitCode.FAILURE, run.exitCode());
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aProcessSaysSoToo() throws Exception {
        Path raw = Corpora.rawU16(folder, 5_000, 5);
        for (List<Object> command : List.of(List.<Object>of("inspect", raw, "--format=nanogpt", "--json"),
                List.<Object>of("stream", raw, "--format=nanogpt", "--window=32", "--steps=3", "--json"),
                List.<Object>of("batches", raw, "--format=nanogpt", "--window=32"), List.<Object>of("--version"))) {
            Path err = folder.resolve("err");
            Process process = CommandRun.start(err, new File("/dev/full"), command.toArray());
            assertEquals(ExitCode.FAILURE, process.waitFor(), command::toString);
            assertEquals(LINE, Files.readString(err), command::toString);
        }
    }

    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC})
    void aReaderThatHasEnoughEndsACommandQuietlyAsItDoesOtherPrograms() throws Exception {
        Path raw = Corpora.rawU16(folder, 5_000, 5);
        List<Object> source = List.of(raw, "--format=nanogpt", "--window=1", "--batch=1");
        for (List<Object> command : List.of(with("batches", source), with("batches", source, "--json"))) {
            Path err = folder.resolve("err");
            Process process = CommandRun.start(err, command.toArray());
            process.getInputStream().close();
            assertEquals(128 + 13, process.waitFor(), command::toString);
            assertEquals("", Files.readString(err), command::toString);
        }
    }
}
