// SPDX-License-Identifier: Apache-2.0
package io.penstock.s3;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.PenstockException;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.remote.RemoteFiles;
import io.penstock.remote.S3Credentials;
import io.penstock.remote.S3Settings.Addressing;
import io.penstock.remote.Upload;
import io.penstock.store.IfExists;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import io.penstock.store.Store;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;

/** Stores in a bucket of S3Proxy, a server that others wrote. */
class S3ServerTest {

    private static final Path FIXTURES = Path.of("../../src/test/resources/fixtures");
    private static final List<String> FORMATS = List.of("arrow", "datatrove", "hdf5", "llmc", "lmdb", "mds",
            "megatron", "nanogpt", "npy", "npz", "parquet", "safetensors", "webdataset");

    @TempDir
    private static Path folder;
    private static S3Server server;
    private static RemoteFiles files;

    @BeforeAll
    static void start() throws Exception {
        server = new S3Server(folder.resolve("server"));
        files = server.files(folder.resolve("cache"));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static byte[] bytes(int length, int seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static void write(RemoteFiles remote, String name, IfExists ifExists, byte[] content) throws IOException {
        try (Upload upload = remote.upload(name, ifExists)) {
            Files.write(upload.path(), content);
            upload.publish();
        }
    }

    private static byte[] read(Location location) throws IOException {
        try (MappedFile file = location.open()) {
            return file.segment().toArray(ValueLayout.JAVA_BYTE);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    /** What a store holds; empty if it is none. */
    private static String content(Location location) {
        try (Store store = Store.open(location, OpenOptions.DEFAULT)) {
            return Inspection.of(location, store, Depth.CONTENT, Progress.NONE).toMap().toString();
        } catch (IOException | IllegalArgumentException | PenstockException | UncheckedIOException _) {
            return "";
        }
    }

    @Test
    void everyFormatIsReadAsItIsLocally() throws IOException {
        int compared = 0;
        for (String format : FORMATS) {
            Path local = FIXTURES.resolve(format);
            List<Path> all;
            try (Stream<Path> walked = Files.walk(local)) {
                all = walked.toList();
            }
            try (Upload upload = files.upload("s3://bucket/fixtures/" + format + "/", IfExists.FAIL)) {
                for (Path path : all) {
                    Path copy = upload.path().resolve(local.relativize(path).toString());
                    if (Files.isRegularFile(path) && !path.getFileName().toString().startsWith(".")) {
                        Files.createDirectories(copy.getParent());
                        Files.copy(path, copy);
                    }
                }
                upload.publish();
            }
            for (Path path : all) {
                String expected = content(Location.of(path));
                // A folder of any files is read only locally.
                if (!expected.isEmpty() && !expected.startsWith("{kind=files,")) {
                    String name = "fixtures/" + FIXTURES.relativize(path);
                    assertEquals(expected.replace(FIXTURES.toString(), "fixtures"), content(new Location(
                            files.locate("s3://bucket/").source(), name)).replace("s3://bucket/", ""));
                    compared++;
                }
            }
        }
        assertTrue(compared > 100, compared + " stores");
    }

    @Test
    void bracesAndPrefixesNameShards() throws IOException {
        Path shard;
        try (Stream<Path> tars = Files.walk(FIXTURES.resolve("webdataset"))) {
            shard = tars.filter(path -> path.toString().endsWith(".tar") && !content(Location.of(path)).isEmpty())
                    .sorted().findFirst().orElseThrow();
        }
        long samples;
        try (Store store = Store.open(shard)) {
            samples = ((RecordStore) store).size();
        }
        for (int i = 0; i < 3; i++) {
            write(files, "s3://bucket/shards/train-00000" + i + ".tar", IfExists.FAIL, Files.readAllBytes(shard));
        }
        for (String name : List.of("train-{000000..000002}.tar", "", "train-00000{0,1,2}.tar")) {
            try (Store store = Store.open(files.locate("s3://bucket/shards/" + name), OpenOptions.DEFAULT)) {
                assertEquals(3 * samples, ((RecordStore) store).size(), name);
            }
        }
    }

    @Test
    void aLargeObjectIsWrittenInPartsAndReadByRanges() throws IOException {
        byte[] content = bytes((20 << 20) + 1, 1);
        write(files, "s3://bucket/large", IfExists.FAIL, content);
        assertArrayEquals(content, read(files.locate("s3://bucket/large")));
        try (MappedFile file = server.files(folder.resolve("other")).locate("s3://bucket/large").open()) {
            assertEquals(content[17 << 20], file.range(17 << 20, 1).get(ValueLayout.JAVA_BYTE, 0));
            write(files, "s3://bucket/large", IfExists.REPLACE, bytes((20 << 20) + 1, 2));
            String message = assertThrows(UncheckedIOException.class, () -> file.range(0, 1)).getMessage();
            assertTrue(message.contains("s3://bucket/large: the object was replaced while it was read"), message);
        }
    }

    @Test
    void whatExistsIsNotOverwritten() throws IOException {
        for (int length : new int[] {10, 9 << 20}) {
            String name = "s3://bucket/once-" + length;
            try (Upload slow = files.upload(name, IfExists.FAIL)) {
                Files.write(slow.path(), bytes(length, 1));
                write(server.files(folder.resolve("faster")), name, IfExists.FAIL, bytes(length, 2));
                assertThrows(FileAlreadyExistsException.class, slow::publish);
            }
            assertArrayEquals(bytes(length, 2), read(server.files(folder.resolve("faster")).locate(name)));
            assertThrows(FileAlreadyExistsException.class, () -> files.upload(name, IfExists.FAIL));
            write(files, name, IfExists.REPLACE, bytes(length, 3));
            assertArrayEquals(bytes(length, 3), read(files.locate(name)));
        }
    }

    @Test
    void wrongKeysAreAnErrorWithoutSecrets() {
        for (S3Credentials key : List.of(S3Credentials.of(S3Server.KEY.accessKeyId(), "WRONG"),
                S3Credentials.of("NOBODY", "WRONG"))) {
            RemoteFiles wrong = S3Server.files(folder.resolve("cache"), server.endpoint(), Addressing.PATH, key);
            for (String message : List.of(
                    assertThrows(AccessDeniedException.class, () -> wrong.locate("s3://bucket/x").info())
                            .getMessage(),
                    assertThrows(AccessDeniedException.class, () -> wrong.upload("s3://bucket/x", IfExists.FAIL))
                            .getMessage())) {
                assertTrue(message.startsWith("s3://bucket/x: access denied"), message);
                assertFalse(message.contains("WRONG") || message.contains("Signature="), message);
            }
        }
    }

    @Test
    void theBucketMayBeInTheHostsName() throws IOException {
        RemoteFiles virtual = S3Server.files(folder.resolve("virtual"), server.endpoint(), Addressing.HOST,
                S3Server.KEY);
        byte[] content = bytes(9 << 20, 3);
        write(virtual, "s3://bucket/in/the host", IfExists.FAIL, content);
        assertArrayEquals(content, read(virtual.locate("s3://bucket/in/the%20host")));
        assertArrayEquals(content, read(files.locate("s3://bucket/in/the%20host")));
        assertEquals(List.of("the host"), virtual.locate("s3://bucket/in").files(_ -> true).stream()
                .map(Location::name).toList());
    }

    @Test
    void aUrlThatIsSignedIsReadUntilItExpires() throws IOException, InterruptedException {
        byte[] content = bytes(200_000, 4);
        write(files, "s3://bucket/signed", IfExists.FAIL, content);
        assertArrayEquals(content, read(files.locate(signed(Duration.ofMinutes(10)))));
        String brief = signed(Duration.ofSeconds(1));
        TimeUnit.MILLISECONDS.sleep(2100);
        String message = assertThrows(FileSystemException.class, () -> server.files(folder.resolve("expired"))
                .locate(brief).info()).getMessage();
        assertTrue(message.startsWith(server.endpoint() + "/bucket/signed: "), message);
        assertFalse(message.contains("X-Amz"), message);
    }

    private static String signed(Duration time) {
        try (S3Presigner signer = S3Presigner.builder().region(Region.US_EAST_1).endpointOverride(server.endpoint())
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create(
                        S3Server.KEY.accessKeyId(), S3Server.KEY.secretAccessKey())))
                .serviceConfiguration(S3Configuration.builder().pathStyleAccessEnabled(true).build()).build()) {
            return signer.presignGetObject(request -> request.signatureDuration(time)
                    .getObjectRequest(object -> object.bucket("bucket").key("signed"))).url().toString();
        }
    }
}
