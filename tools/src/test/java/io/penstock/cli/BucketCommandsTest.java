// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.remote.ObjectHost;
import io.penstock.store.Fixtures;
import io.penstock.testing.JavaCommand;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands on a bucket, in one process whose environment names it. */
@Tag("slow")
class BucketCommandsTest {

    private static final String THEN = "--then";

    @TempDir
    private Path folder;

    /** Runs commands, and prints the status and the output of each. */
    static final class Commands {

        private Commands() {
        }

        public static void main(String[] args) {
            List<String> command = new ArrayList<>();
            for (String arg : args) {
                if (!arg.equals(THEN)) {
                    command.add(arg);
                    continue;
                }
                CommandRun run = CommandRun.of(command.toArray());
                System.out.println("status " + run.exitCode() + " " + run.out() + run.err());
                command.clear();
            }
        }
    }

    private List<String> run(ObjectHost host, String... commands) throws IOException, InterruptedException {
        List<String> line = JavaCommand.of();
        line.add(Commands.class.getName());
        for (String command : commands) {
            line.addAll(Arrays.asList((command + " --cache " + folder.resolve("cache")).split(" ")));
            line.add(THEN);
        }
        ProcessBuilder builder = new ProcessBuilder(line).redirectErrorStream(true);
        builder.environment().putAll(Map.of("AWS_ENDPOINT_URL_S3", host.endpoint().toString(), "AWS_ACCESS_KEY_ID",
                ObjectHost.KEY.accessKeyId(), "AWS_SECRET_ACCESS_KEY", ObjectHost.KEY.secretAccessKey(), "AWS_REGION",
                "us-east-1"));
        Process process = builder.start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), out);
        return Stream.of(out.split("(?m)^status ")).skip(1).toList();
    }

    @Test
    void whatIsWrittenToABucketIsWhatIsWrittenLocally() throws Exception {
        Path text = Files.createDirectory(folder.resolve("text"));
        for (int i = 0; i < 20; i++) {
            Files.writeString(text.resolve(i + ".txt"), "A line of text, number " + i + ".\n".repeat(i));
        }
        String local = folder.resolve("local").toString();
        try (ObjectHost host = ObjectHost.start().bucket("bucket")) {
            List<String> said = run(host,
                    "tokenize " + text + " -o s3://bucket/out/corpus",
                    "tokenize " + text + " -o " + local,
                    "tokenize " + text + " -o s3://bucket/out/corpus",
                    "tokenize " + text + " -o s3://bucket/out/corpus --force",
                    "tokenize " + text + " -o s3://bucket/out/part --shard 1/2",
                    "convert s3://bucket/out/corpus s3://bucket/out/tokens.npy",
                    "convert " + local + " " + local + ".npy",
                    "checksum s3://bucket/out/tokens.npy",
                    "checksum s3://bucket/out/tokens.npy --force",
                    "verify s3://bucket/out/tokens.npy",
                    "stream s3://bucket/out/corpus --window 8 --batch 2 --steps 3 --state s3://bucket/run/state.json",
                    "stream s3://bucket/out/corpus --window 8 --batch 2 --steps 3 --state s3://bucket/run/state.json",
                    "state show s3://bucket/run/state.json");
            List<String> statuses = said.stream().map(one -> one.substring(0, one.indexOf(' '))).toList();
            assertEquals(List.of("0", "0", "1", "0", "0", "0", "0", "1", "0", "0", "0", "0", "0"), statuses,
                    said.toString());
            assertTrue(said.getFirst().startsWith("0 s3://bucket/out/corpus: "), said.getFirst());
            assertTrue(said.get(2).contains("s3://bucket/out/corpus.bin: exists already"), said.get(2));
            assertTrue(said.get(4).contains("s3://bucket/out/part-00001-of-00002: "), said.get(4));
            assertTrue(said.getLast().contains("position: 12"), said.getLast());
            for (String name : List.of(".bin", ".idx", ".bin.crc32c", ".idx.crc32c")) {
                assertEquals(-1, Arrays.mismatch(Files.readAllBytes(Path.of(local + name)), host.objects().get(
                        "out/corpus" + name)), name);
            }
            assertEquals(-1, Arrays.mismatch(Files.readAllBytes(Path.of(local + ".npy")), host.objects().get(
                    "out/tokens.npy")));
            assertTrue(host.objects().keySet().containsAll(Set.of("out/part-00001-of-00002.idx",
                    "out/part-00001-of-00002.part.json", "run/state.json", "out/tokens.npy.crc32c")));
        }
    }

    @Test
    void partsInABucketAreJoinedAndMerged() throws Exception {
        Path text = Files.writeString(folder.resolve("text.jsonl"), "{\"text\": \"a document\"}\n".repeat(20));
        String local = folder.resolve("local").toString();
        String parts = "s3://bucket/out/{part-00000,sub/part-00001}-of-00002.idx";
        try (ObjectHost host = ObjectHost.start().bucket("bucket")) {
            List<String> said = run(host,
                    "tokenize " + text + " -o s3://bucket/out/part --shard 0/2",
                    "tokenize " + text + " -o s3://bucket/out/sub/part --shard 1/2",
                    "manifest " + parts + " -o s3://bucket/out/corpus",
                    "manifest " + parts + " -o s3://bucket/out/corpus.manifest.json",
                    "manifest " + parts + " -o s3://bucket/out/corpus --force",
                    "manifest " + parts + " -o s3://bucket/out/sub/corpus",
                    "manifest " + parts + " -o s3://bucket/out/",
                    "merge s3://bucket/out/corpus -o s3://bucket/merged/corpus",
                    "merge s3://bucket/out/corpus -o s3://bucket/merged/corpus",
                    "merge s3://bucket/out/corpus.manifest.json -o " + local + "-merged",
                    "tokenize " + text + " -o " + local,
                    "verify s3://bucket/out/corpus.manifest.json");
            List<String> statuses = said.stream().map(one -> one.substring(0, one.indexOf(' '))).toList();
            assertEquals(List.of("0", "0", "0", "1", "0", "3", "2", "0", "1", "0", "0", "0"), statuses,
                    said.toString());
            assertTrue(said.get(2).startsWith("0 s3://bucket/out/corpus.manifest.json: 40 tokens of u16 in 20"
                    + " documents and 2 parts"), said.get(2));
            assertTrue(said.get(5).contains("s3://bucket/out/part-00000-of-00002.idx: a part in s3://bucket/out/, "
                    + "expected one in s3://bucket/out/sub/"), said.get(5));
            for (String name : List.of(".bin", ".idx")) {
                byte[] expected = Files.readAllBytes(Path.of(local + name));
                assertEquals(-1, Arrays.mismatch(expected, host.objects().get("merged/corpus" + name)), name);
                assertEquals(-1, Arrays.mismatch(expected, Files.readAllBytes(Path.of(local + "-merged" + name))));
            }
        }
    }

    @Test
    void bracesAndPrefixesNameStoresOfEveryFormat() throws Exception {
        List<String> commands = new ArrayList<>();
        List<String> expected = new ArrayList<>();
        try (ObjectHost host = ObjectHost.start().bucket("bucket")) {
            for (String kind : List.of("npy", "megatron", "nanogpt", "safetensors", "hdf5", "lmdb", "arrow", "parquet",
                    "mds", "webdataset", "npz", "llmc", "datatrove")) {
                List<Path> two = Fixtures.entries(kind).filter(entry -> entry.expect().equals("read"))
                        .map(Fixtures.Entry::path).limit(2).toList();
                for (Path path : two) {
                    put(host, Files.isDirectory(path) ? path : path.getParent());
                }
                compare("", two, commands, expected);
            }
            List<Path> raw = Fixtures.entries("nanogpt").map(Fixtures.Entry::path).limit(2).toList();
            compare("--format raw --dtype u16 ", raw, commands, expected);
            Path parts = Files.createDirectory(folder.resolve("parts"));
            Path text = Files.writeString(folder.resolve("text.jsonl"), "{\"text\": \"a document\"}\n".repeat(20));
            for (int i = 0; i < 2; i++) {
                CommandRun.of("tokenize", text, "-o", parts.resolve("corpus"), "--shard", i + "/2");
            }
            CommandRun.of("manifest", parts.resolve("corpus-00000-of-00002.idx"),
                    parts.resolve("corpus-00001-of-00002.idx"), "-o", parts.resolve("corpus"));
            put(host, parts);
            compare("", List.of(parts.resolve("corpus.manifest.json"), parts.resolve("corpus-00001-of-00002.idx")),
                    commands, expected);
            List<String> said = run(host, commands.toArray(String[]::new));
            for (int i = 0; i < commands.size(); i++) {
                assertEquals(expected.get(i), said.get(i).strip().replace("s3://bucket/", "/"), commands.get(i));
            }
        }
    }

    private static void put(ObjectHost host, Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                host.put(file.toString().substring(1), Files.readAllBytes(file));
            }
        }
    }

    private static void compare(String options, List<Path> two, List<String> commands, List<String> expected) {
        commands.add("inspect --json --digest " + options + "s3://bucket/{" + two.get(0).toString().substring(1) + ","
                + two.get(1).toString().substring(1) + "}");
        CommandRun local = CommandRun.of(Stream.concat(Stream.of(("inspect --json --digest " + options).split(" ")),
                two.stream()).toArray());
        assertEquals(0, local.exitCode(), local.err());
        expected.add(("0 " + local.out()).strip());
    }
}
