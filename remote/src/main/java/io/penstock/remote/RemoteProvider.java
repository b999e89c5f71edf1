// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.io.FileSource;
import io.penstock.io.Location;
import java.net.URI;
import java.util.function.Supplier;

/** Makes the URIs of remote files known, with the settings of the environment. */
public abstract sealed class RemoteProvider implements FileSource.Provider {

    /** One for all schemes, when the first such URI is opened. */
    private static final class Shared {
        static final Supplier<RemoteFiles> FILES = files();

        /** Keeps the error of a variable for those who locate a file: thrown from here, it would end this class. */
        private static Supplier<RemoteFiles> files() {
            try {
                RemoteFiles files = RemoteFiles.of(RemoteSettings.fromEnvironment());
                return () -> files;
            } catch (IllegalArgumentException e) {
                return () -> {
                    throw new IllegalArgumentException(e.getMessage(), e);
                };
            }
        }
    }

    private final String scheme;

    private RemoteProvider(String scheme) {
        this.scheme = scheme;
    }

    @Override
    public String scheme() {
        return scheme;
    }

    @Override
    public Location locate(URI uri) {
        return Shared.FILES.get().locate(uri);
    }

    /** {@code http} URIs. */
    public static final class Http extends RemoteProvider {

        /** Called by the service loader. */
        public Http() {
            super("http");
        }
    }

    /** {@code https} URIs. */
    public static final class Https extends RemoteProvider {

        /** Called by the service loader. */
        public Https() {
            super("https");
        }
    }

    /** {@code hf} URIs. */
    public static final class Hf extends RemoteProvider {

        /** Called by the service loader. */
        public Hf() {
            super("hf");
        }
    }

    /** {@code s3} URIs. */
    public static final class S3 extends RemoteProvider {

        /** Called by the service loader. */
        public S3() {
            super("s3");
        }
    }
}
