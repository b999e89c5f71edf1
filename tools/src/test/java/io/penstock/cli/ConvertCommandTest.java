// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.format.npy.NpyWriter;
import io.penstock.format.numpy.NpyArray;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.IfExists;
import io.penstock.testing.Folders;
import io.penstock.testing.JavaCommand;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConvertCommandTest {

    private static final Path FIXTURES = Path.of("src/test/resources/fixtures");

    @TempDir
    private Path folder;

    @Test
    void theResultIsOneDocument() throws IOException {
        Path target = folder.resolve("corpus");
        CommandRun run = CommandRun.of("convert", FIXTURES.resolve("arrow/hf_dataset"), target, "--to", "megatron",
                "--fields", "ids", "--token-dtype", "i64", "--json");
        assertEquals(0, run.exitCode(), run.err());
        assertEquals("", run.err());
        Map<String, Object> json = run.json();
        assertEquals("megatron", json.get("format"));
        assertEquals(60L, json.get("records"));
        assertEquals(List.of("columns: tokens, text, label, score, flag, wide, blob", "dtype: i32 becomes i64"),
                json.get("lost"));
        long bytes = 0;
        for (Object file : Json.array(json.get("files"))) {
            bytes += Files.size(Path.of(file.toString()));
        }
        assertEquals(bytes, json.get("bytes"));
        assertEquals(5, Folders.names(folder).size());
        assertEquals(60L, CommandRun.of("inspect", target, "--json").json().get("documents"));
        assertEquals(0, CommandRun.of("verify", target).exitCode());
    }

    @Test
    void aTokenThatDoesNotFitIsNamed() throws IOException {
        CommandRun run = CommandRun.of("convert", FIXTURES.resolve("arrow/hf_dataset"), folder.resolve("corpus"),
                "--to", "megatron", "--fields", "ids", "--token-dtype", "u16");
        assertEquals(3, run.exitCode(), run.err());
        assertEquals("penstock: record 0, token 0: found 2103318721, expected 0 to 65535, the range of u16\n",
                run.err());
        assertEquals(List.of(), Folders.names(folder));
    }

    @Test
    void theEndingSaysTheFormat() throws IOException {
        CommandRun run = CommandRun.of("convert", FIXTURES.resolve("datatrove/gpt2_u16.ds"),
                folder.resolve("tokens.npy"));
        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.out().startsWith(folder.resolve("tokens.npy") + ": 30 documents in 2 files, "), run.out());
        assertTrue(run.out().contains("\n  lost: document boundaries: 30 documents\n"), run.out());
        assertEquals(List.of("tokens.npy", "tokens.npy.crc32c"), Folders.names(folder));
    }

    @Test
    void columnsAreDecodedAsTold() {
        CommandRun run = CommandRun.of("convert", FIXTURES.resolve("webdataset/shard-000000.tar"),
                folder.resolve("x.safetensors"), "--fields", "jpg,cls", "--decode", "jpg=rgb:8x8", "--json");
        assertEquals(0, run.exitCode(), run.err());
        Map<String, Object> inspected = CommandRun.of("inspect", folder.resolve("x.safetensors"), "--json").json();
        List<List<Object>> shapes = Json.array(inspected.get("arrays")).stream()
                .map(array -> Json.array(Json.object(array).get("shape"))).toList();
        assertEquals(List.of(List.of(8L), List.of(8L, 8L, 8L, 3L)), shapes);
    }

    @Test
    void shardsAreNumbered() throws IOException {
        CommandRun run = CommandRun.of("convert", FIXTURES.resolve("arrow/hf_images"),
                folder.resolve("x-{000}.tar"), "--max-records", 2, "--suffix", "image.bytes=jpg", "--fields",
                "image.bytes,label");
        assertEquals(0, run.exitCode(), run.err());
        assertEquals(List.of("x-%03d.tar.penstock-shards", "x-000.tar", "x-000.tar.crc32c", "x-000.tar.penstock-index",
                "x-001.tar", "x-001.tar.crc32c", "x-001.tar.penstock-index",
                "x-002.tar", "x-002.tar.crc32c", "x-002.tar.penstock-index"), Folders.names(folder));
        CommandRun inspected = CommandRun.of("inspect", folder.resolve("x-{000..002}.tar"), "--json");
        assertEquals(5L, inspected.json().get("sample_count"), inspected.err());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "megatron/u16_docs.idx | x.tar | 2 | cannot convert megatron to webdataset; supported targets: [megatron, npy,",
        "megatron/u16_docs.idx | x.xyz | 2 | names no target format; add --to; supported targets for src/test/",
        "npy/le_f4_3d_F.npy | x.bin | 2 | cannot convert npy to megatron; supported targets: [npy, safetensors]",
        "arrow/hf_dataset | x.npy | 3 | npy holds one column, found [tokens: u16[129], label: i64[], ",
        "lmdb/basic | x.npy | 3 | no column that is a field of numbers of one shape, as npy needs, in [key: u8[*]",
        "npy/reject_object_pickle.npy | x.safetensors | 3 | reject_object_pickle.npy: at byte ",
        "no/such.npy | x.safetensors | 3 | no/such.npy: no such file"})
    void whatCannotBeIsOneLineAndLeavesNothing(String source, String target, int exitCode, String reason)
            throws IOException {
        CommandRun run = CommandRun.of("convert", FIXTURES.resolve(source), folder.resolve(target));
        assertEquals(exitCode, run.exitCode(), run.err());
        assertEquals(1, run.err().lines().count(), run.err());
        assertTrue(run.err().contains(reason), run.err());
        assertEquals("", run.out());
        assertEquals(List.of(), Folders.names(folder));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "megatron/u16_docs.idx | x.npy | --token-dtype i64 | --token-dtype: found with npy, expected megatron",
        "arrow/hf_dataset | x.npy | --fields label --suffix label=cls | --suffix: found with npy, expected webdataset",
        "megatron/u16_docs.idx | x.npy | --fields tokens | --fields: found with ",
        "megatron/u16_docs.idx | x.npy | --skip-incomplete | --skip-incomplete: found with ",
        "npy/tokens_u16.npy | x.safetensors | --decode array=bytes | expected a store of records",
        "npy/tokens_u16.npy | x.safetensors | --image 8x8 | expected a store of records",
        "arrow/hf_dataset | x.tar | --image 8x8 | --image: found no column of images in [tokens, ids, "})
    void anOptionThatWouldDoNothingIsRefused(String source, String target, String options, String reason)
            throws IOException {
        List<Object> words = new ArrayList<>(List.of("convert", FIXTURES.resolve(source), folder.resolve(target)));
        words.addAll(List.of(options.split(" ")));
        CommandRun run = CommandRun.of(words.toArray());
        assertEquals(ExitCode.WRONG_USAGE, run.exitCode(), run.err());
        assertTrue(run.err().contains(reason), run.err());
        assertEquals(List.of(), Folders.names(folder));
    }

    @Test
    void limitsOfShardsNeedAPlaceForTheirNumber() {
        CommandRun run = CommandRun.of("convert", FIXTURES.resolve("arrow/hf_images"), folder.resolve("x.tar"),
                "--max-records", 2);
        assertEquals(2, run.exitCode());
        assertTrue(run.err().contains("expected {000000} in its name"), run.err());
    }

    @Test
    void keepsWhatIsThereUnlessForced() {
        Path source = FIXTURES.resolve("npy/tokens_u16.npy");
        Path target = folder.resolve("x.npy");
        assertEquals(0, CommandRun.of("convert", source, target).exitCode());
        CommandRun again = CommandRun.of("convert", source, target);
        assertEquals(1, again.exitCode());
        assertTrue(again.err().contains("x.npy: exists already"), again.err());
        assertEquals(0, CommandRun.of("convert", source, target, "--force").exitCode());
    }

    private Path bigArray() throws IOException {
        Path source = folder.resolve("big.npy");
        long elements = 24L << 20;
        try (Arena arena = Arena.ofConfined()) {
            NpyWriter.write(source, Tensor.of(arena.allocate(elements), DType.U8, elements), IfExists.FAIL);
        }
        return source;
    }

    @Test
    @Timeout(1200)
    @EnabledOnOs({OS.LINUX, OS.MAC})
    void leavesNothingWhenInterruptedInTheMiddle() throws Exception {
        Path source = folder.resolve("sparse.npy");
        NpyWriter.write(source, Tensor.of(MemorySegment.ofArray(new byte[8]), DType.U8, 8), IfExists.FAIL);
        byte[] header = NpyArray.header(DType.U8, 8L << 30);
        try (var file = new RandomAccessFile(source.toFile(), "rw")) {
            file.write(header);
            file.setLength(header.length + (8L << 30));
        }
        Files.delete(folder.resolve("sparse.npy.crc32c"));
        Path err = folder.resolve("err");
        Path staged = folder.resolve(".x.safetensors.writing/new/x.safetensors");
        CommandRun.interruptedWhen(() -> Files.exists(staged), err, "convert", source, folder.resolve("x.safetensors"));
        assertEquals(List.of("err", "sparse.npy"), Folders.names(folder));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aFullDiskFailsWithTheFilesNameAndLeavesNothing() throws Exception {
        Path source = bigArray();
        Path disk = Files.createDirectory(folder.resolve("disk"));
        Process probe = new ProcessBuilder("unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=8m tmpfs '" + disk
                + "'").redirectErrorStream(true).start();
        String refusal = new String(probe.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        Assumptions.assumeTrue(probe.waitFor() == 0, "no file system may be mounted here: " + refusal);
        List<String> command = JavaCommand.of();
        String java = "'" + String.join("' '", command) + "' " + Penstock.class.getName();
        for (String target : List.of("x.safetensors", "x.bin")) {
            Process process = new ProcessBuilder("unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=8m tmpfs '"
                    + disk + "' && " + java + " convert '" + source + "' '" + disk + "/" + target
                    + "'; echo status $?; ls -A '" + disk + "' | wc -l").redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(process.waitFor(10, TimeUnit.MINUTES), output);
            assertTrue(output.startsWith("penstock: " + disk.resolve(target) + ": cannot be written at byte "), output);
            assertTrue(output.contains("No space left on device"), output);
            assertTrue(output.strip().endsWith("status 1\n0"), output);
        }
    }
}
