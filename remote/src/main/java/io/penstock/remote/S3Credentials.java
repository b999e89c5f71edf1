// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Keys that sign requests to S3. Its text does not have the secrets.
 *
 * @param accessKeyId the key's public name
 * @param secretAccessKey the secret
 * @param sessionToken the token of temporary keys; null for others
 * @param expiration when temporary keys end; null if that is unknown
 */
public record S3Credentials(String accessKeyId, String secretAccessKey, @Nullable String sessionToken,
        @Nullable Instant expiration) {

    /** Rejects a null key or secret; {@code sessionToken} and {@code expiration} may be null. */
    public S3Credentials {
        Objects.requireNonNull(accessKeyId, "accessKeyId");
        Objects.requireNonNull(secretAccessKey, "secretAccessKey");
    }

    /**
     * {@return credentials that do not expire}
     *
     * @param accessKeyId the key's public name
     * @param secretAccessKey the secret
     */
    public static S3Credentials of(String accessKeyId, String secretAccessKey) {
        return new S3Credentials(accessKeyId, secretAccessKey, null, null);
    }

    @Override
    public String toString() {
        return "S3Credentials[" + accessKeyId + "]";
    }
}
