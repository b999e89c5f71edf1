// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.testing.JavaCommand;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * A certificate that signs itself, with its key, made by the JDK's {@code keytool}.
 *
 * @param file a PKCS 12 file, which can be a server's key store and a client's trust store
 */
public record TestCertificate(Path file) {

    /** The file's password. */
    public static final String PASSWORD = "penstock";

    /**
     * Makes a certificate.
     *
     * @param file the file to write
     * @param host whose it is, as keytool writes it: {@code ip:127.0.0.1} or {@code dns:example.org}
     */
    public static TestCertificate make(Path file, String host) throws IOException, InterruptedException {
        Process keytool = new ProcessBuilder(JavaCommand.tool("keytool"),
                "-genkeypair", "-alias", "server", "-keyalg", "EC", "-groupname", "secp256r1", "-validity", "2",
                "-dname", "CN=localhost", "-ext", "san=" + host, "-storetype", "PKCS12", "-keystore", file.toString(),
                "-storepass", PASSWORD).redirectErrorStream(true).start();
        String said = new String(keytool.getInputStream().readAllBytes());
        if (keytool.waitFor() != 0) {
            throw new IOException("keytool: " + said);
        }
        return new TestCertificate(file);
    }

    /** The file's content. */
    public KeyStore keys() throws IOException {
        try {
            return KeyStore.getInstance(file.toFile(), PASSWORD.toCharArray());
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    /** What a server needs to use it. */
    public SSLContext context() throws IOException {
        try {
            KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            managers.init(keys(), PASSWORD.toCharArray());
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(managers.getKeyManagers(), null, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    /** The JVM's options by which a client trusts it. */
    public List<String> trust() {
        return List.of("-Djavax.net.ssl.trustStore=" + file, "-Djavax.net.ssl.trustStorePassword=" + PASSWORD);
    }
}
