// SPDX-License-Identifier: Apache-2.0
package io.penstock.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.penstock.remote.S3Credentials;
import io.penstock.remote.S3CredentialsProvider;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProviderChain;
import software.amazon.awssdk.auth.credentials.ContainerCredentialsProvider;
import software.amazon.awssdk.auth.credentials.SystemPropertyCredentialsProvider;

/** Credentials that the engine does not find itself. */
class AwsChainTest {

    @Test
    void aContainersCredentialsAreTakenWithTheirEnd() throws Exception {
        Instant end = Instant.now().plus(6, ChronoUnit.HOURS).truncatedTo(ChronoUnit.SECONDS);
        HttpServer metadata = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        byte[] body = """
                {"AccessKeyId": "ID", "SecretAccessKey": "SECRET", "Token": "TOKEN", "Expiration": "%s"}
                """.formatted(end).getBytes(StandardCharsets.UTF_8);
        metadata.createContext("/", exchange -> {
            try (exchange) {
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
            }
        });
        metadata.start();
        System.setProperty("aws.containerCredentialsFullUri", "http://127.0.0.1:" + metadata.getAddress().getPort()
                + "/role");
        try (ContainerCredentialsProvider container = ContainerCredentialsProvider.builder().build()) {
            Optional<S3Credentials> found = new AwsChain(container).credentials();
            assertEquals(Optional.of(new S3Credentials("ID", "SECRET", "TOKEN", end)), found);
        } finally {
            System.clearProperty("aws.containerCredentialsFullUri");
            metadata.stop(0);
        }
    }

    @Test
    void aChainWithoutCredentialsHasNone() {
        assertEquals(Optional.empty(), new AwsChain(AwsCredentialsProviderChain.of(
                SystemPropertyCredentialsProvider.create())).credentials());
    }

    @Test
    void theEngineFindsIt() {
        assertTrue(ServiceLoader.load(S3CredentialsProvider.class).stream().anyMatch(provider ->
                provider.type() == AwsChain.class));
    }
}
