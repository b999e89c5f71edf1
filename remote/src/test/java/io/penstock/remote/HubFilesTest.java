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
import io.penstock.store.Fixtures;
import io.penstock.store.IfExists;
import io.penstock.store.StoreContent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of a data set on a hub, which has most of them at a CDN. */
class HubFilesTest {

    private static final String FIRST = "a".repeat(40);
    private static final String SECOND = "b".repeat(40);
    private static final byte[] LARGE = ObjectHost.bytes(200_000, 1);
    private static final byte[] SMALL = ObjectHost.bytes(100, 2);

    @TempDir
    private Path folder;

    private HubHost hub;

    @BeforeEach
    void start() throws IOException {
        hub = new HubHost();
        hub.push("main", FIRST, Map.of("data/train-0.bin", LARGE, "data/train-1.bin", ObjectHost.bytes(2000, 3),
                "data/sub/x", SMALL, "data/a b.json", SMALL, "README.md", SMALL));
    }

    @AfterEach
    void stop() {
        hub.close();
    }

    private RemoteFiles files(String... variables) {
        Map<String, String> environment = new HashMap<>(Map.of("HF_ENDPOINT", hub.endpoint(), "HF_HOME",
                folder.resolve("none").toString()));
        for (int i = 0; i < variables.length; i += 2) {
            environment.put(variables[i], variables[i + 1]);
        }
        return RemoteFiles.of(hub.cdn().settings(folder.resolve("cache")), environment);
    }

    private static byte[] read(Location location) throws IOException {
        try (MappedFile file = location.open()) {
            return file.segment().toArray(ValueLayout.JAVA_BYTE);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    @Test
    void aLargeFileIsReadFromWhereTheHubSaysItIs() throws IOException {
        Location file = files().locate("hf://datasets/owner/name/data/train-0.bin");
        assertEquals(new FileInfo(EntryKind.FILE, LARGE.length, HubHost.hash(LARGE)), file.info());
        assertArrayEquals(LARGE, read(file));
        assertEquals("hf://datasets/owner/name/data/train-0.bin", file.toString());
        // One to learn the commit, one for the file: its four blocks ask only the CDN.
        assertEquals(List.of("GET /api/datasets/owner/name/revision/main",
                "HEAD /datasets/owner/name/resolve/" + FIRST + "/data/train-0.bin"), hub.requests());
        assertEquals(4, hub.cdn().gets().size());
    }

    @Test
    void aSmallFileIsReadFromTheHubItself() throws IOException {
        Location file = files().locate("hf://datasets/owner/name/data/a%20b.json");
        assertEquals(new FileInfo(EntryKind.FILE, SMALL.length, HubHost.hash(SMALL)), file.info());
        assertArrayEquals(SMALL, read(file));
    }

    @Test
    void aFolderIsListedPageByPageWithTheVersionsOfItsFiles() throws IOException {
        Location data = files().locate("hf://datasets/owner/name/data");
        assertTrue(data.isFolder());
        assertEquals(List.of("a b.json", "train-0.bin", "train-1.bin"), data.files(_ -> true).stream()
                .map(Location::name).toList());
        int requests = hub.requests().size();
        assertEquals(HubHost.hash(LARGE), data.resolve("train-0.bin").info().version());
        assertFalse(data.resolve("train-2.bin").exists());
        assertEquals(requests, hub.requests().size());
        assertEquals(data.resolve("train-0.bin").infoNow(), data.resolve("train-0.bin").info());
        assertFalse(files().locate("hf://datasets/owner/name/none").exists());
        assertTrue(files().locate("hf://datasets/owner/name").isFolder());
    }

    @Test
    void theRevisionIsResolvedToACommitOnce() throws IOException {
        RemoteFiles early = files();
        Location file = early.locate("hf://datasets/owner/name/data/train-0.bin");
        byte[] before = read(file);
        hub.push("main", SECOND, Map.of("data/train-0.bin", ObjectHost.bytes(200_000, 9), "data/same", LARGE));
        assertEquals(HubHost.hash(LARGE), file.infoNow().version());
        assertArrayEquals(before, read(file));
        assertArrayEquals(ObjectHost.bytes(200_000, 9), read(files().locate(
                "hf://datasets/owner/name/data/train-0.bin")));
        assertArrayEquals(before, read(files().locate("hf://datasets/owner/name@" + FIRST + "/data/train-0.bin")));
        hub.push("refs/convert/parquet", SECOND, Map.of("default/0.parquet", SMALL));
        for (String name : List.of("@refs/convert/parquet/", "@refs%2Fconvert%2Fparquet/")) {
            assertArrayEquals(SMALL, read(files().locate("hf://datasets/owner/name" + name + "default/0.parquet")));
        }
    }

    @Test
    void theTokenGoesToTheHubAndNotToTheCdn() throws IOException {
        hub.requireToken();
        // The CDN takes a request without the header, and refuses one with it.
        hub.cdn().forbidAuthorization();
        Path token = Files.writeString(folder.resolve("token"), HubHost.TOKEN + "\n");
        for (RemoteFiles files : List.of(files("HF_TOKEN", HubHost.TOKEN), files("HF_TOKEN_PATH", token.toString()),
                files("HF_HOME", folder.toString()))) {
            assertArrayEquals(LARGE, read(files.locate("hf://datasets/owner/name/data/train-0.bin")));
        }
        assertEquals(List.of(), hub.cdn().problems().stream().filter(text -> text.contains("Authorization")).toList());
        String message = assertThrows(AccessDeniedException.class, () -> files("HF_TOKEN", "hf_wrong").locate(
                "hf://datasets/owner/name/data/train-0.bin").info()).getMessage();
        assertFalse(message.contains("hf_wrong"), message);
        message = assertThrows(AccessDeniedException.class, () -> files().locate("hf://datasets/owner/name/data")
                .info()).getMessage();
        assertTrue(message.endsWith("(status 401); there may be no such data set, or it wants a token (HF_TOKEN)"),
                message);
    }

    @Test
    void anAddressThatHasExpiredIsAskedForAgain() throws IOException {
        try (MappedFile file = files().locate("hf://datasets/owner/name/data/train-0.bin").open()) {
            assertEquals(LARGE[0], file.range(0, 1).get(ValueLayout.JAVA_BYTE, 0));
            hub.expireAddresses();
            assertEquals(LARGE[150_000], file.range(150_000, 1).get(ValueLayout.JAVA_BYTE, 0));
        }
    }

    @Test
    void aStoreIsReadAsItIsLocally() throws IOException {
        Path file = Fixtures.entries("parquet").filter(entry -> entry.expect().equals("read")
                && Files.isRegularFile(entry.path())).findFirst().orElseThrow().path();
        hub.push("main", SECOND, Map.of("x.parquet", Files.readAllBytes(file)));
        assertEquals(StoreContent.read(Location.of(file)).replace(file.toString(), "x.parquet"),
                StoreContent.read(files().locate("hf://datasets/owner/name/x.parquet")).replace(
                        "hf://datasets/owner/name/", ""));
    }

    @Test
    void namesThatAreNoneAreRefused() {
        for (String name : List.of("hf://models/owner/name/x", "hf://datasets/owner", "hf://datasets/o/n/x?y",
                "hf://datasets/o/n/x#y", "hf://datasets/o@1/n/x")) {
            assertThrows(IllegalArgumentException.class, () -> files().locate(name), name);
        }
        assertThrows(FileSystemException.class, () -> files().locate("hf://datasets/owner/name@none/x").open());
        assertThrows(IllegalArgumentException.class, () -> files().upload("hf://datasets/owner/name/x",
                IfExists.FAIL));
    }
}
