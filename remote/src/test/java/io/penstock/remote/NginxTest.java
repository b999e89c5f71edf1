// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.store.Fixtures;
import io.penstock.store.StoreContent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of nginx, where it is installed: {@code apt-get install nginx}. */
@Tag("slow")
class NginxTest {

    private static final byte[] BYTES = ObjectHost.bytes(1 << 20, 1);
    /** What each location of the server does. */
    private static final String CONFIG = """
            daemon off;
            master_process off;
            pid %1$s/pid;
            error_log %1$s/error.log;
            events { }
            http {
                access_log off;
                client_body_temp_path %1$s/temp; proxy_temp_path %1$s/temp; fastcgi_temp_path %1$s/temp;
                uwsgi_temp_path %1$s/temp; scgi_temp_path %1$s/temp;
                limit_req_zone $binary_remote_addr zone=slow:1m rate=50r/s;
                limit_req_status 503;
                server {
                    listen 127.0.0.1:%2$d;
                    root %1$s/www;
                    location / { autoindex on; }
                    location /limited/ { alias %1$s/www/data/; limit_req zone=slow burst=2 nodelay; }
                    location /whole/ { alias %1$s/www/data/; max_ranges 0; }
                    location /private/ { alias %1$s/www/data/; auth_basic "data"; auth_basic_user_file %1$s/users; }
                    location /moved.bin { return 302 /data/x.bin; }
                }
            }
            """;

    @TempDir
    private static Path folder;
    @TempDir
    private Path cache;
    private static Process nginx;
    private static int port;

    @BeforeAll
    static void start() throws IOException, InterruptedException {
        Optional<Path> program = Stream.concat(Stream.of(System.getenv("PATH").split(":")), Stream.of("/usr/sbin"))
                .map(path -> Path.of(path, "nginx")).filter(Files::isExecutable).findFirst();
        Assumptions.assumeTrue(program.isPresent(), "nginx is not installed");
        Files.createDirectories(folder.resolve("www/data/sub"));
        Files.write(folder.resolve("www/data/x.bin"), BYTES);
        Files.write(folder.resolve("www/data/a b.bin"), BYTES);
        Files.writeString(folder.resolve("users"), "me:{PLAIN}secret\n");
        try (ServerSocket free = new ServerSocket(0, 0, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Path config = Files.writeString(folder.resolve("nginx.conf"), CONFIG.formatted(folder, port));
        nginx = new ProcessBuilder(program.get().toString(), "-c", config.toString(), "-p", folder.toString())
                .redirectErrorStream(true).redirectOutput(folder.resolve("out").toFile()).start();
        while (!isListening()) {
            assertTrue(nginx.isAlive(), () -> "nginx: " + read(folder.resolve("out")));
            Thread.sleep(10);
        }
    }

    private static boolean isListening() {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException _) {
            return false;
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @AfterAll
    static void stop() throws InterruptedException {
        if (nginx != null) {
            nginx.destroy();
            nginx.waitFor();
        }
    }

    private static String url(String path) {
        return "http://127.0.0.1:" + port + "/" + path;
    }

    private Location locate(String path) {
        return RemoteFiles.of(settings(), Map.of()).locate(url(path));
    }

    private RemoteSettings settings() {
        return RemoteSettings.of(Map.of()).withCache(cache, 1L << 30).withBlockBytes(1 << 16);
    }

    private static byte[] bytes(Location location) throws IOException {
        try (MappedFile file = location.open()) {
            return file.segment().toArray(ValueLayout.JAVA_BYTE);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    @Test
    void filesAndFoldersAreRead() throws IOException {
        assertArrayEquals(BYTES, bytes(locate("data/x.bin")));
        assertArrayEquals(BYTES, bytes(locate("data/a%20b.bin")));
        assertArrayEquals(BYTES, bytes(locate("moved.bin")));
        assertEquals(List.of("a b.bin", "x.bin"), locate("data/").files(_ -> true).stream().map(Location::name)
                .toList());
        assertFalse(locate("data/none").exists());
    }

    @Test
    void storesAreReadAsTheyAreLocally() throws IOException {
        for (String kind : List.of("npy", "safetensors", "parquet", "arrow", "nanogpt", "webdataset")) {
            Path file = Fixtures.entries(kind).filter(entry -> entry.expect().equals("read")
                    && Files.isRegularFile(entry.path())).findFirst().orElseThrow().path();
            Files.copy(file, folder.resolve("www").resolve(file.getFileName().toString()));
            assertEquals(StoreContent.read(Location.of(file)).replace(file.getParent() + "/", ""),
                    StoreContent.read(locate(file.getFileName().toString())).replace(url(""), ""));
        }
    }

    @Test
    void aServerThatRefusesTooManyRequestsIsAskedAgain() throws IOException {
        assertArrayEquals(BYTES, bytes(locate("limited/x.bin")));
    }

    @Test
    void aServerWithoutRangesIsAnError() {
        String message = assertThrows(FileSystemException.class, () -> bytes(locate("whole/x.bin"))).getMessage();
        assertTrue(message.startsWith(url("whole/x.bin") + ": the server ignores ranges"), message);
    }

    @Test
    void aPasswordIsSentAndNotShown() throws IOException {
        assertArrayEquals(BYTES, bytes(RemoteFiles.of(settings(), Map.of()).locate(url("private/x.bin").replace(
                "http://", "http://me:secret@"))));
        String message = assertThrows(AccessDeniedException.class, () -> RemoteFiles.of(settings(), Map.of()).locate(
                url("private/a%20b.bin").replace("http://", "http://me:wrong@")).info()).getMessage();
        assertTrue(message.startsWith(url("private/a b.bin")), message);
        assertFalse(message.contains("wrong"), message);
    }

    @Test
    void aFileThatIsReplacedWhileItIsReadIsAnError() throws IOException {
        Path file = Files.write(folder.resolve("www/changing.bin"), BYTES);
        RemoteFiles files = RemoteFiles.of(settings().withRequests(RequestSettings.DEFAULT.withRetries(2,
                Duration.ofMillis(1), Duration.ofMillis(2), 10)), Map.of());
        try (MappedFile open = files.locate(url("changing.bin")).open()) {
            assertEquals(BYTES[0], open.range(0, 1).get(ValueLayout.JAVA_BYTE, 0));
            Files.write(file, ObjectHost.bytes(1 << 19, 2));
            String message = assertThrows(UncheckedIOException.class, () -> open.range(1 << 19, 1)).getMessage();
            assertTrue(message.contains("the object was replaced while it was read"), message);
        }
    }
}
