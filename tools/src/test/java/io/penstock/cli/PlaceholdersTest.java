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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files in place of data, and files beside data, that version control, Spark and operating systems leave. */
class PlaceholdersTest {

    private static final String LFS = "version https://git-lfs.github.com/spec/v1\n"
            + "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345678\n";
    private static final String ANNEX = "/annex/objects/SHA256E-s12345--4d7a214614ab2935c943f9e0ff69d22.bin\n";
    private static final String DVC = "outs:\n- md5: d41d8cd98f00b204e9800998ecf8427e\n  size: 5\n  path: a.bin\n";

    @TempDir
    private Path folder;

    private static void assertRefused(Path file, String found, String command, Object... args) {
        CommandRun run = CommandRun.of(args);
        assertEquals("penstock: " + file + ": found " + found + ", expected the data; fetch them with '" + command
                + "'\n", run.err(), () -> List.of(args).toString());
        assertEquals(3, run.exitCode());
        assertEquals("", run.out());
    }

    @ParameterizedTest
    @ValueSource(strings = {"train.bin", "a.parquet", "a.npy", "a.npz", "a.tar", "a.h5", "a.safetensors", "a.png",
        "a.arrow", "data.mdb", "a.jsonl", "index.json", "a.tar.gz", "a.ds"})
    void aGitLfsPointerIsNoStore(String name) throws IOException {
        Path file = Files.writeString(folder.resolve(name), LFS);
        String found = "a Git LFS pointer";
        assertRefused(file, found, "git lfs pull", "inspect", file);
        assertRefused(file, found, "git lfs pull", "batches", file, "--window", 8);
        assertRefused(file, found, "git lfs pull", "verify", file);
        assertRefused(file, found, "git lfs pull", "convert", file, folder.resolve("out.tar"));
        assertRefused(file, found, "git lfs pull", "tokenize", file, "-o", folder.resolve("out"));
        if (!name.contains(".tar")) {
            assertRefused(file, found, "git lfs pull", "batches", "--source", file, "--documents", "--max-length", 8,
                    "--decode", "text");
        }
    }

    @Test
    void pointersOfOtherProgramsAreRefusedByTheirNames() throws IOException {
        Path annex = Files.writeString(folder.resolve("annex.bin"), ANNEX);
        assertRefused(annex, "a git-annex pointer", "git annex get", "inspect", annex);
        Path dvc = Files.writeString(folder.resolve("a.bin.dvc"), DVC);
        assertRefused(dvc, "a DVC pointer", "dvc pull", "tokenize", dvc, "-o", folder.resolve("out"));
        Path link = folder.resolve("link.npy");
        Files.createSymbolicLink(link, Path.of(".git/annex/objects/xW/2k/SHA256E-s5--4d7a.npy/SHA256E-s5--4d7a.npy"));
        String found = "a git-annex link to content that is not here";
        assertRefused(link, found, "git annex get", "inspect", link);
        assertRefused(link, found, "git annex get", "tokenize", folder, "-o", folder.resolve("out"));
    }

    @Test
    void apartFromItsFirstLineATextAboutPointersIsData() throws IOException {
        Path file = Files.writeString(folder.resolve("a.txt"), "In each file:\n" + LFS);
        assertEquals(0, CommandRun.of("tokenize", file, "-o", folder.resolve("out")).exitCode());
    }

    @Test
    void aFolderOfPointersIsRefusedWhenItIsOpened() throws IOException {
        Path pictures = Files.createDirectory(folder.resolve("pictures"));
        Path file = Files.writeString(pictures.resolve("cat.jpg"), LFS);
        assertRefused(file, "a Git LFS pointer", "git lfs pull", "inspect", pictures);
    }

    @Test
    void whatOtherProgramsPutBesideDataIsNoDocument() throws IOException {
        Path spark = Files.createDirectories(folder.resolve("spark"));
        Files.writeString(spark.resolve("part-00000.json"), "{\"text\": \"one\"}\n{\"text\": \"two\"}\n");
        Files.writeString(spark.resolve("_notes.txt"), "A file of the user.");
        for (String name : List.of("_SUCCESS", "_committed_12345", "_started_12345", "_metadata", "_common_metadata",
                ".part-00000.json.crc", ".DS_Store", "._part-00000.json", "Thumbs.db", "desktop.ini",
                "part-00000.json.sha256", "spark_$folder$")) {
            Files.writeString(spark.resolve(name), "no text");
        }
        Files.createDirectory(spark.resolve("_temporary"));
        Files.writeString(spark.resolve("_temporary/part-00001.json"), "{\"text\": \"three\"}\n");
        CommandRun run = CommandRun.of("tokenize", spark, "-o", folder.resolve("out"), "--json");
        assertEquals(0, run.exitCode(), run.err());
        assertEquals(2L, run.json().get("files"));
        assertEquals(3L, run.json().get("documents"));
        CommandRun inspected = CommandRun.of("inspect", spark);
        assertTrue(inspected.out().contains("file_count: 2\n"), inspected.out());
    }

    @Test
    void aFolderOfAnotherFormatIsReadAsFilesOnlyOnRequest() throws IOException {
        Path file = folder.resolve("data/2024/a.npy");
        Files.createDirectories(file.getParent());
        NpyWriter.write(file, Tensor.of(MemorySegment.ofArray(new short[4]), DType.U16, 2, 2), IfExists.FAIL);
        Path data = folder.resolve("data");
        CommandRun run = CommandRun.of("inspect", data);
        assertEquals("penstock: " + data + ": a folder with files of the format npy, such as " + file
                + ", expected files of one sample each; name such a file or the folder that has them, or read each file"
                + " as bytes with --format files\n", run.err());
        assertEquals(3, run.exitCode());
        assertEquals(0, CommandRun.of("inspect", data, "--format", "files").exitCode());
    }
}
