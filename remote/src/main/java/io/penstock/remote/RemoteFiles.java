// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.remote.cache.BlockCache;
import io.penstock.remote.cache.RemoteObject;
import io.penstock.store.IfExists;
import io.penstock.store.Progress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds files on HTTP servers, in S3 buckets and on the Hugging Face hub, which are read through a cache. Thread-safe.
 * It holds connections while it is used, and no other resources.
 *
 * <p>For example:
 *
 * {@snippet :
 * RemoteFiles remote = RemoteFiles.of(RemoteSettings.fromEnvironment().withCache(Path.of("/local/cache"), 500L << 30));
 * try (Store store = Store.open(remote.locate("s3://bucket/shards/train-{000000..000999}.tar"), OpenOptions.DEFAULT)) {
 *     // as a store of local files
 * }
 * }
 *
 * <p>Names are {@code s3://BUCKET/KEY}, {@code http://HOST/PATH}, {@code https://HOST/PATH} and
 * {@code hf://datasets/OWNER/NAME@REVISION/PATH}, where the revision may be left out. A query, such as a
 * signature, and a user with a password before the host are sent, but no message and no cache shows them. Files of
 * different queries are different files: the cache knows them by a digest of the query, without the parameters of a
 * signature, and of the user. The query is sent with requests for files beside the named one, too.
 */
public final class RemoteFiles {

    private static final Pattern NAME = Pattern.compile(
            "(?is)(https?|s3|hf)://([^/?#]+)(/[^?#]*)?(?:\\?([^#]*))?(#.*)?");
    private static final List<String> SCHEMES = List.of("http://", "https://", "s3://", "hf://");
    private static final String S3 = "s3";
    /** The repository, its revision and the path. */
    private static final Pattern HF_PATH = Pattern.compile(
            "([^/@]+/[^/@]+)(?:@(refs/(?:convert|pr)/[^/]+|[^/]+))?(?:/(.*))?");

    private final RemoteSettings settings;
    private final Map<String, String> environment;
    private final String runVersion = RemoteObject.ofRun(UUID.randomUUID().toString());
    private final Map<String, RemoteSource> sources = new ConcurrentHashMap<>();
    /** Created when first needed. Guarded by the monitor. */
    private @Nullable BlockCache cache;
    private @Nullable Requests requests;

    private RemoteFiles(RemoteSettings settings, Map<String, String> environment) {
        this.settings = settings;
        this.environment = environment;
    }

    /**
     * {@return files that are requested and kept as settings say} Neither the cache nor a server is looked at yet.
     *
     * @param settings the settings
     */
    public static RemoteFiles of(RemoteSettings settings) {
        return of(settings, System.getenv());
    }

    static RemoteFiles of(RemoteSettings settings, Map<String, String> environment) {
        return new RemoteFiles(settings, Map.copyOf(environment));
    }

    /**
     * {@return whether a name is that of a remote file: it begins with {@code http://}, {@code https://},
     * {@code s3://} or {@code hf://}}
     *
     * @param name any name
     */
    public static boolean isRemote(String name) {
        return SCHEMES.stream().anyMatch(scheme -> name.regionMatches(true, 0, scheme, 0, scheme.length()));
    }

    /**
     * {@return the file or folder that a URI names}
     *
     * @param uri a URI with the scheme {@code http}, {@code https}, {@code s3} or {@code hf}
     * @throws IllegalArgumentException if it is no such URI
     * @throws UncheckedIOException if AWS's configuration files cannot be read
     */
    public Location locate(URI uri) {
        return locate(uri.toString());
    }

    /**
     * {@return the file or folder that a name stands for}
     *
     * @param name a URI, in whose path braces and blanks need not be encoded
     * @throws IllegalArgumentException if it is no such URI
     * @throws UncheckedIOException if AWS's configuration files cannot be read
     */
    public Location locate(String name) {
        Found found = find(name);
        if (found.path.indexOf('{') < 0 && !found.path.contains("::")) {
            found.source.name(found.path);
        }
        return new Location(found.source, found.path);
    }

    private record Found(RemoteSource source, String path) {
    }

    private Found find(String name) {
        Matcher parts = NAME.matcher(name);
        if (!parts.matches()) {
            throw new IllegalArgumentException("found no remote name, expected https://HOST/PATH, s3://BUCKET/KEY"
                    + " or hf://datasets/OWNER/NAME/PATH");
        }
        String scheme = parts.group(1).toLowerCase(Locale.ROOT);
        String rawPath = parts.group(3) == null ? "" : parts.group(3).substring(1);
        if (scheme.equals(S3)) {
            String bucket = parts.group(2);
            if (parts.group(4) != null || parts.group(5) != null || bucket.indexOf('@') >= 0) {
                throw new IllegalArgumentException("s3://" + bucket.substring(bucket.indexOf('@') + 1)
                        + ": found ?, # or @, expected s3://BUCKET/KEY (in a key, write %3F and %23)");
            }
            return new Found(sources.computeIfAbsent("s3://" + bucket, _ -> bucket(bucket)), decoded(rawPath));
        }
        if (scheme.equals("hf")) {
            return onHub(parts.group(2), rawPath, parts.group(4) == null && parts.group(5) == null);
        }
        if (rawPath.toLowerCase(Locale.ROOT).contains("%2f")) {
            throw new IllegalArgumentException(scheme + "://" + host(parts.group(2)) + "/…: found an encoded slash"
                    + " (%2F) in the path, expected none");
        }
        String query = parts.group(4) == null ? "" : parts.group(4);
        String key = scheme + "://" + parts.group(2) + "?" + query;
        return new Found(sources.computeIfAbsent(key, _ -> server(scheme, parts.group(2), query)),
                decoded(rawPath));
    }

    private Found onHub(String kind, String rawPath, boolean isPlain) {
        Matcher path = HF_PATH.matcher(rawPath);
        if (!kind.equalsIgnoreCase("datasets") || !isPlain || !path.matches()) {
            throw new IllegalArgumentException("hf://" + kind + "/…: expected hf://datasets/OWNER/NAME/PATH or"
                    + " hf://datasets/OWNER/NAME@REVISION/PATH");
        }
        String repository = decoded(path.group(1));
        String revision = path.group(2) == null ? "" : decoded(path.group(2));
        RemoteSource source = sources.computeIfAbsent("hf://" + repository + "@" + revision, _ -> source(() ->
                new HubObjects(requests(), HubAccess.of(environment), repository, revision, System::nanoTime)));
        return new Found(source, path.group(3) == null ? "" : decoded(path.group(3)));
    }

    /**
     * Begins to write a store or a file that is published in a bucket when it is whole. Its local files are in the
     * cache's folder until then, in addition to what the cache may hold.
     *
     * @param name {@code s3://BUCKET/KEY} as a writer takes it: a file, the prefix of a Megatron store, shards with
     *     {@code {000000}} or {@code %06d} in place of the number, or a folder, which ends in a slash
     * @param ifExists whether to replace what is there
     * @return the upload, to be closed by the caller
     * @throws java.nio.file.FileAlreadyExistsException if it exists and is not to be replaced
     * @throws IOException if the server or the local disk fails, or another process of this machine writes it
     * @throws IllegalArgumentException if it is no such name
     */
    public Upload upload(String name, IfExists ifExists) throws IOException {
        return upload(name, ifExists, Publication.PART_BYTES);
    }

    Upload upload(String name, IfExists ifExists, int partBytes) throws IOException {
        requireOnline(name);
        // What a writer takes for the number is no percent-encoding.
        Found target = find(name.replaceFirst("%(0[1-9])?d(?=[^/]*$)", "%25$1d"));
        Location location = new Location(target.source, target.path);
        if (Set.of("", ".", "..").contains(target.path.endsWith("/") ? "/" : location.name())) {
            throw new IllegalArgumentException(location + ": no name of a file or folder, expected s3://BUCKET/KEY");
        }
        Path folder = cache().folder().resolve("uploads").resolve(RemoteObject.nameKey(location.toString(),
                target.source.scope()));
        return Upload.open(location, target.source, ifExists, settings.requests().parallel(), partBytes, folder);
    }

    /**
     * Sends a file to a bucket without making an object of it: nobody sees it until an upload {@linkplain Upload#adopt
     * adopts} it. So several machines can send the files of a store, and one of them makes all objects. If it fails,
     * nothing stays in the bucket.
     *
     * @param file the local file
     * @param name the object that it is to be: {@code s3://BUCKET/KEY}
     * @return what was sent; may be sent to another machine
     * @throws IOException if the file cannot be read, or the server fails or refuses
     * @throws IllegalArgumentException if it is no such name
     */
    public SentFile send(Path file, String name) throws IOException {
        requireOnline(name);
        Found target = find(name);
        return new Publication(target.source.uploads(), UUID.randomUUID().toString(), settings.requests().parallel(),
                Publication.PART_BYTES, Progress.NONE).send(name, target.path, file);
    }

    /**
     * Removes a file that was sent but that no object was made of.
     *
     * @param sent the file
     * @throws IOException if the server fails or refuses
     */
    public void abort(SentFile sent) throws IOException {
        Found target = find(sent.name());
        target.source.uploads().abort(target.path, sent.uploadId());
    }

    private void requireOnline(String name) {
        if (settings.access() == RemoteSettings.Access.OFFLINE) {
            throw new IllegalArgumentException(name + ": cannot be written offline");
        }
    }

    /** Returns the key of an object in the bucket of a source. */
    String key(String name, RemoteSource source) {
        Found target = find(name);
        if (target.source != source) {
            throw new IllegalArgumentException(name + ": in another bucket, expected " + source.root());
        }
        return target.path;
    }

    /**
     * Deletes an object of a bucket. Deleting one that does not exist has no effect.
     *
     * @param name {@code s3://BUCKET/KEY}
     * @throws IOException if the server fails or refuses
     * @throws IllegalArgumentException if it is no such name
     */
    public void delete(String name) throws IOException {
        Found target = find(name);
        target.source.uploads().delete(target.path);
        target.source.forget();
    }

    private static String host(String authority) {
        return authority.substring(authority.lastIndexOf('@') + 1).toLowerCase(Locale.ROOT);
    }

    private static String decoded(String path) {
        // A plus is a plus in a path.
        return path.indexOf('%') < 0 ? path : URLDecoder.decode(path.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    private RemoteSource server(String scheme, String authority, String query) {
        String host = host(authority);
        String user = decoded(authority.substring(0, Math.max(0, authority.lastIndexOf('@'))));
        String authorization = user.isEmpty() ? settings.authorization().get(host) : "Basic " + Base64.getEncoder()
                .encodeToString(user.getBytes(StandardCharsets.UTF_8));
        String root = scheme + "://" + host + "/";
        requireUri(root, query);
        String name = user.substring(0, (user + ":").indexOf(':'));
        return source(() -> new HttpObjects(requests(), root, query, name, authorization));
    }

    /** Checks what is sent as it is. An error of {@link URI} itself, or of the client, would show the query. */
    private static void requireUri(String root, String query) {
        String found = "no HOST or HOST:PORT of letters, digits, hyphens and dots";
        try {
            if (new URI(root).getHost() != null) {
                found = "a query with characters that are not percent-encoded";
                URI _ = new URI(root + "?" + query);
                return;
            }
        } catch (URISyntaxException _) {
            // its message has all of the URI
        }
        throw new IllegalArgumentException(root + "…: found " + found);
    }

    private RemoteSource bucket(String bucket) {
        return source(() -> new S3Objects(requests(), bucket, new S3Access(settings.s3(), environment, bucket)));
    }

    /** Returns a supplier of an attempt's result. The attempt is made once. */
    private RemoteSource source(Retries.Attempt<ObjectServer> server) {
        try {
            return new RemoteSource(server.run(), this, System::nanoTime);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    RemoteSettings settings() {
        return settings;
    }

    /** The version of objects whose server names none: of this run alone. */
    String runVersion() {
        return runVersion;
    }

    private synchronized Requests requests() {
        if (requests == null) {
            requests = new Requests(settings.requests());
        }
        return requests;
    }

    /** The cache, which is created when a file is first opened. */
    synchronized BlockCache cache() throws IOException {
        if (cache == null) {
            Path folder = settings.cacheFolder();
            try {
                cache = BlockCache.open(folder, settings.cacheBytes(), settings.blockBytes(),
                        2 * settings.requests().parallel());
            } catch (MalformedStoreException e) {
                throw e;
            } catch (FileSystemException e) {
                throw unusable(folder, e);
            }
        }
        return cache;
    }

    /** An error of the cache's own files, which must not look like one of the file that is read. */
    static FileSystemException unusable(Path folder, FileSystemException e) {
        String reason = switch (e) {
            case AccessDeniedException _ when e.getReason() == null -> "permission denied";
            case FileAlreadyExistsException _ when e.getReason() == null -> "not a folder";
            case NoSuchFileException _ when e.getReason() == null -> "cannot be created";
            default -> e.getReason() == null ? "cannot be used" : e.getReason();
        };
        String file = e.getFile() == null || e.getFile().equals(folder.toString()) ? "" : e.getFile() + ": ";
        FileSystemException unusable = new FileSystemException(folder.toString(), null, "the cache of remote files: "
                + file + reason + "; PENSTOCK_CACHE or --cache names another folder");
        unusable.initCause(e);
        return unusable;
    }

    /**
     * {@return the most that the cache may hold: as set, or half of the disk's space that is free or the cache's}
     *
     * @throws IOException if the cache cannot be opened
     */
    public long cacheBytes() throws IOException {
        return cache().limitBytes();
    }
}
