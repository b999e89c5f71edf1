// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.text.ByteText;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * Where remote files are kept, and how they are requested.
 *
 * @param cacheFolder the cache's folder, on a local disk; an empty path if there is none by default, as the user has no
 *     home folder
 * @param cacheBytes the most that the cache may hold; 0 for half of the disk's space that is free or the cache's
 * @param blockBytes the part of a file that is fetched at a time, a power of 2
 * @param access whether requests are sent
 * @param requests how requests are sent
 * @param s3 where S3 is
 * @param authorization by host, such as {@code example.org} or {@code localhost:8000}: the header {@code Authorization}
 *     of requests to it
 */
public record RemoteSettings(Path cacheFolder, long cacheBytes, int blockBytes, Access access,
        RequestSettings requests, S3Settings s3, Map<String, String> authorization) {

    /** Whether requests are sent. */
    public enum Access {
        /** What the cache lacks is fetched. */
        ONLINE,
        /** No request is sent: what the cache lacks is an error. */
        OFFLINE
    }

    /** 8 MiB. */
    public static final int DEFAULT_BLOCK_BYTES = 8 << 20;

    /**
     * Copies {@code authorization}.
     *
     * @throws IllegalArgumentException if {@code cacheBytes} is negative
     */
    public RemoteSettings {
        Objects.requireNonNull(cacheFolder, "cacheFolder");
        Objects.requireNonNull(access, "access");
        Objects.requireNonNull(requests, "requests");
        Objects.requireNonNull(s3, "s3");
        authorization = Map.copyOf(authorization);
        if (cacheBytes < 0) {
            throw new IllegalArgumentException("a cache of " + cacheBytes + " bytes, expected at least 0");
        }
    }

    /**
     * {@return settings by the environment's variables}
     *
     * <ul>
     * <li>{@code PENSTOCK_CACHE}: the cache's folder; default: {@code penstock} in {@code XDG_CACHE_HOME}, which is
     * {@code ~/.cache} by default, where {@code ~} is {@code HOME} or what the system says
     * <li>{@code PENSTOCK_CACHE_SIZE}: the most that it may hold, such as {@code 200G}
     * <li>{@code PENSTOCK_BLOCK_SIZE}: the part of a file that is fetched at a time, such as {@code 4M}
     * <li>{@code PENSTOCK_OFFLINE}: {@code 1} to send no request
     * <li>{@code PENSTOCK_HTTP_AUTHORIZATION}: lines of a host and the header {@code Authorization} of requests to it,
     * such as {@code example.org Bearer TOKEN}
     * </ul>
     *
     * @throws IllegalArgumentException if a variable has no such value; names it
     */
    public static RemoteSettings fromEnvironment() {
        return of(System.getenv());
    }

    static RemoteSettings of(Map<String, String> environment) {
        String folder = environment.get("PENSTOCK_CACHE");
        return new RemoteSettings(folder != null && !folder.isEmpty() ? Path.of(folder) : defaultFolder(environment),
                read(environment, "PENSTOCK_CACHE_SIZE", 0L, ByteText::read),
                read(environment, "PENSTOCK_BLOCK_SIZE", DEFAULT_BLOCK_BYTES,
                        text -> Math.toIntExact(ByteText.read(text))),
                read(environment, "PENSTOCK_OFFLINE", Access.ONLINE, RemoteSettings::access), RequestSettings.DEFAULT,
                S3Settings.DEFAULT, read(environment, "PENSTOCK_HTTP_AUTHORIZATION", Map.of(),
                        RemoteSettings::authorization));
    }

    /** The cache's folder; empty if the user has no home. */
    private static Path defaultFolder(Map<String, String> environment) {
        String caches = environment.getOrDefault("XDG_CACHE_HOME", "");
        return !caches.isEmpty() ? Path.of(caches, "penstock") : home(environment).map(home -> home.resolve(".cache")
                .resolve("penstock")).orElse(Path.of(""));
    }

    /** The user's home folder: {@code HOME}, otherwise what the system says. A user of a container may have none. */
    static Optional<Path> home(Map<String, String> environment) {
        String home = environment.getOrDefault("HOME", "");
        Path folder = Path.of(home.isEmpty() ? System.getProperty("user.home", "") : home);
        return folder.isAbsolute() ? Optional.of(folder) : Optional.empty();     // the JDK's word for none is ?
    }

    /**
     * {@return the cache's folder, on a local disk}
     *
     * @throws IllegalArgumentException if none was given, and the user has no home folder
     */
    @Override
    public Path cacheFolder() {
        if (cacheFolder.toString().isEmpty()) {
            throw new IllegalArgumentException("no folder for the cache of remote files: the user has no home folder"
                    + " (HOME is not set); set PENSTOCK_CACHE, or name a folder with --cache");
        }
        return cacheFolder;
    }

    private static <T> T read(Map<String, String> environment, String name, T missing, Function<String, T> reader) {
        String text = environment.get(name);
        try {
            return text == null || text.isEmpty() ? missing : reader.apply(text);
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new IllegalArgumentException(name + ": " + e.getMessage(), e);
        }
    }

    private static Access access(String text) {
        return switch (text) {
            case "0" -> Access.ONLINE;
            case "1" -> Access.OFFLINE;
            default -> throw new IllegalArgumentException("found '" + text + "', expected 0 or 1");
        };
    }

    private static Map<String, String> authorization(String text) {
        Map<String, String> hosts = new HashMap<>();
        for (String line : text.lines().filter(line -> !line.isBlank()).toList()) {
            String[] pair = line.strip().split("\\s+", 2);
            if (pair.length < 2) {
                throw new IllegalArgumentException("no value for the host '" + pair[0] + "'");
            }
            if (hosts.put(pair[0], pair[1]) != null) {
                throw new IllegalArgumentException("found the host '" + pair[0] + "' twice, expected it once");
            }
        }
        return hosts;
    }

    /**
     * {@return these settings with another cache}
     *
     * @param folder the cache's folder
     * @param bytes the most that it may hold; 0 for half of what is free
     */
    public RemoteSettings withCache(Path folder, long bytes) {
        return new RemoteSettings(folder, bytes, blockBytes, access, requests, s3, authorization);
    }

    /**
     * {@return these settings with another size of blocks}
     *
     * @param bytes the size, a power of 2
     */
    public RemoteSettings withBlockBytes(int bytes) {
        return new RemoteSettings(cacheFolder, cacheBytes, bytes, access, requests, s3, authorization);
    }

    /**
     * {@return these settings with another access}
     *
     * @param other whether requests are sent
     */
    public RemoteSettings withAccess(Access other) {
        return new RemoteSettings(cacheFolder, cacheBytes, blockBytes, other, requests, s3, authorization);
    }

    /**
     * {@return these settings with other requests}
     *
     * @param other how requests are sent
     */
    public RemoteSettings withRequests(RequestSettings other) {
        return new RemoteSettings(cacheFolder, cacheBytes, blockBytes, access, other, s3, authorization);
    }

    /**
     * {@return these settings with another S3}
     *
     * @param other where S3 is
     */
    public RemoteSettings withS3(S3Settings other) {
        return new RemoteSettings(cacheFolder, cacheBytes, blockBytes, access, requests, other, authorization);
    }

    /**
     * {@return these settings with the header {@code Authorization} of a host}
     *
     * @param hosts the headers by host
     */
    public RemoteSettings withAuthorization(Map<String, String> hosts) {
        return new RemoteSettings(cacheFolder, cacheBytes, blockBytes, access, requests, s3, hosts);
    }

    /** Returns a text without the authorization. */
    @Override
    public String toString() {
        return "RemoteSettings[" + cacheFolder + ", " + access + ", " + requests + ", hosts with authorization: "
                + authorization.keySet() + "]";
    }
}
