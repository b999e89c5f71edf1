// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import java.io.IOException;
import java.util.Optional;

/**
 * Gives credentials that the engine does not find itself, for example from instance metadata or a web identity. Found
 * by {@link java.util.ServiceLoader}, or given in {@link S3Settings}. Thread-safe.
 */
@FunctionalInterface
public interface S3CredentialsProvider {

    /**
     * {@return credentials; empty if there are none here} Called again some minutes before they expire.
     *
     * @throws IOException if they cannot be read; its message must not have secrets
     */
    Optional<S3Credentials> credentials() throws IOException;
}
