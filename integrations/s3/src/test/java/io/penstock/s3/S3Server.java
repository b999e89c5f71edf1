// SPDX-License-Identifier: Apache-2.0
package io.penstock.s3;

import io.penstock.remote.RemoteFiles;
import io.penstock.remote.RemoteSettings;
import io.penstock.remote.S3Credentials;
import io.penstock.remote.S3Settings;
import io.penstock.remote.S3Settings.Addressing;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.nio2blob.FilesystemNio2BlobStore;

/** S3Proxy on loopback, with the bucket {@code bucket} in a folder. */
final class S3Server implements AutoCloseable {

    static final S3Credentials KEY = S3Credentials.of("local-identity", "local-credential");

    private final S3Proxy proxy;

    /**
     * Starts a server.
     *
     * @param folder the folder of its buckets
     */
    S3Server(Path folder) throws Exception {
        Files.createDirectories(folder);
        FilesystemNio2BlobStore store = new FilesystemNio2BlobStore(folder.toString());
        store.createContainer("bucket");
        proxy = S3Proxy.builder().blobStore(store).endpoint(URI.create("http://127.0.0.1:0"))
                .awsAuthentication(AuthenticationType.AWS_V2_OR_V4, KEY.accessKeyId(), KEY.secretAccessKey())
                .virtualHost("s3.test").build();
        proxy.start();
    }

    int port() {
        return proxy.getPort();
    }

    URI endpoint() {
        // Another host than the virtual one would be taken for a bucket.
        return URI.create("http://s3.test:" + port());
    }

    /** Files of this server, with a cache in a folder. */
    RemoteFiles files(Path cache) {
        return files(cache, endpoint(), Addressing.PATH, KEY);
    }

    static RemoteFiles files(Path cache, URI endpoint, Addressing addressing, S3Credentials key) {
        return RemoteFiles.of(RemoteSettings.fromEnvironment().withCache(cache, 1L << 30).withBlockBytes(1 << 16)
                .withS3(new S3Settings(endpoint, "us-east-1", addressing, () -> Optional.of(key))));
    }

    @Override
    public void close() {
        try {
            proxy.stop();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
