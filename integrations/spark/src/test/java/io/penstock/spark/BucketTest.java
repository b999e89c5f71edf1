// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.penstock.format.manifest.Manifest;
import io.penstock.format.manifest.ManifestPart;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.remote.RemoteFiles;
import io.penstock.remote.RemoteSettings;
import io.penstock.remote.S3Credentials;
import io.penstock.remote.S3Settings;
import io.penstock.store.OpenOptions;
import io.penstock.store.RecordStore;
import io.penstock.store.TokenStore;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.nio2blob.FilesystemNio2BlobStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Stores in a bucket of S3Proxy, made by a driver with two slots, which is a process with keys in its environment. */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class BucketTest {

    private static final String KEY = "local-identity";
    private static final String SECRET = "local-credential";

    @TempDir
    private Path folder;
    private FilesystemNio2BlobStore store;
    private S3Proxy server;

    @BeforeEach
    void start() throws Exception {
        store = new FilesystemNio2BlobStore(Files.createDirectory(folder.resolve("server")).toString());
        store.createContainer("bucket");
        server = S3Proxy.builder().blobStore(store).endpoint(URI.create("http://127.0.0.1:0"))
                .awsAuthentication(AuthenticationType.AWS_V2_OR_V4, KEY, SECRET).build();
        server.start();
    }

    @AfterEach
    void stop() throws Exception {
        server.stop();
    }

    private URI endpoint() {
        return URI.create("http://127.0.0.1:" + server.getPort());
    }

    private void run(String output) throws Exception {
        ProcessBuilder driver = Cluster.java(List.of("-Xmx512m"), BucketJobs.class.getName(), output)
                .redirectErrorStream(true).redirectOutput(folder.resolve("log").toFile());
        driver.environment().putAll(Map.of("SPARK_LOCAL_IP", "127.0.0.1", "AWS_ACCESS_KEY_ID", KEY,
                "AWS_SECRET_ACCESS_KEY", SECRET, "AWS_REGION", "us-east-1", "AWS_ENDPOINT_URL_S3",
                endpoint().toString(), "PENSTOCK_CACHE", folder.resolve("cache").toString()));
        Process process = driver.start();
        try {
            if (process.waitFor() != 0) {
                fail(Files.readString(folder.resolve("log")));
            }
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void partsAndShardsInABucketAreThereOnceThoughTasksFail() throws Exception {
        run("s3://bucket/out");
        RemoteFiles remote = RemoteFiles.of(RemoteSettings.fromEnvironment()
                .withCache(folder.resolve("reads"), 1L << 30)
                .withS3(new S3Settings(endpoint(), "us-east-1", S3Settings.Addressing.PATH,
                        () -> Optional.of(S3Credentials.of(KEY, SECRET)))));
        assertTokens(remote.locate("s3://bucket/out/tokens.manifest.json"));
        assertTexts(remote.locate("s3://bucket/out/samples"), 1);
        assertTexts(remote.locate("s3://bucket/out/tars"), 0);
        assertEquals(List.of("train-000.tar", "train-001.tar", "train-002.tar", "train-003.tar"),
                remote.locate("s3://bucket/out/tars").files(name -> name.endsWith(".tar")).stream()
                        .map(Location::name).sorted().toList());
        assertEquals(List.of(), store.listMultipartUploads("bucket"));
        assertEquals(4, remote.locate("s3://bucket/out/samples/shards").files(_ -> true).size());
        try (Stream<Path> left = Files.walk(folder.resolve("cache/uploads"))) {
            assertEquals(List.of(), left.filter(Files::isRegularFile).toList());
        }
    }

    private static void assertTexts(Location samples, int column) throws IOException {
        try (RecordStore records = RecordStore.open(samples, OpenOptions.DEFAULT)) {
            List<String> texts = Documents.texts();
            Span span = new Span();
            assertEquals(texts.size(), records.size());
            for (int i = 0; i < texts.size(); i++) {
                records.locate(i, column, span);
                assertEquals(texts.get(i), StandardCharsets.UTF_8.decode(span.slice().asByteBuffer()).toString());
            }
        }
    }

    private void assertTokens(Location manifest) throws IOException, InterruptedException {
        Path lines = Files.write(folder.resolve("all.jsonl"), Documents.texts().stream()
                .map(text -> "{\"text\":\"" + text.replace("\n", "\\n") + "\"}").toList());
        Documents.commandLine(lines, folder.resolve("expected")).run();
        ByteArrayOutputStream tokens = new ByteArrayOutputStream();
        List<ManifestPart> parts = Manifest.read(manifest).parts();
        for (ManifestPart part : parts) {
            tokens.write(manifest.resolveSibling(part.path() + ".bin").readAllBytes());
        }
        assertArrayEquals(Files.readAllBytes(folder.resolve("expected.bin")), tokens.toByteArray());
        List<Location> files = manifest.resolveSibling("tokens.parts").files(_ -> true);
        assertTrue(files.stream().allMatch(file -> parts.stream().anyMatch(part ->
                file.name().startsWith(part.in("").path() + "."))), files.toString());
        try (TokenStore tokenStore = TokenStore.open(manifest, OpenOptions.DEFAULT)) {
            assertEquals(Documents.COUNT, tokenStore.documentCount());
        }
    }
}
