// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.remote.TestCertificate;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The servers of a run, which serve one folder: nginx where it is on the path, otherwise the JDK's; and the JDK's where
 * a server is to be slow or at fault ({@link RangeServer}). This JVM trusts their certificate.
 */
final class LoopbackServers implements AutoCloseable {

    private static final int PORT = 18080;

    private final Path work;
    private final Path served;
    private final TestCertificate certificate;
    private final List<Process> processes = new ArrayList<>();
    private final Map<String, String> roots = new TreeMap<>();

    private LoopbackServers(Path work, Path served, TestCertificate certificate) {
        this.work = work;
        this.served = served;
        this.certificate = certificate;
    }

    /** Starts them; before the first connection of this JVM. */
    static LoopbackServers start(Path work, Path served) throws IOException, InterruptedException {
        Files.deleteIfExists(work.resolve("server.p12"));
        TestCertificate certificate = TestCertificate.make(work.resolve("server.p12"), "ip:127.0.0.1");
        System.setProperty("javax.net.ssl.trustStore", certificate.file().toString());
        System.setProperty("javax.net.ssl.trustStorePassword", TestCertificate.PASSWORD);
        LoopbackServers servers = new LoopbackServers(work, served, certificate);
        servers.startAll();
        return servers;
    }

    /** Where files are: {@code http} and {@code https}, or by what {@link RangeServer} does. */
    String root(String kind) {
        return Objects.requireNonNull(roots.get(kind), kind);
    }

    /** The certificate and its key, as curl and nginx read them. */
    Path certificate() {
        return work.resolve("server.pem");
    }

    private void startAll() throws IOException, InterruptedException {
        writePem();
        String plain = jdk();
        for (String kind : List.of("delayed", "faulty", "paced", "plain")) {
            roots.put(kind, "http://127.0.0.1:" + plain + "/" + kind + "/");
        }
        Optional<Path> nginx = Stream.concat(Stream.of(System.getenv("PATH").split(":")), Stream.of("/usr/sbin"))
                .map(path -> Path.of(path, "nginx")).filter(Files::isExecutable).findFirst();
        if (nginx.isPresent()) {
            nginx(nginx.get());
        } else {
            roots.put("http", Objects.requireNonNull(roots.get("plain")));
            roots.put("https", "https://127.0.0.1:" + jdk(certificate.file().toString()) + "/plain/");
        }
        System.out.println("server: " + (nginx.isPresent() ? "nginx" : "the JDK's"));
    }

    private String jdk(String... certificates) throws IOException {
        List<String> command = java("-Xmx256m");
        command.addAll(List.of(RangeServer.class.getName(), served.toString()));
        command.addAll(List.of(certificates));
        Process server = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        processes.add(server);
        return new BufferedReader(new InputStreamReader(server.getInputStream())).readLine();
    }

    static List<String> java(String... options) {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java")
                .toString(), "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(options));
        return command;
    }

    private void nginx(Path program) throws IOException, InterruptedException {
        Path config = Files.writeString(work.resolve("nginx.conf"), String.format(Locale.ROOT, """
                daemon off;
                master_process off;
                pid %1$s/pid;
                error_log %1$s/error.log;
                events { }
                http {
                    access_log off; sendfile on; keepalive_requests 1000000;
                    client_body_temp_path %1$s/t; proxy_temp_path %1$s/t; fastcgi_temp_path %1$s/t;
                    uwsgi_temp_path %1$s/t; scgi_temp_path %1$s/t;
                    ssl_certificate %2$s; ssl_certificate_key %2$s;
                    server { listen 127.0.0.1:%3$d; listen 127.0.0.1:%4$d ssl; root %5$s; }
                }
                """, work, certificate(), PORT, PORT + 1, served));
        processes.add(new ProcessBuilder(program.toString(), "-c", config.toString(), "-p", work.toString())
                .redirectErrorStream(true).redirectOutput(work.resolve("nginx.out").toFile()).start());
        Thread.sleep(500);
        roots.put("http", "http://127.0.0.1:" + PORT + "/");
        roots.put("https", "https://127.0.0.1:" + (PORT + 1) + "/");
    }

    private void writePem() throws IOException {
        Base64.Encoder lines = Base64.getMimeEncoder(64, new byte[] {'\n'});
        try {
            byte[] key = certificate.keys().getKey("server", TestCertificate.PASSWORD.toCharArray()).getEncoded();
            byte[] of = certificate.keys().getCertificate("server").getEncoded();
            Files.writeString(certificate(), "-----BEGIN PRIVATE KEY-----\n"
                    + lines.encodeToString(key) + "\n-----END PRIVATE KEY-----\n-----BEGIN CERTIFICATE-----\n"
                    + lines.encodeToString(of) + "\n-----END CERTIFICATE-----\n");
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    @Override
    public void close() {
        processes.forEach(Process::destroy);
    }
}
