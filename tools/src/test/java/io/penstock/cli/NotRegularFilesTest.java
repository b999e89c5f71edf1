// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.Pipes;
import io.penstock.store.StoreFormats;
import io.penstock.store.StoreProvider;
import io.penstock.testing.Folders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the commands make of FIFOs, which hang whoever opens them, and of devices. */
@EnabledOnOs({OS.LINUX, OS.MAC})
class NotRegularFilesTest {

    @TempDir
    Path folder;
    private Path pipe;
    private Path store;

    @BeforeEach
    void prepare() throws Exception {
        pipe = Pipes.make(folder.resolve("pipe"));
        store = folder.resolve("tokens.bin");
        Files.write(store, new byte[20_000]);
    }

    private static CommandRun run(Object... args) throws Exception {
        return Pipes.guarded(Arrays.toString(args), () -> CommandRun.of(args));
    }

    private static void assertRefused(Path path, String found, Object... args) throws Exception {
        CommandRun run = run(args);
        assertEquals(3, run.exitCode(), () -> Arrays.toString(args) + ": " + run.err());
        assertEquals("penstock: " + path + ": " + found + ", expected a regular file\n", run.err());
    }

    @Test
    void everyFileArgumentMayBeAFifoAndIsRefused() throws Exception {
        assertRefused(pipe, "a FIFO", "inspect", pipe);
        assertRefused(pipe, "a FIFO", "verify", pipe);
        assertRefused(pipe, "a FIFO", "batches", pipe, "--window", 8);
        assertRefused(pipe, "a FIFO", "stats", pipe, "--window", 8);
        assertRefused(pipe, "a FIFO", "convert", pipe, folder.resolve("out.npy"));
        assertRefused(pipe, "a FIFO", "tokenize", pipe, "-o", folder.resolve("out"));
        assertRefused(pipe, "a FIFO", "checksum", pipe);
        assertRefused(pipe, "a FIFO", "compare", pipe, pipe);
        assertRefused(pipe, "a FIFO", "report", pipe);
        assertRefused(pipe, "a FIFO", "state", "show", pipe);
        assertRefused(pipe, "a FIFO", "state", "diff", pipe, pipe);
        for (String settings : new String[] {"--settings", "--state"}) {
            assertRefused(pipe, "a FIFO", "stream", store, "--window", 8, "--steps", 1, settings, pipe);
        }
        assertRefused(pipe, "a FIFO", "batches", store, "--window", 8, "--order", "subset=" + pipe);
    }

    @Test
    void aDeviceIsNotReadToItsEnd() throws Exception {
        Path zero = Path.of("/dev/zero");
        assertRefused(zero, "a device", "inspect", zero);
        assertRefused(zero, "a device", "tokenize", zero, "-o", folder.resolve("out"));
        assertRefused(zero, "a device", "stream", store, "--window", 8, "--steps", 1, "--state", zero);
    }

    static List<String> formats() {
        return StoreFormats.all().stream().map(StoreProvider::name).toList();
    }

    @ParameterizedTest
    @MethodSource("formats")
    void noFormatOpensAFifo(String format) throws Exception {
        CommandRun run = run("inspect", pipe, "--format", format, "--dtype", "u16");
        assertNotEquals(0, run.exitCode());
        assertTrue(run.err().startsWith("penstock: "), run.err());
        assertEquals(1, run.err().lines().count(), run.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"a.npy", "a.npz", "a.tar", "a.tar.gz", "a.tar.zst", "a.bin", "a.idx", "a.parquet",
        "a.arrow", "a.h5", "a.safetensors", "index.json", "a.safetensors.index.json", "a.jpg", "a.png", "data.mdb",
        "a.ds", "a.ds.index", "a.ds.metadata", "dataset_info.json", "state.json", "a.csv", "SHA256SUMS"})
    void noFolderOpensAFifoInIt(String name) throws Exception {
        Path home = Files.createDirectory(folder.resolve("home"));
        Path inside = Pipes.make(home.resolve(name));
        assertNotEquals(0, run("inspect", home).exitCode());
        run("verify", home);
        run("verify", inside);
        assertRefused(inside, "a FIFO", "inspect", inside);
        assertRefused(inside, "a FIFO", "tokenize", home, "-o", folder.resolve("out"));
    }

    @Test
    void aFileBesideAStoreMayBeAFifo() throws Exception {
        for (String suffix : new String[] {".sha256", ".crc32c", ".idx"}) {
            Pipes.make(folder.resolve("tokens.bin" + suffix));
            Pipes.make(folder.resolve("tokens" + suffix));
        }
        run("verify", store);
        assertEquals(0, run("inspect", store).exitCode());
    }

    @Test
    void linksThatLeaveTheFolderAreSkippedCountedAndFollowedOnDemand() throws Exception {
        Path corpus = Files.createDirectories(folder.resolve("corpus"));
        Path outside = Files.createDirectories(folder.resolve("outside"));
        Files.writeString(corpus.resolve("a.txt"), "a");
        Files.writeString(outside.resolve("b.txt"), "b");
        Files.createSymbolicLink(corpus.resolve("inner.txt"), corpus.resolve("a.txt"));
        Files.createSymbolicLink(corpus.resolve("outer.txt"), outside.resolve("b.txt"));
        Files.createSymbolicLink(corpus.resolve("folder"), outside);
        CommandRun plain = run("tokenize", corpus, "-o", folder.resolve("plain"), "--json");
        assertEquals(0, plain.exitCode(), plain.err());
        assertEquals(2L, plain.json().get("files"));
        assertEquals(2L, plain.json().get("skipped_links"));
        CommandRun followed = run("tokenize", corpus, "-o", folder.resolve("followed"), "--follow-links", "--json");
        assertEquals(4L, followed.json().get("files"), followed.err());
        assertEquals(0L, followed.json().get("skipped_links"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), corpus);
        CommandRun text = run("tokenize", link, "-o", folder.resolve("again"));
        assertTrue(text.out().contains("from 2 files, 2 B (2 links skipped; --follow-links follows them)"),
                text.out());
    }

    @Test
    void aFolderOfSkippedLinksAloneIsRefusedWithTheReason() throws IOException, Exception {
        Path corpus = Files.createDirectories(folder.resolve("corpus"));
        Files.createSymbolicLink(corpus.resolve("outer.txt"), store);
        Files.createSymbolicLink(corpus.resolve("broken.txt"), folder.resolve("absent"));
        CommandRun run = run("tokenize", corpus, "-o", folder.resolve("out"));
        assertEquals(3, run.exitCode());
        assertEquals("penstock: " + corpus + ": found no files in this folder, but 2 links to folders, to files"
                + " outside of it, or to nothing (--follow-links follows them)\n", run.err());
        assertTrue(Folders.names(folder).stream().noneMatch(name -> name.startsWith("out")));
    }
}
