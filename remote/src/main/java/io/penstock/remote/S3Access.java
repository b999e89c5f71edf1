// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/** Where a bucket is, and the keys that sign requests to it. Thread-safe. */
final class S3Access {

    private static final String DEFAULT_REGION = "us-east-1";
    /** Credentials that expire within this time are requested again. */
    private static final Duration BEFORE_EXPIRY = Duration.ofMinutes(5);

    private final String bucket;
    private final @Nullable URI endpoint;
    private final boolean isPathStyle;
    private final List<S3CredentialsProvider> providers = new ArrayList<>();
    private volatile String region;
    private @Nullable S3Credentials found;
    private boolean isAnonymous;

    S3Access(S3Settings settings, Map<String, String> environment, String bucket) throws IOException {
        AwsProfile profile = AwsProfile.read(environment);
        this.bucket = bucket;
        this.endpoint = settings.endpoint() != null ? endpoint(settings.endpoint().toString())
                : profile.value("endpoint_url", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL").map(S3Access::endpoint)
                        .orElse(null);
        this.isPathStyle = switch (settings.addressing()) {
            case PATH -> true;
            case HOST -> false;
            case AUTO -> endpoint != null || bucket.indexOf('.') >= 0 || !bucket.matches("[a-z0-9-]+");
        };
        this.region = settings.region() != null ? settings.region()
                : profile.value("region", "AWS_REGION", "AWS_DEFAULT_REGION").orElse(DEFAULT_REGION);
        if (settings.credentials() != null) {
            providers.add(settings.credentials());
        } else {
            providers.add(profile::credentials);
            ServiceLoader.load(S3CredentialsProvider.class).forEach(providers::add);
        }
    }

    private static URI endpoint(String text) {
        return UriText.endpoint("the endpoint of S3", text, "http://localhost:9000");
    }

    /** What a bucket's name means depends on the endpoint; empty for AWS's own. */
    String scope() {
        if (endpoint == null) {
            return "";
        }
        String host = endpoint.getHost().toLowerCase(Locale.ROOT);
        String port = endpoint.getPort() < 0 ? "" : ":" + endpoint.getPort();
        return host.endsWith(".amazonaws.com") ? "" : endpoint.getScheme() + "://" + host + port
                + endpoint.getRawPath().replaceFirst("/+$", "");
    }

    /** Returns the URI of a key, with a query or none. */
    URI uri(String key, String query) {
        String path = (isPathStyle ? "/" + UriText.path(bucket) : "") + "/" + UriText.path(key);
        return URI.create(base() + path + (query.isEmpty() ? "" : "?" + query));
    }

    private String base() {
        String host = isPathStyle ? "" : bucket + ".";
        if (endpoint == null) {
            return "https://" + host + "s3." + region + ".amazonaws.com";
        }
        String text = endpoint.getScheme() + "://" + host + endpoint.getRawAuthority() + endpoint.getRawPath();
        return text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
    }

    String region() {
        return region;
    }

    /**
     * Continues in another region, if this bucket is AWS's; returns whether it does.
     *
     * @param from the region of a request that failed: another thread may have continued elsewhere since
     */
    boolean move(String from, String other) {
        if (endpoint != null || other.equals(from)) {
            return false;
        }
        region = other;
        return true;
    }

    /** Signs a request, unless there are no keys. */
    void sign(String method, URI uri, Map<String, String> headers) throws IOException {
        Optional<S3Credentials> credentials = credentials();
        if (credentials.isPresent()) {
            new AwsSignature(region, "s3").sign(credentials.get(), method, uri, headers, Instant.now());
        }
    }

    /** Tells whether requests are sent without keys, as none were found. */
    synchronized boolean isAnonymous() {
        return isAnonymous;
    }

    private synchronized Optional<S3Credentials> credentials() throws IOException {
        S3Credentials known = found;
        if (isAnonymous || known != null && (known.expiration() == null
                || known.expiration().isAfter(Instant.now().plus(BEFORE_EXPIRY)))) {
            return Optional.ofNullable(known);
        }
        for (S3CredentialsProvider provider : providers) {
            Optional<S3Credentials> given = provider.credentials();
            if (given.isPresent()) {
                found = given.get();
                return given;
            }
        }
        isAnonymous = true;
        return Optional.empty();
    }
}
