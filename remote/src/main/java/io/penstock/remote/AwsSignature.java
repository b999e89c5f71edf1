// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.internal.Sha256;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Signs requests by AWS's Signature Version 4, in the header {@code Authorization}. The header
 * {@value #BODY_SHA256} says what the body is; a request without it has none.
 *
 * <p>Source: "Create a signed AWS API request",
 * {@code https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html}. Paths are encoded
 * once, as for S3.
 *
 * @param region the region, for example {@code us-east-1}
 * @param service the service, for example {@code s3}
 */
record AwsSignature(String region, String service) {

    /** The header with the SHA-256 of the body. */
    static final String BODY_SHA256 = "x-amz-content-sha256";
    /** The SHA-256 of no bytes. */
    static final String NO_BODY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    private static final String ALGORITHM = "AWS4-HMAC-SHA256";
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);
    private static final int DATE_CHARS = 8;

    /** Adds the headers of a request to S3, and signs it. The URI's path and query are encoded by {@link UriText}. */
    void sign(S3Credentials credentials, String method, URI uri, Map<String, String> headers, Instant now) {
        headers.putIfAbsent(BODY_SHA256, NO_BODY);
        headers.put("Authorization", authorization(credentials, method, uri, headers, now));
    }

    /** Adds the time and the token to the headers, and returns the header that signs all of them. */
    String authorization(S3Credentials credentials, String method, URI uri, Map<String, String> headers, Instant now) {
        String time = TIME.format(now);
        headers.put("x-amz-date", time);
        if (credentials.sessionToken() != null) {
            headers.put("x-amz-security-token", credentials.sessionToken());
        }
        TreeMap<String, String> signed = new TreeMap<>();
        headers.forEach((name, value) -> signed.put(name.toLowerCase(Locale.ROOT),
                value.strip().replaceAll(" +", " ")));
        signed.put("host", host(uri));
        String names = String.join(";", signed.keySet());
        String request = method + '\n' + (uri.getRawPath().isEmpty() ? "/" : uri.getRawPath()) + '\n'
                + query(uri.getRawQuery()) + '\n'
                + signed.entrySet().stream().map(header -> header.getKey() + ':' + header.getValue() + '\n')
                        .collect(Collectors.joining())
                + '\n' + names + '\n' + headers.getOrDefault(BODY_SHA256, NO_BODY);
        String date = time.substring(0, DATE_CHARS);
        String scope = date + '/' + region + '/' + service + "/aws4_request";
        byte[] key = hmac(("AWS4" + credentials.secretAccessKey()).getBytes(StandardCharsets.UTF_8), date);
        for (String part : new String[] {region, service, "aws4_request"}) {
            key = hmac(key, part);
        }
        String signature = HexFormat.of().formatHex(hmac(key, ALGORITHM + '\n' + time + '\n' + scope + '\n'
                + sha256(request)));
        return ALGORITHM + " Credential=" + credentials.accessKeyId() + '/' + scope + ", SignedHeaders=" + names
                + ", Signature=" + signature;
    }

    /** The header {@code Host} as the JDK's client sends it. */
    private static String host(URI uri) {
        int usual = uri.getScheme().equalsIgnoreCase("https") ? 443 : 80;
        return uri.getPort() < 0 || uri.getPort() == usual ? uri.getHost() : uri.getHost() + ':' + uri.getPort();
    }

    /** The parameters in the order of their names, then of their values. */
    private static String query(@Nullable String raw) {
        return raw == null || raw.isEmpty() ? "" : Arrays.stream(raw.split("&"))
                .map(one -> one.indexOf('=') < 0 ? one + '=' : one)
                .sorted((a, b) -> {
                    int byName = a.substring(0, a.indexOf('=')).compareTo(b.substring(0, b.indexOf('=')));
                    return byName != 0 ? byName : a.compareTo(b);
                }).collect(Collectors.joining("&"));
    }

    /** The SHA-256 of a text in UTF-8, as hexadecimal digits. */
    static String sha256(String text) {
        MessageDigest sha256 = Sha256.digest();
        sha256.update(text.getBytes(StandardCharsets.UTF_8));
        return Sha256.hex(sha256);
    }

    private static byte[] hmac(byte[] key, String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, mac.getAlgorithm()));
            return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has HmacSHA256", e);
        }
    }
}
