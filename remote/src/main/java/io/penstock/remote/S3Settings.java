// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import java.net.URI;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where S3 is, and who asks. Null stands for what the environment and AWS's configuration files say.
 *
 * @param endpoint the service, for MinIO, R2, Google Cloud Storage and others, for example
 *     {@code http://localhost:9000}; null for {@code AWS_ENDPOINT_URL_S3}, {@code AWS_ENDPOINT_URL} or the profile's
 *     {@code endpoint_url}, and without one for AWS
 * @param region the region; null for {@code AWS_REGION}, {@code AWS_DEFAULT_REGION} or the profile's {@code region},
 *     and without one for {@code us-east-1}, or the one that AWS answers
 * @param addressing where requests have the bucket's name
 * @param credentials gives the keys; null to look for them
 */
public record S3Settings(@Nullable URI endpoint, @Nullable String region, Addressing addressing,
        @Nullable S3CredentialsProvider credentials) {

    /** Where a request has the bucket's name. */
    public enum Addressing {
        /** In the path for an endpoint that was given and for names with dots, otherwise in the host's name. */
        AUTO,
        /** In the path: {@code https://endpoint/bucket/key}. */
        PATH,
        /** In the host's name: {@code https://bucket.endpoint/key}. */
        HOST
    }

    /** Everything from the environment and AWS's configuration files. */
    public static final S3Settings DEFAULT = new S3Settings(null, null, Addressing.AUTO, null);

    /** Rejects a null {@code addressing}; every other component may be null. */
    public S3Settings {
        Objects.requireNonNull(addressing, "addressing");
    }
}
