// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.penstock.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The vectors of AWS's own test suite, and the examples of its manual. */
class AwsSignatureTest {

    private static final S3Credentials EXAMPLE = S3Credentials.of("AKIAIOSFODNN7EXAMPLE",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");

    @TestFactory
    Stream<DynamicTest> requestsAreSignedAsTheSuiteSignsThem() throws IOException {
        try (InputStream in = AwsSignatureTest.class.getResourceAsStream("aws-signature.json")) {
            Map<String, Object> all = Json.object(Json.parse(in.readAllBytes()));
            return Json.array(all.get("suite")).stream().map(Json::object)
                    .map(one -> DynamicTest.dynamicTest(one.get("name").toString(), () -> assertSigned(one)));
        }
    }

    private static void assertSigned(Map<String, Object> vector) {
        S3Credentials credentials = new S3Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                (String) vector.get("token"), null);
        Map<String, String> headers = new TreeMap<>();
        Json.object(vector.get("headers")).forEach((name, value) -> headers.put(name, value.toString()));
        assertEquals(vector.get("authorization"), new AwsSignature("us-east-1", "service").authorization(credentials,
                "GET", encoded(vector.get("target").toString()), headers, Instant.parse("2015-08-30T12:36:00Z")));
    }

    /** The suite has characters in its targets that are no part of a URI. */
    private static URI encoded(String target) {
        int mark = target.indexOf('?');
        String path = mark < 0 ? target : target.substring(0, mark);
        Map<String, String> query = new LinkedHashMap<>();
        for (String pair : mark < 0 ? new String[0] : target.substring(mark + 1).split("&")) {
            int equals = pair.indexOf('=');
            query.put(URLDecoder.decode(pair.substring(0, equals), StandardCharsets.UTF_8), pair.substring(equals + 1));
        }
        return URI.create("https://example.amazonaws.com" + UriText.path(path) + (mark < 0 ? "" : "?"
                + UriText.query(query)));
    }

    @Test
    void aRangeOfAnObjectIsSignedAsInTheManual() {
        Map<String, String> headers = new TreeMap<>(Map.of("Range", "bytes=0-9"));
        new AwsSignature("us-east-1", "s3").sign(EXAMPLE, "GET", URI.create(
                "https://examplebucket.s3.amazonaws.com/test.txt"), headers, Instant.parse("2013-05-24T00:00:00Z"));
        assertEquals("AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
                + " SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
                + " Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
                headers.get("Authorization"));
    }

    @Test
    void aListOfObjectsIsSignedAsInTheManual() {
        Map<String, String> headers = new TreeMap<>();
        new AwsSignature("us-east-1", "s3").sign(EXAMPLE, "GET", URI.create(
                "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J"), headers,
                Instant.parse("2013-05-24T00:00:00Z"));
        assertEquals("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
                headers.get("Authorization").replaceAll(".*Signature=", ""));
    }

    @Test
    void credentialsDoNotShowTheirSecrets() {
        String text = new S3Credentials("ID", "SECRET", "TOKEN", Instant.EPOCH).toString();
        assertFalse(text.contains("SECRET") || text.contains("TOKEN"), text);
    }
}
