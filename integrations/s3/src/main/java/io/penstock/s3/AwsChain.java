// SPDX-License-Identifier: Apache-2.0
package io.penstock.s3;

import io.penstock.remote.S3Credentials;
import io.penstock.remote.S3CredentialsProvider;
import java.util.Optional;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkClientException;

/**
 * Credentials by the default chain of the AWS SDK: web identity, profiles with roles, containers and instance metadata.
 * The engine finds it when it is on the class path, and asks it if the environment and the profile have no keys.
 * Thread-safe.
 */
public final class AwsChain implements S3CredentialsProvider {

    private static final System.Logger LOG = System.getLogger(AwsChain.class.getName());

    private final AwsCredentialsProvider chain;

    /** The default chain. Called by the service loader. */
    public AwsChain() {
        this(DefaultCredentialsProvider.builder().build());
    }

    /**
     * Another chain, for {@link io.penstock.remote.S3Settings}.
     *
     * @param chain gives the credentials; closed by the caller
     */
    public AwsChain(AwsCredentialsProvider chain) {
        this.chain = chain;
    }

    /** {@return the chain's credentials; empty if it has none, as for public buckets} */
    @Override
    public Optional<S3Credentials> credentials() {
        AwsCredentials found;
        try {
            found = chain.resolveCredentials();
        } catch (SdkClientException e) {
            LOG.log(System.Logger.Level.INFO, "no credentials for S3: {0}", e.getMessage());
            return Optional.empty();
        }
        String token = found instanceof AwsSessionCredentials session ? session.sessionToken() : null;
        return Optional.of(new S3Credentials(found.accessKeyId(), found.secretAccessKey(), token,
                found.expirationTime().orElse(null)));
    }
}
