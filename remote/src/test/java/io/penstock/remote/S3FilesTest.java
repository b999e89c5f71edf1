// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.FileInfo;
import io.penstock.io.FileInfo.EntryKind;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Objects of a bucket, of a server that checks signatures. */
class S3FilesTest {

    private static final byte[] BYTES = ObjectHost.bytes(200_000, 1);

    @TempDir
    private Path folder;

    private ObjectHost host;

    @BeforeEach
    void start() throws IOException {
        host = ObjectHost.start().bucket("bucket").put("data/x.bin", BYTES);
    }

    @AfterEach
    void stop() {
        host.close();
    }

    private Location locate(String name) {
        return host.files(folder.resolve("cache")).locate(name);
    }

    private static byte[] read(Location location) throws IOException {
        try (MappedFile file = location.open()) {
            return file.segment().toArray(ValueLayout.JAVA_BYTE);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    @Test
    void anObjectIsReadWithSignedRequests() throws IOException {
        Location location = locate("s3://bucket/data/x.bin");
        assertEquals(new FileInfo(EntryKind.FILE, BYTES.length, ObjectHost.etag(BYTES)), location.info());
        assertArrayEquals(BYTES, read(location));
        assertEquals("s3://bucket/data/x.bin", location.toString());
        assertEquals(List.of(), host.problems());
    }

    @Test
    void anyKeyIsSignedAsItIsSent() throws IOException {
        for (String key : List.of("a b+c&d=e;f.bin", "ümlaut/€.bin", "100%/~x*(1)'!.bin", "a//b", "{x,y}.bin")) {
            host.put(key, key.getBytes(StandardCharsets.UTF_8));
            Location root = locate("s3://bucket/");
            assertArrayEquals(key.getBytes(StandardCharsets.UTF_8), read(new Location(root.source(), key)), key);
        }
    }

    @Test
    void aPrefixIsAFolderWhoseFilesAreListedPageByPage() throws IOException {
        for (int i = 0; i < 7; i++) {
            host.put("data/shard " + i + ".tar", ObjectHost.bytes(i, i));
        }
        host.put("data/sub/z.bin", BYTES);
        Location data = locate("s3://bucket/data");
        assertTrue(data.isFolder());
        List<Location> files = data.files(name -> name.endsWith(".tar"));
        assertEquals(List.of("shard 0.tar", "shard 1.tar", "shard 2.tar", "shard 3.tar", "shard 4.tar", "shard 5.tar",
                "shard 6.tar"), files.stream().map(Location::name).toList());
        assertFalse(data.resolve("shard").exists());
        assertTrue(locate("s3://bucket").isFolder());
        assertTrue(locate("s3://bucket/").isFolder());
    }

    /** Also if they are on different pages: those of this server have three names. */
    @Test
    void anObjectIsListedThatHasTheNameOfAFolder() throws IOException {
        host.put("data/x.bin/y", BYTES).put("data/w", BYTES).put("data/w/z", BYTES);
        Location data = locate("s3://bucket/data");
        assertEquals(List.of("w", "x.bin"), data.files(_ -> true).stream().map(Location::name).toList());
        assertArrayEquals(BYTES, read(data.resolve("x.bin")));
    }

    @Test
    void aListWithoutItsOtherPagesIsAnError() throws IOException {
        host.forgetTokens();
        host.put("data/y.bin", BYTES);
        assertEquals(2, locate("s3://bucket/data").files(_ -> true).size());
        host.put("data/z.bin", BYTES).put("data/zz.bin", BYTES);
        String message = assertThrows(FileSystemException.class, () -> locate("s3://bucket/data").files(_ -> true))
                .getMessage();
        assertTrue(message.startsWith("s3://bucket/data/: the server lists only a part"), message);
    }

    @Test
    void aTokenWithoutTextAsksForNoPage() throws IOException {
        assertNull(S3Listing.parse("s3://b/", "", ("<ListBucketResult><IsTruncated>false</IsTruncated>"
                + "<NextContinuationToken/></ListBucketResult>").getBytes(StandardCharsets.UTF_8)).nextToken());
    }

    @Test
    void filesOfAFolderThatWasListedNeedNoRequest() throws IOException {
        Location data = locate("s3://bucket/data");
        assertEquals(1, data.files(_ -> true).size());
        host.forgetRequests();
        assertEquals(BYTES.length, data.resolve("x.bin").byteSize());
        assertFalse(data.resolve("x.bin.sha256").exists());
        assertEquals(List.of(), host.requests());
        data.resolve("x.bin").infoNow();
        assertEquals(List.of("HEAD /bucket/data/x.bin"), host.requests());
    }

    @Test
    void theVersionInAListIsTheOneOfTheObject() throws IOException {
        Location data = locate("s3://bucket/data");
        data.files(_ -> true);
        assertEquals(data.resolve("x.bin").infoNow(), data.resolve("x.bin").info());
    }

    @Test
    void whatIsMissingIsAbsentEvenIfTheBucketMayNotBeListed() throws IOException {
        host.refuseLists();
        Location location = locate("s3://bucket/data/x.bin");
        assertTrue(location.isFile());
        assertFalse(location.resolveSibling("y").exists());
        assertThrows(AccessDeniedException.class, () -> locate("s3://bucket/data").info());
    }

    @Test
    void wrongKeysAreAnErrorWithoutSecrets() {
        RemoteSettings wrong = host.settings(folder).withS3(new S3Settings(host.endpoint(), null,
                S3Settings.Addressing.PATH, () -> Optional.of(S3Credentials.of("ME", "SECRET"))));
        String message = assertThrows(AccessDeniedException.class, () -> RemoteFiles.of(wrong, Map.of())
                .locate("s3://bucket/data/x.bin").info()).getMessage();
        assertTrue(message.startsWith("s3://bucket/data/x.bin: access denied"), message);
        assertFalse(message.contains("SECRET"), message);
    }

    @Test
    void withoutKeysRequestsAreNotSignedAndTheErrorSaysSo() throws IOException {
        Map<String, String> environment = Map.of("AWS_ENDPOINT_URL_S3", host.endpoint().toString(), "AWS_CONFIG_FILE",
                folder.resolve("none").toString(), "AWS_SHARED_CREDENTIALS_FILE", folder.resolve("none").toString());
        RemoteFiles files = RemoteFiles.of(host.settings(folder).withS3(S3Settings.DEFAULT), environment);
        String message = assertThrows(AccessDeniedException.class, () -> files.locate("s3://bucket/data/x.bin").info())
                .getMessage();
        assertTrue(message.contains("no credentials were found"), message);
    }

    @Test
    void theEnvironmentsKeysGoBeforeTheProfiles() throws IOException {
        Path config = Files.writeString(folder.resolve("config"), """
                [default]
                region = us-east-1
                [profile team]
                endpoint_url = %s
                region = us-east-1
                s3 =
                  addressing_style = path
                """.formatted(host.endpoint()));
        Path credentials = Files.writeString(folder.resolve("credentials"), """
                # keys
                [default]
                aws_access_key_id = OTHER
                aws_secret_access_key = OTHER
                [team]
                aws_access_key_id = %s
                aws_secret_access_key=%s
                """.formatted(ObjectHost.KEY.accessKeyId(), ObjectHost.KEY.secretAccessKey()));
        Map<String, String> team = Map.of("AWS_PROFILE", "team", "AWS_CONFIG_FILE", config.toString(),
                "AWS_SHARED_CREDENTIALS_FILE", credentials.toString());
        RemoteSettings settings = host.settings(folder.resolve("cache")).withS3(S3Settings.DEFAULT);
        assertArrayEquals(BYTES, read(RemoteFiles.of(settings, team).locate("s3://bucket/data/x.bin")));
        Map<String, String> both = Map.of("AWS_PROFILE", "team", "AWS_CONFIG_FILE", config.toString(),
                "AWS_SHARED_CREDENTIALS_FILE", credentials.toString(), "AWS_ACCESS_KEY_ID", "X",
                "AWS_SECRET_ACCESS_KEY", "Y");
        assertThrows(AccessDeniedException.class, () -> RemoteFiles.of(settings, both)
                .locate("s3://bucket/data/x.bin").info());
        assertThrows(UncheckedIOException.class, () -> RemoteFiles.of(settings, Map.of("AWS_PROFILE", "none",
                "AWS_CONFIG_FILE", config.toString())).locate("s3://bucket/data/x.bin"));
    }

    @Test
    void keysAreAskedForAgainBeforeTheyExpire() throws IOException {
        AtomicInteger asked = new AtomicInteger();
        S3Settings s3 = new S3Settings(host.endpoint(), "us-east-1", S3Settings.Addressing.AUTO, () -> Optional.of(
                new S3Credentials(ObjectHost.KEY.accessKeyId(), ObjectHost.KEY.secretAccessKey(), null,
                        Instant.now().plusSeconds(asked.incrementAndGet() < 3 ? 60 : 3600))));
        Location location = RemoteFiles.of(host.settings(folder).withS3(s3), Map.of())
                .locate("s3://bucket/data/x.bin");
        for (int i = 0; i < 6; i++) {
            location.infoNow();
        }
        assertEquals(3, asked.get());
    }

    @Test
    void aSessionTokenIsSentAndSigned() throws IOException {
        S3Settings s3 = new S3Settings(host.endpoint(), "us-east-1", S3Settings.Addressing.AUTO, () -> Optional.of(
                new S3Credentials(ObjectHost.KEY.accessKeyId(), ObjectHost.KEY.secretAccessKey(), "token", null)));
        assertTrue(RemoteFiles.of(host.settings(folder).withS3(s3), Map.of()).locate("s3://bucket/data/x.bin")
                .isFile());
    }

    @Test
    void bucketsAreAddressedInTheHostOrThePath() throws IOException {
        Map<String, String> none = Map.of("AWS_CONFIG_FILE", folder.resolve("none").toString(),
                "AWS_SHARED_CREDENTIALS_FILE", folder.resolve("none").toString(), "AWS_REGION", "eu-west-1");
        assertEquals("https://b.s3.eu-west-1.amazonaws.com/k%20x", uri(S3Settings.DEFAULT, none, "b"));
        assertEquals("https://s3.eu-west-1.amazonaws.com/b.c/k%20x", uri(S3Settings.DEFAULT, none, "b.c"));
        URI minio = URI.create("http://localhost:9000/");
        assertEquals("http://localhost:9000/b/k%20x", uri(new S3Settings(minio, null, S3Settings.Addressing.AUTO,
                null), none, "b"));
        assertEquals("http://b.localhost:9000/k%20x", uri(new S3Settings(minio, null, S3Settings.Addressing.HOST,
                null), none, "b"));
    }

    private static String uri(S3Settings settings, Map<String, String> environment, String bucket)
            throws IOException {
        return new S3Access(settings, environment, bucket).uri("k x", "").toString();
    }

    @Test
    void aRequestThatWasSentBeforeAnotherOneFoundTheRegionIsSentAgain() throws IOException {
        Map<String, String> none = Map.of("AWS_CONFIG_FILE", folder.resolve("none").toString(),
                "AWS_SHARED_CREDENTIALS_FILE", folder.resolve("none").toString());
        S3Access access = new S3Access(S3Settings.DEFAULT, none, "b");
        S3Objects objects = new S3Objects(new Requests(RequestSettings.DEFAULT), "b", access);
        Retries.Attempt<String> wantsEurope = () -> {
            if (!access.region().equals("eu-west-1")) {
                throw new OtherRegionException("s3://b/", "eu-west-1");
            }
            return access.region();
        };
        int[] attempts = {0};
        assertEquals("eu-west-1", objects.inRegion("", () -> {
            if (attempts[0]++ > 0) {
                return access.region();
            }
            objects.inRegion("", wantsEurope); // another thread's
            throw new OtherRegionException("s3://b/", "eu-west-1");
        }));
    }

    @Test
    void aListThatIsNoneIsRefused() {
        for (String xml : List.of("", "<a/>",
                "<ListBucketResult><Contents><Size>x</Size></Contents></ListBucketResult>",
                "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/hostname\">]><ListBucketResult><Key>&b;</Key>"
                        + "</ListBucketResult>", "<ListBucketResult>")) {
            assertThrows(FileSystemException.class, () -> S3Listing.parse("s3://b/", "",
                    xml.getBytes(StandardCharsets.UTF_8)), xml);
        }
    }
}
