// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.remote.cache.RemoteObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What an HTTP server may choose a file by besides its path: the user, and the query without the parameters of a
 * signature. It is a digest, since a query may have secrets.
 *
 * <p>A parameter is one of a signature only beside the others that make it one: {@code ?Expires=1} or {@code ?st=2}
 * alone may choose anything.
 */
final class QueryScope {

    private static final int SHOWN_DIGITS = 16;

    /**
     * A way to sign URLs.
     *
     * @param required the parameters without which it is none
     * @param parameters all parameters that say who signed what until when, and nothing about the object
     */
    private record Signature(Set<String> required, Set<String> parameters) {
    }

    private static final List<Signature> SIGNATURES = List.of(
            // Amazon S3, Signature Version 4, and the services that speak it
            signature("X-Amz-Signature", "X-Amz-Algorithm X-Amz-Credential X-Amz-Date X-Amz-Expires"
                    + " X-Amz-SignedHeaders X-Amz-Security-Token X-Amz-Content-Sha256"),
            // Google Cloud Storage, version 4
            signature("X-Goog-Signature", "X-Goog-Algorithm X-Goog-Credential X-Goog-Date X-Goog-Expires"
                    + " X-Goog-SignedHeaders"),
            // Alibaba Cloud OSS, version 4
            signature("x-oss-signature", "x-oss-signature-version x-oss-credential x-oss-date x-oss-expires"
                    + " x-oss-security-token x-oss-additional-headers"),
            // Amazon S3, version 2
            signature("Signature AWSAccessKeyId Expires", "x-amz-security-token"),
            // Google Cloud Storage, version 2
            signature("Signature GoogleAccessId Expires", ""),
            // Google Cloud CDN
            signature("Signature KeyName Expires", ""),
            // Amazon CloudFront
            signature("Signature Key-Pair-Id", "Expires Policy Hash-Algorithm"),
            // Alibaba Cloud OSS, version 1
            signature("Signature OSSAccessKeyId Expires", "security-token"),
            // Azure: shared access signatures of a service, an account or a user
            signature("sig sv", "ss srt sr sp st se spr sip si skoid sktid skt ske sks skv saoid suoid scid sdd ses"));

    private QueryScope() {
    }

    private static Signature signature(String required, String others) {
        Set<String> needed = Set.of(required.split(" "));
        return new Signature(needed, Stream.concat(needed.stream(), Stream.of(others.split(" ")))
                .collect(Collectors.toUnmodifiableSet()));
    }

    /** Returns the scope of a query and a user; empty if neither chooses anything. */
    static String of(String rawQuery, String user) {
        List<String> kept = new ArrayList<>(List.of(rawQuery.split("&")));
        List<String> names = kept.stream().map(QueryScope::name).toList();
        for (Signature each : SIGNATURES) {
            if (names.containsAll(each.required)) {
                kept.removeIf(parameter -> each.parameters.contains(name(parameter)));
            }
        }
        String chooses = String.join("&", kept);
        return chooses.isEmpty() && user.isEmpty() ? ""
                : "query " + RemoteObject.nameKey(chooses, user).substring(0, SHOWN_DIGITS);
    }

    private static String name(String parameter) {
        return parameter.substring(0, (parameter + "=").indexOf('='));
    }
}
