// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.Location;
import io.penstock.remote.ObjectHost.RequestFault;
import io.penstock.state.Checkpoint;
import io.penstock.state.LoaderState;
import io.penstock.store.IfExists;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Files and stores that are written to a bucket. */
class UploadTest {

    private static final int PART = 1000;

    @TempDir
    private Path folder;
    /** The disk of another machine. */
    @TempDir
    private Path elsewhere;

    private ObjectHost host;

    @BeforeEach
    void start() throws IOException {
        host = ObjectHost.start().bucket("bucket");
    }

    @AfterEach
    void stop() {
        assertEquals(Set.of(), host.writes().open(), "uploads that are neither completed nor aborted");
        host.close();
    }

    private Upload begin(String name, IfExists ifExists) throws IOException {
        return host.files(folder).upload(name, ifExists, PART);
    }

    /** Publishes files of a store, by what follows its name. */
    private List<Location> publish(String name, IfExists ifExists, Map<String, byte[]> files) throws IOException {
        try (Upload upload = begin(name, ifExists)) {
            for (Map.Entry<String, byte[]> file : files.entrySet()) {
                Files.write(upload.path().resolveSibling(upload.path().getFileName() + file.getKey()),
                        file.getValue());
            }
            return upload.publish();
        }
    }

    private static byte[] bytes(int length, int seed) {
        return ObjectHost.bytes(length, seed);
    }

    private void assertObjects(Map<String, byte[]> expected) {
        Map<String, byte[]> found = host.objects();
        assertEquals(expected.keySet(), found.keySet());
        expected.forEach((key, bytes) -> assertArrayEquals(bytes, found.get(key), key));
    }

    @Test
    void aSmallFileIsOneRequestAndALargeOneSeveralParts() throws IOException {
        publish("s3://bucket/a/small", IfExists.FAIL, Map.of("", bytes(PART, 1)));
        publish("s3://bucket/a/empty", IfExists.FAIL, Map.of("", new byte[0]));
        assertEquals(List.of(), host.requests().stream().filter(request -> request.contains("partNumber")).toList());
        publish("s3://bucket/a/large", IfExists.FAIL, Map.of("", bytes(3 * PART + 1, 2)));
        assertEquals(4, host.requests().stream().filter(request -> request.contains("partNumber=")).count());
        assertObjects(Map.of("a/small", bytes(PART, 1), "a/empty", new byte[0], "a/large", bytes(3 * PART + 1, 2)));
    }

    @Test
    void anyKeyIsWritten() throws IOException {
        for (String key : List.of("a b+c&d=e;f.bin", "ümlaut/€.bin", "x%25y", ".state")) {
            publish("s3://bucket/" + key, IfExists.FAIL, Map.of("", bytes(2 * PART, 1)));
        }
        assertEquals(Set.of("a b+c&d=e;f.bin", "ümlaut/€.bin", "x%y", ".state"), host.objects().keySet());
    }

    @Test
    void theFileThatCompletesTheStoreIsTheLastOne() throws IOException {
        publish("s3://bucket/corpus", IfExists.FAIL, Map.of(".bin", bytes(5 * PART, 1), ".idx", bytes(10, 2),
                ".sha256", bytes(11, 3), ".bin.crc32c", bytes(12, 4), ".idx.crc32c", bytes(2 * PART, 5)));
        List<String> made = host.writes().made();
        assertEquals(List.of("corpus.sha256", "corpus.bin", "corpus.idx"), made.subList(2, 5));
    }

    @Test
    void theRecordOfShardsIsThereBeforeThem() throws IOException {
        try (Upload upload = begin("s3://bucket/t-%03d.tar", IfExists.FAIL)) {
            for (String name : List.of("t-000.tar", "t-001.tar", "t-000.tar.crc32c", "t-001.tar.crc32c",
                    "t-%03d.tar.penstock-shards")) {
                Files.write(upload.path().resolveSibling(name), bytes(10, 1));
            }
            upload.publish();
        }
        List<String> made = host.writes().made();
        assertEquals("t-%03d.tar.penstock-shards", made.getFirst());
        assertEquals(List.of("t-000.tar", "t-001.tar"), made.subList(3, 5));
    }

    @Test
    void whatExistsIsNotReplacedUnlessToldSo() throws IOException {
        host.put("x", bytes(1, 1)).put("corpus.idx", bytes(1, 1)).put("t-000007.tar", bytes(1, 1))
                .put("run/y", bytes(1, 1));
        assertEquals("s3://bucket/x: exists already, and overwriting is off", assertThrows(
                FileAlreadyExistsException.class, () -> begin("s3://bucket/x", IfExists.FAIL)).getMessage());
        assertThrows(FileAlreadyExistsException.class, () -> begin("s3://bucket/t-{000000}.tar", IfExists.FAIL));
        assertThrows(FileAlreadyExistsException.class, () -> begin("s3://bucket/run/", IfExists.FAIL));
        try (Upload upload = begin("s3://bucket/corpus", IfExists.FAIL)) {
            assertThrows(FileAlreadyExistsException.class, () -> upload.requireAbsent(".bin", ".idx"));
        }
        assertThrows(FileAlreadyExistsException.class, () -> publish("s3://bucket/corpus", IfExists.FAIL,
                Map.of(".bin", bytes(3 * PART, 1), ".idx", bytes(1, 2))));
        assertEquals(4, host.objects().size());
        publish("s3://bucket/x", IfExists.REPLACE, Map.of("", bytes(2, 2)));
        assertArrayEquals(bytes(2, 2), host.objects().get("x"));
    }

    @Test
    void anotherWriterThatWasFasterIsNotOverwritten() throws IOException {
        for (IfExists mode : IfExists.values()) {
            host.remove("x");
            try (Upload upload = begin("s3://bucket/x", mode)) {
                Files.write(upload.path(), bytes(3 * PART, 1));
                // The HEAD of the object, and then the first request that sends bytes
                host.failRequests((request, _) -> {
                    if (request == 1) {
                        host.put("x", bytes(5, 5));
                    }
                    return null;
                });
                String message = assertThrows(FileSystemException.class, upload::publish).getMessage();
                assertTrue(message.startsWith("s3://bucket/x: was written by another writer meanwhile"), message);
            }
            host.failRequests((_, _) -> null);
            assertObjects(Map.of("x", bytes(5, 5)));
        }
    }

    @Test
    void anObjectThatWasReplacedMeanwhileStays() throws IOException {
        host.put("x", bytes(4, 4));
        try (Upload upload = begin("s3://bucket/x", IfExists.REPLACE)) {
            Files.write(upload.path(), bytes(1, 1));
            host.failRequests((request, _) -> {
                if (request == 1) {
                    host.put("x", bytes(5, 5));
                }
                return null;
            });
            String message = assertThrows(IOException.class, upload::publish).getMessage();
            assertTrue(message.startsWith("s3://bucket/x: was replaced by another writer meanwhile"), message);
        }
        assertObjects(Map.of("x", bytes(5, 5)));
    }

    @Test
    void aStoreOfOneObjectIsReplacedWithoutAnInstantOfWrongSidecars() throws IOException {
        host.put("x.npy", bytes(4, 4)).put("x.npy.crc32c", bytes(5, 5));
        publish("s3://bucket/x.npy", IfExists.REPLACE, Map.of("", bytes(6, 6), ".crc32c", bytes(7, 7)));
        assertEquals(List.of("-x.npy.crc32c", "x.npy", "x.npy.crc32c"), host.writes().made());
    }

    @Test
    void aStoreOfSeveralObjectsIsGoneWhileItIsReplaced() throws IOException {
        host.put("c.bin", bytes(4, 4)).put("c.idx", bytes(5, 5));
        publish("s3://bucket/c", IfExists.REPLACE, Map.of(".bin", bytes(3 * PART, 6), ".idx", bytes(7, 7)));
        assertEquals(List.of("-c.idx", "c.bin", "c.idx"), host.writes().made());
        assertObjects(Map.of("c.bin", bytes(3 * PART, 6), "c.idx", bytes(7, 7)));
    }

    private SentFile send(String name, byte[] content) throws IOException {
        Path file = Files.write(Files.createTempFile(elsewhere, "sent", ""), content);
        return host.files(elsewhere.resolve("cache")).send(file, name);
    }

    @Test
    void filesThatOtherMachinesSentAreThereWhenTheUploadThatAdoptsThemIsPublished() throws IOException {
        for (IfExists mode : List.of(IfExists.FAIL, IfExists.REPLACE)) {
            SentFile one = send("s3://bucket/a%20b/t-001.tar", bytes(10, 1));
            SentFile zero = send("s3://bucket/a%20b/t-000.tar", bytes(PART, 0));
            SentFile empty = send("s3://bucket/a%20b/t-000.tar.crc32c", new byte[0]);
            assertTrue(mode == IfExists.FAIL == host.objects().isEmpty());
            try (Upload upload = begin("s3://bucket/a%20b/t-%03d.tar", mode)) {
                Files.write(upload.path().resolveSibling("t-%03d.tar.penstock-shards"), bytes(5, 5));
                for (SentFile sent : List.of(one, zero, empty)) {
                    upload.adopt(sent);
                }
                upload.publish();
            }
            assertObjects(Map.of("a b/t-%03d.tar.penstock-shards", bytes(5, 5), "a b/t-000.tar", bytes(PART, 0),
                    "a b/t-001.tar", bytes(10, 1), "a b/t-000.tar.crc32c", new byte[0]));
        }
        assertEquals("a b/t-001.tar", host.writes().made().getLast());
    }

    @Test
    void filesThatWereSentAreRemovedIfTheUploadFailsOrIsNotWanted() throws IOException {
        host.files(folder).abort(send("s3://bucket/x", bytes(10, 1)));
        try (Upload upload = begin("s3://bucket/t-{000}.tar", IfExists.FAIL)) {
            SentFile sent = send("s3://bucket/t-000.tar", bytes(10, 1));
            upload.adopt(sent);
            SentFile elsewhere = new SentFile("s3://other/t-001.tar", "id", "mark", List.of());
            assertThrows(IllegalArgumentException.class, () -> upload.adopt(elsewhere));
            host.put("t-000.tar", bytes(4, 4));
            assertThrows(FileAlreadyExistsException.class, upload::publish);
        }
        assertObjects(Map.of("t-000.tar", bytes(4, 4)));
        host.failRequests((_, request) -> request.contains("partNumber") ? RequestFault.DENIED : null);
        assertThrows(AccessDeniedException.class, () -> send("s3://bucket/y", bytes(10, 1)));
        host.failRequests((_, _) -> null);
    }

    @Test
    void surplusShardsOfAReplacedSetAreDeleted() throws IOException {
        for (String name : List.of("t-000.tar", "t-001.tar", "t-002.tar", "t-002.tar.crc32c", "t-x.tar", "u-003.tar")) {
            host.put(name, bytes(4, 4));
        }
        try (Upload upload = begin("s3://bucket/t-{000}.tar", IfExists.REPLACE)) {
            Files.write(upload.path().resolveSibling("t-000.tar"), bytes(1, 1));
            Files.write(upload.path().resolveSibling("t-001.tar"), bytes(1, 2));
            upload.publish();
        }
        assertEquals(Set.of("t-000.tar", "t-001.tar", "t-x.tar", "u-003.tar"), host.objects().keySet());
    }

    /** The old shard with the name of the new one goes first: alone, it would be taken for the whole set. */
    @Test
    void aSetOfShardsIsGoneWhileOneShardReplacesIt() throws IOException {
        for (String name : List.of("t-000.tar", "t-000.tar.crc32c", "t-001.tar")) {
            host.put(name, bytes(4, 4));
        }
        try (Upload upload = begin("s3://bucket/t-{000}.tar", IfExists.REPLACE)) {
            Files.write(upload.path().resolveSibling("t-000.tar"), bytes(1, 1));
            host.failRequests((_, request) -> request.startsWith("PUT") ? RequestFault.DENIED : null);
            String message = assertThrows(IOException.class, upload::publish).getMessage();
            assertTrue(message.endsWith("(the old store is removed, and the new one is not complete: write it again)"),
                    message);
            host.failRequests((_, _) -> null);
        }
        assertEquals("-t-000.tar", host.writes().made().getFirst());
        assertObjects(Map.of());
    }

    @ParameterizedTest
    @EnumSource(names = {"UNAVAILABLE", "LOST", "LATE_ERROR"})
    void whatMayPassIsTriedAgain(RequestFault fault) throws IOException {
        Map<String, byte[]> files = Map.of("", bytes(3 * PART, 1), ".crc32c", bytes(10, 2));
        Set<String> failed = ConcurrentHashMap.newKeySet();
        host.failRequests((_, request) -> failed.add(request) ? fault : null);
        for (IfExists mode : IfExists.values()) {
            publish("s3://bucket/x", mode, files);
            assertObjects(Map.of("x", files.get(""), "x.crc32c", files.get(".crc32c")));
        }
        host.failRequests((_, _) -> null);
        // The answer that begins an upload may be lost: nobody knows its id, and a rule of the bucket ends it.
        host.writes().forget();
    }

    @Test
    void wrongKeysAreAnErrorThatNamesTheObjectAndNoSecret() throws IOException {
        RemoteSettings wrong = host.settings(folder).withS3(new S3Settings(host.endpoint(), null,
                S3Settings.Addressing.PATH, () -> Optional.of(S3Credentials.of("ME", "SECRET"))));
        String message = assertThrows(AccessDeniedException.class, () -> RemoteFiles.of(wrong, Map.of())
                .upload("s3://bucket/data/x.bin", IfExists.FAIL)).getMessage();
        assertTrue(message.startsWith("s3://bucket/data/x.bin: access denied"), message);
        assertFalse(message.contains("SECRET"), message);
        try (Upload upload = begin("s3://bucket/data/x.bin", IfExists.FAIL)) {
            Files.write(upload.path(), bytes(2 * PART, 1));
            host.failRequests((_, _) -> RequestFault.DENIED);
            message = assertThrows(AccessDeniedException.class, upload::publish).getMessage();
            assertTrue(message.startsWith("s3://bucket/data/x.bin: access denied"), message);
        }
        host.failRequests((_, _) -> null);
        begin("s3://bucket/data/x.bin", IfExists.FAIL).close();
        assertObjects(Map.of());
    }

    @Test
    void theRightToWriteIsEnough() throws IOException {
        host.failRequests((_, request) -> request.startsWith("HEAD") || request.startsWith("GET") ? RequestFault.DENIED
                : null);
        publish("s3://bucket/x", IfExists.FAIL, Map.of("", bytes(2 * PART, 1)));
        publish("s3://bucket/t-{000}.tar", IfExists.REPLACE, Map.of("", bytes(1, 1)));
        assertThrows(IOException.class, () -> publish("s3://bucket/x", IfExists.FAIL, Map.of("", bytes(1, 1))));
        assertArrayEquals(bytes(2 * PART, 1), host.objects().get("x"));
        host.failRequests((_, _) -> null);
        begin("s3://bucket/y", IfExists.FAIL).close();
    }

    @Test
    void aThreadThatIsInterruptedLeavesNothing() throws IOException {
        try (Upload upload = begin("s3://bucket/x", IfExists.FAIL)) {
            Files.write(upload.path(), bytes(20 * PART, 1));
            Thread own = Thread.currentThread();
            host.failRequests((request, _) -> {
                if (request == 5) {
                    own.interrupt();
                }
                return null;
            });
            assertThrows(InterruptedIOException.class, upload::publish);
            assertTrue(Thread.interrupted());
        }
        host.failRequests((_, _) -> null);
        assertObjects(Map.of());
    }

    @Test
    void whatAFailedPublishCouldNotUndoIsUndoneByTheNextOne() throws IOException {
        try (Upload upload = begin("s3://bucket/x", IfExists.FAIL)) {
            Files.write(upload.path(), bytes(3 * PART, 1));
            host.failRequests((_, request) -> request.contains("partNumber=2") || request.startsWith("DELETE")
                    ? RequestFault.DENIED : null);
            assertThrows(AccessDeniedException.class, upload::publish);
            host.failRequests((_, _) -> null);
            upload.publish();
        }
        assertObjects(Map.of("x", bytes(3 * PART, 1)));
    }

    @Test
    void anUploadThatBeginsWhileAnotherFileFailsIsEnded() throws IOException {
        var failures = new CountDownLatch(host.settings(folder).requests().attempts());
        host.failRequests((_, request) -> {
            if (request.startsWith("HEAD") && request.endsWith("x.bin.crc32c")) {
                failures.countDown();
                return RequestFault.UNAVAILABLE;
            }
            if (request.contains("x.bin?uploads")) {
                awaitAndPause(failures);
            }
            return null;
        });
        Map<String, byte[]> files = Map.of(".bin", bytes(2 * PART, 1), ".bin.crc32c", bytes(10, 2));
        assertThrows(IOException.class, () -> publish("s3://bucket/x", IfExists.FAIL, files));
        host.awaitIdle();
        host.failRequests((_, _) -> null);
        assertObjects(Map.of());
    }

    /** Then the writer has heard of the failure; if it has not, the test shows less and passes. */
    private static void awaitAndPause(CountDownLatch latch) {
        try {
            latch.await();
            Thread.sleep(100);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void withoutPublishNothingIsSentAndNoLocalFileStays() throws IOException {
        Path local;
        try (Upload upload = begin("s3://bucket/x", IfExists.FAIL)) {
            local = upload.path();
            Files.write(local, bytes(PART, 1));
            assertThrows(IOException.class, () -> begin("s3://bucket/x", IfExists.FAIL));
        }
        assertFalse(Files.exists(local));
        try (Stream<Path> left = Files.list(folder.resolve("uploads"))) {
            assertEquals(List.of(), left.toList());
        }
        assertObjects(Map.of());
        try (Upload upload = begin("s3://bucket/x", IfExists.FAIL)) {
            assertThrows(IllegalStateException.class, upload::publish);
            Files.createDirectory(upload.path().resolveSibling(".x.writing"));
            assertThrows(IllegalStateException.class, upload::publish);
        }
    }

    @Test
    void namesThatCannotBeWrittenAreRefused() {
        for (String name : List.of("s3://bucket", "s3://bucket/", "s3://bucket/a/..", "http://host/x",
                host.url("x"))) {
            assertThrows(IllegalArgumentException.class, () -> begin(name, IfExists.FAIL), name);
        }
        RemoteSettings offline = host.settings(folder).withAccess(RemoteSettings.Access.OFFLINE);
        assertThrows(IllegalArgumentException.class, () -> RemoteFiles.of(offline, Map.of()).upload("s3://bucket/x",
                IfExists.FAIL));
    }

    @Test
    void aStateIsReadFromWhereItWasWritten() throws IOException {
        RemoteFiles files = host.files(folder);
        for (int position = 1; position < 3; position++) {
            LoaderState state = new LoaderState(0, position, 42, "sampler", "dataset");
            try (Upload upload = files.upload("s3://bucket/run/state.json", IfExists.REPLACE)) {
                state.write(upload.path());
                upload.publish();
            }
            assertEquals(state, LoaderState.read(files.locate("s3://bucket/run/state.json")));
        }
    }

    @Test
    void aCheckpointIsThereWhenItsStateIs() throws IOException {
        LoaderState state = new LoaderState(0, 10, 42, "sampler", "dataset");
        RemoteFiles files = host.files(folder);
        try (Upload upload = files.upload("s3://bucket/run/step-10/", IfExists.FAIL, PART)) {
            Files.write(upload.path().resolve("a-file-with-a-longer-name-than-the-state"), bytes(3 * PART, 1));
            Files.createDirectory(upload.path().resolve("optimizer"));
            Files.write(upload.path().resolve("optimizer/0"), bytes(10, 2));
            Checkpoint.save(upload.path(), 10, state, "a-file-with-a-longer-name-than-the-state", "optimizer/0");
            upload.publish(Checkpoint.FILE_NAME);
        }
        assertEquals("run/step-10/" + Checkpoint.FILE_NAME, host.writes().made().getLast());
        assertEquals(state, Checkpoint.load(files.locate("s3://bucket/run/step-10/")).state());
        host.put("run/step-10/optimizer/0", bytes(10, 3));
        String message = assertThrows(IOException.class, () -> Checkpoint.load(host.files(folder)
                .locate("s3://bucket/run/step-10"))).getMessage();
        assertTrue(message.contains("optimizer/0 has different content"), message);
    }

    @Test
    void progressEndsWithAllBytes() throws IOException {
        List<Long> done = new ArrayList<>();
        try (Upload upload = begin("s3://bucket/x", IfExists.FAIL)) {
            Files.write(upload.path(), bytes(3 * PART, 1));
            Files.writeString(upload.path().resolveSibling("x.crc32c"), "five!", StandardCharsets.UTF_8);
            upload.progress((sent, total) -> {
                assertEquals(3 * PART + 5, total);
                done.add(sent);
            }).publish();
        }
        assertEquals(done.stream().sorted().toList(), done);
        assertEquals(3 * PART + 5, done.getLast());
    }
}
