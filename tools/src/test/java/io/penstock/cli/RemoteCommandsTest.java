// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.remote.ObjectHost;
import io.penstock.remote.ScriptedHost;
import io.penstock.store.Fixtures;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands on files of a server. */
class RemoteCommandsTest {

    @TempDir
    private Path folder;

    private ObjectHost host;
    private Path npy;
    private String url;

    @BeforeEach
    void start() throws IOException {
        npy = Fixtures.entries("npy").filter(entry -> entry.expect().equals("read") && entry.arrays().stream()
                .anyMatch(array -> array.toString().contains("shape=[") && !array.toString().contains("shape=[]")))
                .findFirst().orElseThrow().path();
        host = ObjectHost.start().put("data/a.npy", Files.readAllBytes(npy)).put("data/b.npy",
                Files.readAllBytes(npy));
        url = host.url("data/a.npy");
    }

    @AfterEach
    void stop() {
        host.close();
    }

    private CommandRun run(Object... args) {
        Object[] all = Arrays.copyOf(args, args.length + 2);
        all[args.length] = "--cache";
        all[args.length + 1] = folder.resolve("cache");
        return CommandRun.of(all);
    }

    private static byte[] tokens(int first) {
        ByteBuffer bytes = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 2048; i++) {
            bytes.putShort((short) (first + i));
        }
        return bytes.array();
    }

    /** A server of tokens that begin with a number of the query, which names no version. */
    private static ScriptedHost tokensByQuery() {
        return ScriptedHost.start(request -> {
            if (request.path().endsWith(".bin")) {
                request.data(tokens(Integer.parseInt(request.query().replace("first=", ""))));
            } else {
                request.status(404, "");
            }
        });
    }

    @Test
    void urlsWithDifferentQueriesAreDifferentStores() {
        try (ScriptedHost tokens = tokensByQuery()) {
            String one = tokens.url("get.bin") + "?first=1000";
            String other = tokens.url("get.bin") + "?first=2000";
            for (int round = 0; round < 2; round++) {
                assertTrue(run("inspect", one).out().contains("first: [1000, 1001,"));
                assertTrue(run("inspect", other).out().contains("first: [2000, 2001,"));
            }
            CommandRun both = run("inspect", "--digest", "--json", one);
            assertTrue(!both.out().equals(run("inspect", "--digest", "--json", other).out()), both.err());
        }
    }

    @Test
    void aFileWithoutAVersionIsNotFetchedForLaterRuns() {
        try (ScriptedHost tokens = tokensByQuery()) {
            CommandRun fetched = run("fetch", tokens.url("get.bin") + "?first=1");
            assertEquals(3, fetched.exitCode(), fetched.err());
            assertTrue(fetched.err().contains("neither its version (ETag) nor when it changed"), fetched.err());
        }
    }

    @Test
    void aDeniedShardIsNotMissing() {
        try (ScriptedHost tokens = ScriptedHost.start(request -> request.status(request.path().contains("{") ? 404
                : 403, "<Error><Code>AccessDenied</Code></Error>"))) {
            String shards = tokens.url("train-{0..2}.tar");
            for (Object[] command : List.of(new Object[] {"batches", shards, "--fields", "cls"},
                    new Object[] {"batches", "--source", shards, "--decode", "cls=int"},
                    new Object[] {"fetch", shards}, new Object[] {"inspect", tokens.url("x.bin")})) {
                CommandRun denied = run(command);
                assertTrue(denied.err().contains("access denied (status 403 AccessDenied)"), denied.err());
            }
            assertTrue(CommandRun.of("batches", npy, "--batch", 1, "--state", tokens.url("state.json")).err()
                    .contains("access denied"));
        }
    }

    @Test
    void aRemoteFileThatIsNoTarIsNoSourceAndNeedsNoJar() {
        for (String name : List.of("http://h/lines.jsonl?sig=secret", "https://h/folder/", "s3://b/x.txt",
                "hf://datasets/o/n/x.jsonl")) {
            CommandRun refused = CommandRun.of("batches", "--source", name, "--decode", "text");
            assertEquals(2, refused.exitCode());
            assertTrue(refused.err().contains("expected tars such as"), refused.err());
            assertFalse(refused.err().contains("class path") || refused.err().contains("secret"), refused.err());
        }
    }

    @Test
    void inspectAndVerifyTakeUrls() {
        CommandRun inspected = run("inspect", url, "--digest");
        assertEquals(CommandRun.of("inspect", npy, "--digest").out(), inspected.out().replace(url, npy.toString()),
                inspected.err());
        assertEquals(0, run("verify", url).exitCode());
    }

    @Test
    void aRemotePointerIsRefusedAndMarkersInARemoteFolderAreLeftOut() throws IOException {
        byte[] pointer = ("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22ead"
                + "bb8f32b1258daaa5e2ca24d17e2393\nsize 12345678\n").getBytes(StandardCharsets.US_ASCII);
        host.put("lfs/a.npy", pointer).put("lfs/a.tar", pointer);
        for (String command : List.of("inspect", "verify", "fetch")) {
            CommandRun refused = run(command, host.url("lfs/a.npy"));
            assertEquals(3, refused.exitCode(), refused.err());
            assertTrue(refused.err().contains("lfs/a.npy: found a Git LFS pointer, expected the data; fetch them with"
                    + " 'git lfs pull'"), refused.err());
        }
        CommandRun streamed = run("batches", "--source", host.url("lfs/a.tar"), "--decode", "cls=int", "--batch", "4");
        assertTrue(streamed.err().contains("found a Git LFS pointer"), streamed.err());
        byte[] tar = Files.readAllBytes(Fixtures.path("webdataset/shard-000000.tar"));
        String folder = "http://" + url.split("/")[2] + "/shards/";
        host.put("shards/a.tar", tar).put("shards/._a.tar", new byte[4096]).put("shards/_SUCCESS", new byte[0]);
        CommandRun batches = run("batches", folder, "--fields", "cls", "--batch", "4", "--limit", "1");
        assertEquals(0, batches.exitCode(), batches.err());
    }

    @Test
    void batchesOfAUrlAreThoseOfTheLocalFile() {
        CommandRun remote = run("batches", url, "--batch", "2", "--digest", "--limit", "3");
        assertEquals(0, remote.exitCode(), remote.err());
        assertEquals(CommandRun.of("batches", npy, "--batch", "2", "--digest", "--limit", "3").out(), remote.out());
    }

    @Test
    void tarsOfUrlsAreStreamedAsTheLocalOnes() throws IOException {
        Path local = Fixtures.path("webdataset/shard-000000.tar").resolveSibling("shard-{000000..000002}.tar");
        for (int i = 0; i < 3; i++) {
            String name = "shard-00000" + i + ".tar";
            host.put("tars/" + name, Files.readAllBytes(Fixtures.path("webdataset/" + name)));
        }
        Object[] options = {"--decode", "cls=int", "--batch", "4", "--digest", "--json"};
        List<String> outputs = Stream.of(local.toString(), host.url("tars/shard-{000000..000002}.tar")).map(source -> {
            CommandRun streamed = run(Stream.concat(Stream.of("batches", "--source", source), Stream.of(options))
                    .toArray());
            assertEquals(0, streamed.exitCode(), streamed.err());
            return streamed.out();
        }).toList();
        assertEquals(outputs.getFirst(), outputs.getLast());
        assertTrue(outputs.getFirst().lines().count() > 2, outputs.getFirst());
    }

    @Test
    void fetchWarmsTheCacheForOffline() {
        String braces = host.url("data/{a,b}.npy");
        CommandRun fetched = run("fetch", braces);
        assertEquals(0, fetched.exitCode(), fetched.err());
        assertTrue(fetched.out().startsWith("2 files"), fetched.out());
        host.forgetRequests();
        CommandRun inspected = run("inspect", host.url("data/b.npy"), "--offline");
        assertEquals(0, inspected.exitCode(), inspected.err());
        assertEquals(List.of(), host.requests());
        CommandRun listed = run("cache", "ls");
        assertTrue(listed.out().contains(host.url("data/a.npy") + ": ") && listed.out().contains("2 files"),
                listed.out());
        assertEquals("good\n", run("cache", "verify").out());
        assertTrue(run("cache", "trim", "--to", "0").out().endsWith("dropped\n"));
        assertTrue(run("cache", "ls").out().startsWith("0 files"));
        CommandRun missing = run("inspect", host.url("data/b.npy"), "--offline");
        assertEquals(3, missing.exitCode());
    }

    @Test
    void fetchingAgainFetchesNothing() {
        run("fetch", url);
        host.forgetRequests();
        run("fetch", url);
        assertEquals(List.of(), host.gets());
    }

    @Test
    void wrongNamesAreWrongUsage() {
        assertEquals(2, run("fetch", npy).exitCode());
        assertEquals(2, run("inspect", "s3://bucket/key?version=1").exitCode());
        CommandRun small = run("inspect", url, "--cache-size", "1K");
        assertEquals(2, small.exitCode(), small.err());
        CommandRun missing = run("inspect", host.url("none.npy"));
        assertEquals(3, missing.exitCode());
        assertTrue(missing.err().contains("none.npy: no such file"), missing.err());
    }
}
