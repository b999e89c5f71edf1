// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.format.npy.NpyWriter;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.IfExists;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is refused says what to do. */
class AdviceTest {

    @TempDir
    private Path folder;

    @Test
    void aMissingOutputFolderIsNamedBeforeTheWork() throws IOException {
        Path text = Files.writeString(folder.resolve("a.txt"), "some words");
        Path store = folder.resolve("store");
        assertEquals(0, CommandRun.of("tokenize", text, "-o", store).exitCode());
        Path missing = folder.resolve("missing");
        for (List<Object> args : List.<List<Object>>of(List.of("tokenize", text, "-o", missing.resolve("a")),
                List.of("convert", store, missing.resolve("a.npy")),
                List.of("merge", store, "-o", missing.resolve("a")),
                List.of("manifest", store, "-o", missing.resolve("a")),
                List.of("report", folder, "--html", missing.resolve("a.html")),
                List.of("stats", store, "--window", 1, "--save", missing.resolve("a.json")),
                List.of("stream", store, "--window", 1, "--state", missing.resolve("a.json")),
                List.of("augment", "show", store, "--html", missing.resolve("a.html")))) {
            CommandRun run = CommandRun.of(args.toArray());
            assertTrue(run.err().contains(": there is no folder " + missing + "; create it first"), run.err());
            assertEquals(2, run.exitCode());
        }
    }

    @Test
    void tokensInATensorFileAreRefusedWithHowToConvertThem() throws IOException {
        Path file = folder.resolve("my tokens.npy");
        NpyWriter.write(file, Tensor.of(MemorySegment.ofArray(new short[64]), DType.U16, 64), IfExists.FAIL);
        String advice = ": penstock convert '" + file + "' STORE --to megatron";
        CommandRun windows = CommandRun.of("batches", file, "--window", 8);
        assertTrue(windows.err().contains("if its integers are tokens, make one with" + advice), windows.err());
        CommandRun told = CommandRun.of("batches", file, "--window", 8, "--format", "nanogpt");
        assertTrue(told.err().contains("a file of the format npy, expected tokens without a header; make a token store"
                + " of it with" + advice), told.err());
        Path store = folder.resolve("store");
        assertEquals(0, CommandRun.of("convert", file, store, "--to", "megatron").exitCode());
        assertEquals(0, CommandRun.of("batches", store, "--window", 8).exitCode());
    }
}
