// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.remote.RemoteSettings.Access;
import io.penstock.remote.cache.BlockCache;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a server chooses a file by is part of what the cache knows it by. */
class RemoteIdentityTest {

    private static final String DATE = "Wed, 21 Oct 2015 07:28:00 GMT";
    private static final String SIGNED = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=K%2F20260101&X-Amz-Date=D"
            + "&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature=";

    @TempDir
    private Path cache;

    private static byte[] bytesOf(String seed) {
        return ObjectHost.bytes(70_000, seed.hashCode());
    }

    private static byte[] read(Location location) throws IOException {
        try (MappedFile file = location.open()) {
            return file.segment().toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /** A server whose files depend on the whole query, and have this validator. */
    private static ScriptedHost byQuery(String header, String value) {
        return ScriptedHost.start(request -> {
            if (!header.isEmpty()) {
                request.with(header, value);
            }
            request.data(bytesOf(request.query()));
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Last-Modified"})
    void filesOfDifferentQueriesAreDifferentFiles(String validator) throws IOException {
        try (ScriptedHost host = byQuery(validator, DATE)) {
            RemoteFiles first = host.files(cache);
            for (RemoteFiles run : List.of(first, first, host.files(cache))) {
                for (String query : List.of("id=1", "id=2", "persistentId=doi%3A1", "st=1", "st=2", "Expires=1",
                        "Expires=2", "sv=1", "Signature=a", "Signature=b", "versionId=1", "versionId=2")) {
                    assertArrayEquals(bytesOf(query), read(run.locate(host.url("get.bin?" + query))), query);
                }
            }
        }
    }

    @Test
    void aFileIsNotTheOneOfAnotherUser() throws IOException {
        try (ScriptedHost host = ScriptedHost.start(request -> request.with("Last-Modified", DATE)
                .data(bytesOf(request.header("Authorization"))))) {
            for (String user : List.of("ann", "bob", "ann")) {
                assertArrayEquals(bytesOf("Basic " + Base64.getEncoder().encodeToString((user + ":p").getBytes(
                        StandardCharsets.UTF_8))), read(host.files(cache).locate("http://" + user + ":p@" + host.host()
                                + "/export.bin")), user);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {SIGNED, "AWSAccessKeyId=K&Expires=1&Signature=", "GoogleAccessId=K&Expires=1&Signature=",
        "X-Goog-Algorithm=A&X-Goog-Credential=K&X-Goog-Date=D&X-Goog-Expires=1&X-Goog-SignedHeaders=h"
            + "&X-Goog-Signature=", "Expires=1&Key-Pair-Id=K&Signature=", "Policy=P&Key-Pair-Id=K&Signature=",
        "Expires=1&KeyName=K&Signature=", "OSSAccessKeyId=K&Expires=1&Signature=",
        "x-oss-credential=K&x-oss-date=D&x-oss-expires=1&x-oss-signature-version=V&x-oss-signature=",
        "sv=2024-11-04&sr=b&sp=r&st=A&se=B&spr=https&sig="})
    void anotherSignatureFindsWhatIsCached(String query) throws IOException {
        try (ScriptedHost host = byQuery("ETag", "\"v1\"")) {
            byte[] first = read(host.files(cache).locate(host.url("x.bin?" + query + "one")));
            assertArrayEquals(first, read(host.files(cache).locate(host.url("x.bin?" + query + "two"))));
            assertArrayEquals(first, read(host.files(cache, Access.OFFLINE).locate(host.url("x.bin"))));
            assertArrayEquals(bytesOf("id=2&" + query + "one"), read(host.files(cache).locate(host.url("x.bin?id=2&"
                    + query + "one"))));
        }
    }

    @Test
    void aQueryIsInNoNameOfTheCache() throws IOException {
        try (ScriptedHost host = byQuery("ETag", "\"v1\"")) {
            read(host.files(cache).locate(host.url("x.bin?token=secret-token")));
            assertFalse(BlockCache.existing(cache).entries().toString().contains("secret"));
        }
    }

    @Test
    void withoutAVersionNothingIsSharedBetweenRuns() throws IOException {
        byte[][] now = {bytesOf("a")};
        try (ScriptedHost host = ScriptedHost.start(request -> request.data(now[0]))) {
            RemoteFiles run = host.files(cache);
            assertArrayEquals(bytesOf("a"), read(run.locate(host.url("x.bin"))));
            host.forgetRequests();
            assertArrayEquals(bytesOf("a"), read(run.locate(host.url("x.bin"))));
            assertEquals(List.of(), host.requests());
            now[0] = bytesOf("b");
            assertArrayEquals(bytesOf("b"), read(host.files(cache).locate(host.url("x.bin"))));
            assertEquals(1, BlockCache.existing(cache).entries().size(), "what the first run left is removed");
            assertThrows(NoSuchFileException.class, () -> read(host.files(cache, Access.OFFLINE)
                    .locate(host.url("x.bin"))));
        }
    }

    @Test
    void withoutAVersionTheFingerprintIsOfTheContent() throws IOException {
        try (ScriptedHost host = ScriptedHost.start(request -> {
            if (request.path().endsWith(".bin")) {
                request.data(bytesOf(request.path()));
            } else {
                request.status(404, "");
            }
        })) {
            Set<String> fingerprints = new HashSet<>();
            for (String name : List.of("a.bin", "b.bin", "a.bin")) {
                try (Store store = Store.open(host.files(cache).locate(host.url(name)), OpenOptions.DEFAULT)) {
                    fingerprints.add(store.fingerprint());
                }
            }
            assertEquals(2, fingerprints.size());
        }
    }

    @Test
    void aBucketOfAnotherEndpointIsAnotherBucket() throws IOException {
        try (ScriptedHost one = byQuery("Last-Modified", DATE);
                ScriptedHost other = ScriptedHost.start(request -> request.with("Last-Modified", DATE)
                        .data(bytesOf("other")))) {
            byte[] first = read(one.files(cache).locate("s3://bucket/x.bin"));
            byte[] second = read(other.files(cache).locate("s3://bucket/x.bin"));
            assertArrayEquals(bytesOf(""), first);
            assertArrayEquals(bytesOf("other"), second);
            assertNotEquals(List.of(), other.requests());
            assertArrayEquals(first, read(one.files(cache, Access.OFFLINE).locate("s3://bucket/x.bin")));
            assertArrayEquals(second, read(other.files(cache, Access.OFFLINE).locate("s3://bucket/x.bin")));
            assertEquals(List.of("x.bin"), other.files(cache, Access.OFFLINE).locate("s3://bucket/").files(_ -> true)
                    .stream().map(Location::name).toList());
        }
    }
}
