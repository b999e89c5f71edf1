// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.FileInfo;
import io.penstock.io.FileInfo.EntryKind;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.remote.ObjectHost.Fault;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Files of an HTTP server that does not always do what it should. */
class HttpRangesTest {

    private static final byte[] BYTES = ObjectHost.bytes(300_000, 1);

    @TempDir
    private Path folder;

    private ObjectHost host;

    @BeforeEach
    void start() throws IOException {
        host = ObjectHost.start().put("data/x.bin", BYTES);
    }

    @AfterEach
    void stop() {
        host.close();
    }

    private Location locate() {
        return host.files(folder).locate(host.url("data/x.bin"));
    }

    private static byte[] read(Location location) throws IOException {
        try (MappedFile file = location.open()) {
            return file.segment().toArray(ValueLayout.JAVA_BYTE);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private void assertReads(Location location) throws IOException {
        assertArrayEquals(BYTES, read(location));
        assertEquals(List.of(), host.problems());
    }

    @Test
    void aFileIsReadBlockByBlockEachOnce() throws IOException {
        Location location = locate();
        assertEquals(new FileInfo(EntryKind.FILE, BYTES.length, ObjectHost.etag(BYTES)), location.info());
        assertReads(location);
        assertReads(location);
        assertEquals(5, host.gets().size(), host.requests().toString());
    }

    @Test
    void onlyTheBlocksOfARangeAreFetched() throws IOException {
        try (MappedFile file = locate().open()) {
            assertEquals(List.of(), host.gets());
            MemorySegment part = file.range(70_000, 10);
            assertEquals(BYTES[70_000], part.get(ValueLayout.JAVA_BYTE, 0));
        }
        assertEquals(List.of("GET /data/x.bin bytes=65536-131071"), host.gets());
    }

    @Test
    void aServerWithoutHeadIsAskedForItsFirstByte() throws IOException {
        host.refuseHead();
        assertReads(locate());
    }

    @ParameterizedTest
    @EnumSource(names = {"UNAVAILABLE", "CUT"})
    void whatMayPassIsTriedAgain(Fault fault) throws IOException {
        host.fail(fault, fault, fault);
        assertReads(locate());
        assertTrue(host.gets().size() >= 8, host.requests().toString());
    }

    @Test
    void ofABodyThatWasCutTheRestIsRequested() throws IOException {
        host.fail(Fault.CUT);
        try (MappedFile file = locate().open()) {
            assertEquals(BYTES[65_535], file.range(0, 65_536).get(ValueLayout.JAVA_BYTE, 65_535));
        }
        List<String> gets = host.gets();
        assertEquals(2, gets.size());
        String again = gets.get(1).replaceAll(".*bytes=", "").replaceAll("-.*", "");
        assertTrue(Integer.parseInt(again) > 0, gets.toString());
    }

    @Test
    void connectionsThatAreResetAreOpenedAgain() throws IOException {
        try (FaultProxy proxy = new FaultProxy(host.port(), 6, 20_000)) {
            assertArrayEquals(BYTES, read(host.files(folder).locate("http://127.0.0.1:" + proxy.port()
                    + "/data/x.bin")));
        }
    }

    @Test
    void aServerThatStaysUnavailableIsAnErrorThatNamesTheObject() {
        host.fail(Stream.generate(() -> Fault.UNAVAILABLE).limit(100).toArray(Fault[]::new));
        assertEquals(host.url("data/x.bin") + ": status 503 SlowDown (after 4 attempts)",
                assertThrows(IOException.class, () -> read(locate())).getMessage());
    }

    @ParameterizedTest
    @EnumSource(names = {"SILENT", "STALL"})
    void aServerThatSaysNothingIsGivenUp(Fault fault) throws IOException {
        host.fail(fault);
        RequestSettings requests = host.settings(folder).requests().withTimeouts(Duration.ofSeconds(10),
                Duration.ofMillis(500), Duration.ofMillis(500));
        assertReads(RemoteFiles.of(host.settings(folder).withRequests(requests), Map.of())
                .locate(host.url("data/x.bin")));
    }

    @Test
    void aServerThatIgnoresRangesIsAnErrorBeforeItsBodyIsRead() {
        host.fail(Stream.generate(() -> Fault.IGNORE_RANGE).limit(100).toArray(Fault[]::new));
        String message = assertThrows(IOException.class, () -> read(locate())).getMessage();
        assertTrue(message.startsWith(host.url("data/x.bin") + ": the server ignores ranges"), message);
        host.gets().forEach(get -> assertTrue(Collections.frequency(host.gets(), get) <= 2,
                "asked for more often than ahead and when it was needed: " + host.gets()));
    }

    @Test
    void aWholeObjectMayBeAnsweredWithoutARange() throws IOException {
        host.put("small", new byte[100]);
        host.fail(Fault.IGNORE_RANGE);
        assertArrayEquals(new byte[100], read(host.files(folder).locate(host.url("small"))));
    }

    @ParameterizedTest
    @EnumSource(names = {"OTHER_RANGE", "SHORT"})
    void anAnswerOfAnotherLengthOrPlaceIsRefused(Fault fault) {
        host.fail(Stream.generate(() -> fault).limit(100).toArray(Fault[]::new)); // the block may be fetched ahead, too
        String message = assertThrows(IOException.class, () -> {
            try (MappedFile file = locate().open()) {
                file.range(10, 1);
            } catch (UncheckedIOException e) {
                throw e.getCause();
            }
        }).getMessage();
        assertTrue(message.contains("the server answers another range: 'bytes "), message);
    }

    @Test
    void anObjectThatIsReplacedWhileItIsReadIsAnError() throws IOException {
        try (MappedFile file = locate().open()) {
            file.range(0, 1);
            host.put("data/x.bin", ObjectHost.bytes(300_000, 2));
            String message = assertThrows(UncheckedIOException.class, () -> file.range(200_000, 1)).getMessage();
            assertTrue(message.contains(host.url("data/x.bin") + ": the object was replaced while it was read"),
                    message);
            assertEquals(BYTES[5], file.range(5, 1).get(ValueLayout.JAVA_BYTE, 0));
            assertFalse(file.isCurrent());
        }
        assertArrayEquals(ObjectHost.bytes(300_000, 2), read(locate()));
    }

    @Test
    void whatIsMissingIsAbsent() throws IOException {
        Location missing = host.files(folder).locate(host.url("data/y.bin"));
        assertFalse(missing.exists());
        assertThrows(NoSuchFileException.class, missing::open);
    }

    @Test
    void aPageOfLinksIsAFolder() throws IOException {
        host.put("data/a b.npy", BYTES).put("data/sub/z", BYTES);
        Location data = host.files(folder).locate(host.url("data/"));
        assertTrue(data.isFolder());
        assertEquals(List.of("a b.npy", "x.bin"), data.files(_ -> true).stream().map(Location::name).toList());
        assertEquals(BYTES.length, data.resolve("a b.npy").byteSize());
    }

    @Test
    void aLinkIsDecodedAsABrowserDoesIt() throws IOException {
        host.put("data/a&b+c.npy", BYTES).put("data/50%.npy", BYTES);
        for (int i = 0; i < 2; i++) {
            Location data = host.files(folder).locate(host.url("data/"));
            assertEquals(List.of("50%.npy", "a&b+c.npy", "x.bin"), data.files(_ -> true).stream().map(Location::name)
                    .toList());
            assertEquals(BYTES.length, data.resolve("a&b+c.npy").byteSize());
            host.forgetPercent();
        }
    }

    @Test
    void aFolderThatAServerDoesNotListIsAnError() {
        host.refuseLists();
        assertThrows(IOException.class, () -> host.files(folder).locate(host.url("data/")).files(_ -> true));
    }

    @Test
    void aRedirectIsFollowedWithoutTheAuthorization() throws IOException {
        try (ObjectHost other = ObjectHost.start().put("there", BYTES)) {
            host.requireAuthorization("Bearer secret-token");
            host.redirect("moved", other.url("there") + "?signature=secret-query");
            RemoteFiles files = RemoteFiles.of(host.settings(folder).withAuthorization(Map.of(host.host(),
                    "Bearer secret-token")), Map.of());
            assertArrayEquals(BYTES, read(files.locate(host.url("moved"))));
            other.requireAuthorization("Bearer secret-token");
            other.put("there", ObjectHost.bytes(10, 3));
            String message = assertThrows(AccessDeniedException.class, () -> RemoteFiles.of(host.settings(folder)
                    .withAuthorization(Map.of(host.host(), "Bearer secret-token")), Map.of())
                    .locate(host.url("moved")).info()).getMessage();
            assertFalse(message.contains("secret"), message);
        }
    }

    @Test
    void aUserInTheNameIsSentAndNotShown() throws IOException {
        host.requireAuthorization("Basic bWU6c2VjcmV0");
        Location location = host.files(folder).locate("http://me:secret@" + host.host() + "/data/x.bin");
        assertEquals(host.url("data/x.bin"), location.toString());
        assertReads(location);
    }

    @Test
    void aQueryIsSentAndNotShown() throws IOException {
        Location location = host.files(folder).locate(host.url("data/x.bin") + "?X-Amz-Signature=secret");
        assertReads(location);
        assertEquals(host.url("data/x.bin"), location.toString());
        assertTrue(host.requests().stream().allMatch(request -> request.contains("?X-Amz-Signature=secret")));
        String message = assertThrows(NoSuchFileException.class, () -> location.resolveSibling("y").open())
                .getMessage();
        assertFalse(message.contains("secret"), message);
    }

    @Test
    void namesThatAreNoneAreRefused() {
        RemoteFiles files = host.files(folder);
        for (String name : List.of("http://", "ftp://x/y", "s3://b/k?versionId=3", "s3://b/k#3", "s3://a@b/k",
                "https://h/a%2Fb")) {
            assertThrows(IllegalArgumentException.class, () -> files.locate(name), name);
        }
    }

    @Test
    void ofANameThatIsNoUriTheQueryIsNotShown() {
        RemoteFiles files = host.files(folder);
        for (String name : List.of("http://my_host/x?sig=secret", "http://my host/x?sig=secret",
                "http://host:port/x?sig=secret", host.url("x") + "?sig=secret|")) {
            String message = assertThrows(IllegalArgumentException.class, () -> files.locate(name).info(), name)
                    .getMessage();
            assertFalse(message.contains("secret"), message);
        }
    }

    @Test
    void noMoreRequestsAreSentAtATimeThanTheSettingsSay() throws IOException {
        RequestSettings two = host.settings(folder).requests().withParallel(2);
        host.put("large", ObjectHost.bytes(4 << 20, 4));
        assertArrayEquals(ObjectHost.bytes(4 << 20, 4), read(RemoteFiles.of(host.settings(folder).withRequests(two),
                Map.of()).locate(host.url("large"))));
        assertTrue(host.mostUnanswered() <= 2, host.mostUnanswered() + " requests at a time");
    }
}
