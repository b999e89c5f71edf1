// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.format.webdataset.ShardList;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.store.IfExists;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers that do less than others, deny, list in other ways, or are not there. */
class OddServersTest {

    private static final byte[] BYTES = ObjectHost.bytes(2000, 1);

    @TempDir
    private Path cache;

    private static byte[] read(Location location) throws IOException {
        try (MappedFile file = location.open()) {
            return file.segment().toArray(ValueLayout.JAVA_BYTE);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static String denial(Executable action) {
        return assertThrows(AccessDeniedException.class, action).getMessage();
    }

    // ---- access denied

    /** A server that has the first of some files, denies those that match, and lacks all others. */
    private static ScriptedHost denying(String pattern) {
        return ScriptedHost.start(request -> {
            if (request.path().matches("/(bucket/)?there[^:{}]*\\.(bin|tar)")) {
                request.with("ETag", "\"e\"").data(BYTES);
            } else if (request.query().contains("list-type")) {
                request.status(200, "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>");
            } else {
                request.status(request.path().matches(pattern) ? 403 : 404, "<Error><Code>AccessDenied</Code></Error>");
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"http", "s3"})
    void aNamedFileThatIsDeniedIsNotMissing(String scheme) throws IOException {
        try (ScriptedHost host = denying(".*(denied|idx|none).*")) {
            String root = scheme.equals("s3") ? "s3://bucket/" : host.url("");
            RemoteFiles files = host.files(cache);
            assertTrue(files.locate(root + "there.bin").exists());
            Location denied = files.locate(root + "denied-1.tar");
            assertTrue(denial(denied::exists).contains("denied-1.tar: access denied (status 403"));
            assertTrue(denial(denied::infoNow).contains("access denied"));
            assertTrue(denial(() -> read(denied)).contains("access denied"));
            assertTrue(denial(denied::byteSize).contains("access denied"));
            assertTrue(denial(() -> Store.open(denied, OpenOptions.DEFAULT)).contains("access denied"));
            for (String pattern : List.of("{there-0,denied-1}.tar", "{denied-0,there-1}.tar",
                    "there-0.tar::denied-1.tar")) {
                assertTrue(denial(() -> ShardList.of(files.locate(root + pattern))).contains("access denied"),
                        pattern);
            }
            // What a store is made of is named by it.
            assertTrue(denial(() -> Store.open(files.locate(root + "corpus"), OpenOptions.DEFAULT))
                    .contains("corpus.idx: access denied"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"http", "s3"})
    void whatIsLookedForBesideAFileMayBeDenied(String scheme) throws IOException {
        try (ScriptedHost host = denying(".*")) {
            Location file = host.files(cache).locate((scheme.equals("s3") ? "s3://bucket/" : host.url(""))
                    + "there.bin");
            assertFalse(file.resolveSibling("other.crc32c").exists());
            assertArrayEquals(BYTES, read(file));
            try (Store store = Store.open(file, OpenOptions.DEFAULT)) {
                assertFalse(store.fingerprint().isEmpty());
            }
            assertTrue(denial(() -> read(file.resolveSibling("other.crc32c"))).contains("access denied"));
        }
    }

    @Test
    void anOpenFileThatIsDeniedLaterHasNotChanged() throws IOException {
        Set<String> denied = ConcurrentHashMap.newKeySet();
        try (ScriptedHost host = ScriptedHost.start(request -> {
            if (denied.contains(request.path())) {
                request.status(403, "");
            } else {
                request.with("ETag", "\"e\"").data(BYTES);
            }
        })) {
            Location file = host.files(cache).locate(host.url("a/")).resolve("x.bin");
            try (MappedFile open = file.open()) {
                assertTrue(open.isCurrent());
                denied.add("/a/x.bin");
                assertThrows(AccessDeniedException.class, open::isCurrent);
            }
        }
    }

    // ---- servers that know a part of S3

    @Test
    void keysAreDecodedOnlyIfTheListSaysThatTheyAreEncoded() throws IOException {
        List<String> keys = List.of("a+b/x+y.bin", "a+b/100%25.bin", "a+b/a%2Fb.bin", "a+b/é.bin");
        for (String encoding : List.of("", "<EncodingType>url</EncodingType>")) {
            StringBuilder xml = new StringBuilder("<ListBucketResult>");
            for (String key : keys) {
                xml.append("<Contents><Key>").append(encoding.isEmpty() ? key : UriText.path(key))
                        .append("</Key><ETag>&quot;e&quot;</ETag><Size>1</Size></Contents>");
            }
            // Behind the keys, as the order of elements is free.
            S3Listing listing = S3Listing.parse("s3://b/", "a+b/", xml.append(encoding)
                    .append("<IsTruncated>false</IsTruncated></ListBucketResult>").toString()
                    .getBytes(StandardCharsets.UTF_8));
            assertEquals(Set.of("x+y.bin", "100%25.bin", "a%2Fb.bin", "é.bin"), listing.entries().keySet());
        }
    }

    @Test
    void aKeyOutsideThePrefixIsAnError() {
        String message = assertThrows(FileSystemException.class, () -> S3Listing.parse("s3://b/a/", "a/",
                "<ListBucketResult><Contents><Key>c/x</Key></Contents></ListBucketResult>".getBytes(
                        StandardCharsets.UTF_8))).getMessage();
        assertTrue(message.contains("'c/x'"), message);
    }

    @Test
    void anETagOrSizeThatAListLacksIsAskedFor() throws IOException {
        S3Listing listing = S3Listing.parse("s3://b/", "", ("<ListBucketResult>"
                + "<Contents><Key>a</Key><ETag>e</ETag><Size>1</Size></Contents>"
                + "<Contents><Key>b</Key><Size>1</Size></Contents><Contents><Key>c</Key><ETag>e</ETag></Contents>"
                + "</ListBucketResult>").getBytes(StandardCharsets.UTF_8));
        assertEquals("\"e\"", listing.entries().get("a").version());
        assertTrue(listing.entries().containsKey("b") && listing.entries().get("b") == null);
        assertTrue(listing.entries().containsKey("c") && listing.entries().get("c") == null);
    }

    /** A bucket without conditional writes. */
    private static final class PlainBucket {

        private final Map<String, byte[]> objects = new TreeMap<>();
        private final Map<String, String> marks = new TreeMap<>();

        synchronized void answer(ScriptedHost.Request request) throws IOException {
            String key = request.path().replaceFirst("/bucket/", "");
            if (!request.header("If-None-Match").isEmpty() || !request.header("If-Match").isEmpty()) {
                request.status(501, "<Error><Code>NotImplemented</Code></Error>");
            } else if (request.query().contains("uploads")) {
                request.status(200, "<InitiateMultipartUploadResult><UploadId>u</UploadId>"
                        + "</InitiateMultipartUploadResult>");
            } else if (request.method().equals("PUT")) {
                objects.put(key, BYTES);
                marks.put(key, request.header("x-amz-meta-penstock-write"));
                request.with("ETag", "\"" + marks.get(key) + "\"").status(200, "");
            } else if (request.method().equals("DELETE")) {
                if (!request.query().contains("uploadId")) {
                    objects.remove(key);
                }
                request.status(204, "");
            } else if (objects.containsKey(key)) {
                request.with("ETag", "\"" + marks.get(key) + "\"")
                        .with("x-amz-meta-penstock-write", marks.get(key)).data(objects.get(key));
            } else {
                request.status(404, "<Error><Code>NoSuchKey</Code></Error>");
            }
        }
    }

    private static void write(RemoteFiles files, IfExists ifExists, Runnable meanwhile) throws IOException {
        try (Upload upload = files.upload("s3://bucket/x.bin", ifExists)) {
            Files.write(upload.path(), BYTES);
            meanwhile.run();
            upload.publish();
        }
    }

    @Test
    void withoutConditionalWritesTheObjectIsLookedAtBeforeItIsWritten() throws IOException {
        PlainBucket bucket = new PlainBucket();
        try (ScriptedHost host = ScriptedHost.start(bucket::answer)) {
            write(host.files(cache), IfExists.FAIL, () -> { });
            assertEquals(Set.of("x.bin"), bucket.objects.keySet());
            assertThrows(FileAlreadyExistsException.class, () -> write(host.files(cache), IfExists.FAIL, () -> { }));
            String before = bucket.marks.get("x.bin");
            write(host.files(cache), IfExists.REPLACE, () -> { });
            assertFalse(bucket.marks.get("x.bin").equals(before));
            bucket.objects.clear();
            assertThrows(FileAlreadyExistsException.class, () -> write(host.files(cache), IfExists.FAIL, () -> {
                bucket.objects.put("x.bin", BYTES);
                bucket.marks.put("x.bin", "another");
            }));
        }
    }

    @Test
    void aHostWithAnUnderscoreIsNamed() {
        for (Map<String, String> environment : List.of(Map.of("AWS_ENDPOINT_URL_S3", "http://my_minio:9000"),
                Map.of("HF_ENDPOINT", "http://my_hub:9000"))) {
            String name = environment.containsKey("HF_ENDPOINT") ? "hf://datasets/o/n/x" : "s3://bucket/x";
            String message = assertThrows(IllegalArgumentException.class, () -> RemoteFiles.of(RemoteSettings.of(
                    environment), environment).locate(name)).getMessage();
            assertTrue(message.contains("my_") && message.contains("'_'"), message);
        }
        S3Settings given = new S3Settings(URI.create("http://my_minio:9000"), null, S3Settings.Addressing.AUTO, null);
        assertThrows(IllegalArgumentException.class, () -> RemoteFiles.of(RemoteSettings.of(Map.of()).withS3(given),
                Map.of()).locate("s3://bucket/x"));
    }

    // ---- pages of folders

    @ParameterizedTest
    @ValueSource(strings = {"<a href=\"./a b.tar\">", "<A HREF='/data/a%20b.tar'>",
        "<a class=x href=http://HOST/data/a%20b.tar >", "<a href=\"//HOST/data/a b.tar#top\">",
        "<a href=\"../data/./a%20b.tar\">", "<base href=\"/data/\"><a href=\"a b.tar\">",
        "<a href=\"&#x61;&#32;b.tar\">", "<a\nhref = \"HTTP://HOST/x/../data/a%20b.tar\">"})
    void aLinkIsResolvedAgainstThePage(String html) throws IOException {
        String others = "<a href=\"/\"></a><a href=\"../\"></a><a href=\"/other/c.tar\"></a><a href=\"sub/d.tar\"></a>"
                + "<a href=\"http://else/data/e.tar\"></a><a href=\"?C=N\"></a><a href=\"/data/?C=N\"></a>"
                + "<a href=\"#top\"></a><a href=\"mailto:x@y\"></a><a href=\"javascript:f()\"></a><a href=\"\"></a>"
                + "<area href=\"g.tar\"><a name=\"href\"></a>";
        try (ScriptedHost host = ScriptedHost.start(request -> {
            if (request.path().equals("/data/")) {
                request.with("Content-Type", "text/html; charset=utf-8").status(200, others
                        + html.replace("HOST", request.header("Host")) + "</a>");
            } else if (request.path().equals("/data/a b.tar")) {
                request.with("ETag", "\"e\"").data(BYTES);
            } else {
                request.status(404, "");
            }
        })) {
            List<Location> files = host.files(cache).locate(host.url("data/")).files(_ -> true);
            assertEquals(List.of("a b.tar"), files.stream().map(Location::name).toList());
            assertArrayEquals(BYTES, read(files.getFirst()));
        }
    }

    @ParameterizedTest
    @CsvSource({"text/html,<html><a href=\"../\">up</a></html>,lists no files", "application/json,[],application/json",
        "text/html,'',lists no files"})
    void aPageWithoutFilesIsAnErrorThatSaysSo(String type, String page, String part) throws IOException {
        try (ScriptedHost host = ScriptedHost.start(request -> {
            if (request.path().endsWith("/")) {
                request.with("Content-Type", type).status(200, page);
            } else {
                request.status(404, "");
            }
        })) {
            String message = assertThrows(FileSystemException.class, () -> Store.open(host.files(cache).locate(host.url(
                    "data/")), OpenOptions.DEFAULT)).getMessage();
            assertTrue(message.startsWith(host.url("data/")) && message.contains(part), message);
        }
    }

    // ---- no home, no cache

    @Test
    void withoutAHomeTheCacheMustBeNamed() {
        String home = System.getProperty("user.home");
        try {
            System.setProperty("user.home", "?");
            RemoteSettings settings = RemoteSettings.of(Map.of());
            String message = assertThrows(IllegalArgumentException.class, settings::cacheFolder).getMessage();
            assertTrue(message.contains("PENSTOCK_CACHE"), message);
            assertEquals(cache, settings.withCache(cache, 0).withBlockBytes(1 << 20).cacheFolder());
            assertEquals(Path.of("/h/.cache/penstock"), RemoteSettings.of(Map.of("HOME", "/h")).cacheFolder());
            assertEquals(Path.of("/c/penstock"), RemoteSettings.of(Map.of("XDG_CACHE_HOME", "/c")).cacheFolder());
        } finally {
            System.setProperty("user.home", home);
        }
    }

    @Test
    void aCacheThatCannotBeMadeIsNamedAndNotTheFile() throws IOException {
        Path file = Files.writeString(cache.resolve("file"), "x");
        for (Path folder : List.of(file, file.resolve("cache"))) {
            try (ScriptedHost host = ScriptedHost.start(request -> request.with("ETag", "\"e\"").data(BYTES))) {
                FileSystemException e = assertThrows(FileSystemException.class, () -> read(host.files(folder).locate(
                        host.url("x.bin"))));
                assertEquals(folder.toString(), e.getFile());
                assertTrue(e.getMessage().contains("PENSTOCK_CACHE"), e.getMessage());
            }
        }
    }

    // ---- no connection

    @ParameterizedTest
    @ValueSource(strings = {"http://127.0.0.1:PORT/x.bin", "https://127.0.0.1:PORT/x.bin", "s3://bucket/x.bin",
        "hf://datasets/o/n/x.bin"})
    void aServerThatWasNeverThereIsGivenUpSoonAndNamed(String name) throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        List<Duration> delays = new ArrayList<>();
        RequestSettings settings = RequestSettings.DEFAULT;
        Requests requests = new Requests(settings, (_, _) -> { }, delays::add);
        String uri = name.startsWith("http") ? name : "http://127.0.0.1:PORT/x.bin";
        Requests.Target target = new Requests.Target(name, URI.create(uri.replace("PORT", "" + port)), (_, _, _) -> {
        });
        String message = assertThrows(IOException.class, () -> requests.head(target)).getMessage();
        assertTrue(message.startsWith(name + ": cannot connect to 127.0.0.1:" + port + ": connection refused (after "),
                message);
        assertTrue(delays.size() < settings.attempts() - 1, delays::toString);
        // By the client of ranges, too.
        delays.clear();
        String first = assertThrows(IOException.class, () -> requests.info(target, Requests.NO_HEADERS)).getMessage();
        assertEquals(message, first);
    }

    @Test
    void anUnknownHostIsNamed() {
        Requests requests = new Requests(RequestSettings.DEFAULT, (_, _) -> { }, _ -> { });
        for (String scheme : List.of("http", "https")) {
            Requests.Target target = new Requests.Target("s3://b/x", URI.create(scheme + "://no-such-host.invalid/x"),
                    (_, _, _) -> { });
            for (boolean isRange : List.of(true, false)) {
                String message = assertThrows(IOException.class, () -> {
                    if (isRange) {
                        requests.info(target, Requests.NO_HEADERS);
                    } else {
                        requests.head(target);
                    }
                }).getMessage();
                assertTrue(message.contains("s3://b/x: cannot connect to no-such-host.invalid:"), message);
                assertTrue(message.contains("the host no-such-host.invalid is unknown"), message);
            }
        }
    }

    @Test
    void aServerThatHasAnsweredIsTriedAsOftenAsTheSettingsSay() throws IOException {
        List<Duration> delays = new ArrayList<>();
        Requests requests = new Requests(RequestSettings.DEFAULT, (_, _) -> { }, delays::add);
        Requests.Target target;
        try (ScriptedHost host = ScriptedHost.start(request -> request.data(BYTES))) {
            target = new Requests.Target("x", URI.create(host.url("x")), (_, _, _) -> { });
            requests.head(target);
        }
        String message = assertThrows(IOException.class, () -> requests.head(target)).getMessage();
        assertTrue(message.contains("connection refused (after 10 attempts)"), message);
        assertEquals(RequestSettings.DEFAULT.attempts() - 1, delays.size());
    }
}
