// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.JavaCommand;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of a server with TLS, whose certificate no authority has signed. */
@Tag("slow")
class TlsTest {

    private static final int BYTES = 300_000;

    @TempDir
    private static Path folder;
    @TempDir
    private Path cache;
    private static TestCertificate certificate;

    @BeforeAll
    static void make() throws Exception {
        certificate = TestCertificate.make(folder.resolve("server.p12"), "ip:127.0.0.1");
    }

    private static ObjectHost start(TestCertificate of) throws IOException {
        return ObjectHost.start(of).put("x", ObjectHost.bytes(BYTES, 1));
    }

    /** What a process says that trusts a certificate and reads a file. */
    private String read(String url, TestCertificate trusted) throws IOException, InterruptedException {
        List<String> command = JavaCommand.of("-Xmx64m");
        command.addAll(1, trusted.trust());
        command.addAll(List.of(CacheReader.class.getName(), url, cache.toString(), Long.toString(1 << 30),
                Integer.toString(1 << 16), Integer.toString(BYTES), "1", "1", "100", "0"));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        process.waitFor();
        return said;
    }

    @Test
    void aServerThatTheTrustStoreNamesIsRead() throws Exception {
        try (ObjectHost host = start(certificate)) {
            assertEquals("right", read(host.url("x"), certificate));
            assertEquals(List.of(), host.problems());
        }
    }

    @Test
    void aConnectionThatEndsInTheHandshakeIsMadeAgain() throws Exception {
        try (ObjectHost host = start(certificate); FaultProxy proxy = new FaultProxy(host.port(), 3, 0)) {
            assertEquals("right", read("https://127.0.0.1:" + proxy.port() + "/x", certificate));
        }
    }

    @Test
    void aCertificateThatNobodyTrustsIsRefusedInPlainWords() throws Exception {
        try (ObjectHost host = start(certificate)) {
            assertEquals(host.url("x") + ": the server's certificate is refused: unable to find valid certification"
                    + " path to requested target (the property javax.net.ssl.trustStore names a file of trusted"
                    + " certificates)", assertThrows(FileSystemException.class, () -> host.files(cache)
                    .locate(host.url("x")).info()).getMessage());
            assertEquals(List.of(), host.requests());
        }
    }

    @Test
    void aCertificateOfAnotherHostIsRefused() throws Exception {
        TestCertificate other = TestCertificate.make(folder.resolve("other.p12"), "dns:example.org");
        try (ObjectHost host = start(other)) {
            String said = read(host.url("x"), other);
            assertTrue(said.contains(host.url("x") + ": the server's certificate is refused: No subject alternative"
                    + " names matching IP address 127.0.0.1 found"), said);
            assertEquals(List.of(), host.requests());
        }
    }

    @Test
    void aServerWithoutTlsIsRefusedInPlainWords() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
                ObjectHost host = ObjectHost.start()) {
            Thread.ofVirtual().start(() -> {
                while (!server.isClosed()) {
                    try (Socket client = server.accept()) {
                        client.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes());
                        client.getInputStream().read(new byte[1000]);
                    } catch (IOException _) {
                        // closed
                    }
                }
            });
            String url = "https://127.0.0.1:" + server.getLocalPort() + "/x";
            String message = assertThrows(FileSystemException.class, () -> host.files(cache).locate(url).info())
                    .getMessage();
            assertTrue(message.startsWith(url + ": no secure connection: "), message);
        }
    }
}
