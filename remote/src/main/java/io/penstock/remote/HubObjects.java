// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.io.FileInfo;
import io.penstock.io.FileInfo.EntryKind;
import io.penstock.json.Json;
import io.penstock.remote.cache.ObjectReader;
import io.penstock.remote.cache.RemoteObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The files of a data set on the Hugging Face hub. The revision is resolved to a commit once, and every request names
 * that commit: what is pushed meanwhile is not seen, and no run mixes two commits. A file's version is the hash of its
 * content, so that what the commits share is fetched once.
 *
 * <p>The hub answers for most files where a CDN has them. That address is used for some minutes, since the hub limits
 * requests to itself, and without the token.
 *
 * <p>Source: the hub's API, {@code https://huggingface.co/docs/hub/api}, and the requests of its own library.
 */
final class HubObjects implements ObjectServer {

    private static final Pattern NEXT = Pattern.compile("<([^>]+)>\\s*;\\s*rel=\"?next\"?");
    private static final long LOCATED_NANOS = 300_000_000_000L;
    private static final int MOST_LOCATED = 100_000;
    private static final FileInfo FOLDER = new FileInfo(EntryKind.FOLDER, 0, "");

    private final Requests requests;
    private final HubAccess access;
    private final String repository;
    private final String revision;
    private final LongSupplier clock;
    private final Map<String, Located> located = new ConcurrentHashMap<>();
    /** Guarded by the monitor. */
    private @Nullable String commit;

    /** Where a CDN has a file, since when; null if the hub has it itself. */
    private record Located(@Nullable URI uri, long nanos) {
    }

    /**
     * A data set.
     *
     * @param repository owner and name
     * @param revision a branch, a tag or a commit; empty for the main branch
     */
    HubObjects(Requests requests, HubAccess access, String repository, String revision, LongSupplier clock) {
        this.requests = requests;
        this.access = access;
        this.repository = repository;
        this.revision = revision;
        this.clock = clock;
    }

    @Override
    public String root() {
        return "hf://datasets/" + repository + (revision.isEmpty() ? "" : "@" + revision) + "/";
    }

    @Override
    public String scope() {
        return access.isUsual() ? "" : access.endpoint();
    }

    private void authorize(Map<String, String> headers) {
        if (access.authorization() != null) {
            headers.put("Authorization", access.authorization());
        }
    }

    private Requests.Target target(String path, URI uri) {
        return new Requests.Target(root() + path, uri, (_, _, headers) -> authorize(headers));
    }

    private URI api(String rest) {
        return URI.create(access.endpoint() + "/api/datasets/" + UriText.path(repository) + rest);
    }

    /** The file itself, at the commit. */
    private Requests.Target resolved(String path) throws IOException {
        return target(path, URI.create(access.endpoint() + "/datasets/" + UriText.path(repository) + "/resolve/"
                + commit() + "/" + UriText.path(path)));
    }

    private synchronized String commit() throws IOException {
        if (commit == null) {
            String branch = revision.isEmpty() ? "main" : revision;
            Map<String, @Nullable Object> fields = Json.object(json("", api("/revision/" + UriText.segment(branch)))
                    .value());
            if (!(fields.get("sha") instanceof String sha) || !sha.matches("[0-9a-f]{40,64}")) {
                throw new FileSystemException(root(), null, "the hub names no commit of the revision " + branch);
            }
            commit = sha;
        }
        return commit;
    }

    private record Answer(@Nullable Object value, HttpHeaders headers) {
    }

    private Answer json(String path, URI uri) throws IOException {
        Requests.Target target = target(path, uri);
        try {
            HttpResponse<byte[]> answer = requests.text(target);
            return new Answer(Json.parse(answer.body()), answer.headers());
        } catch (AccessDeniedException e) {
            throw denied(path, e);
        } catch (IllegalArgumentException e) {
            throw new FileSystemException(target.name(), null, "the hub's answer cannot be read: " + e.getMessage());
        }
    }

    private AccessDeniedException denied(String path, AccessDeniedException e) {
        return new AccessDeniedException(root() + path, null, e.getReason() + (access.authorization() != null ? ""
                : "; there may be no such data set, or it wants a token (HF_TOKEN)"));
    }

    @Override
    public FileInfo info(String path) throws IOException {
        if (path.isEmpty() || path.endsWith("/")) {
            return FOLDER;
        }
        Requests.Target file = resolved(path);
        try {
            HttpHeaders headers = requests.headOfHost(file);
            locate(path, headers);
            long linked = Requests.number(headers, "X-Linked-Size");
            // The length of an answer that leads elsewhere is that of no file.
            long byteSize = linked >= 0 || headers.firstValue("Location").isPresent() ? linked
                    : requests.info(file, headers).byteSize();
            String hash = headers.firstValue("X-Linked-ETag").or(() -> headers.firstValue("ETag")).orElse("");
            if (byteSize < 0 || hash.isEmpty()) {
                throw new FileSystemException(root() + path, null, "no size or no hash in the hub's answer");
            }
            return new FileInfo(EntryKind.FILE, byteSize, version(hash));
        } catch (NoSuchFileException _) {
            return isFolder(path) ? FOLDER : FileInfo.ABSENT;
        } catch (AccessDeniedException e) {
            throw denied(path, e);
        }
    }

    /** Without quotes, since no server but the hub knows it. */
    private static String version(String etag) {
        return etag.replaceFirst("^W/", "").replace("\"", "");
    }

    private boolean isFolder(String path) throws IOException {
        try {
            json(path, tree(path));
            return true;
        } catch (NoSuchFileException _) {
            return false;
        }
    }

    private URI tree(String folder) throws IOException {
        return api("/tree/" + commit() + (folder.isEmpty() ? "" : "/" + UriText.path(folder)));
    }

    @Override
    public Map<String, @Nullable FileInfo> list(String folder) throws IOException {
        Map<String, @Nullable FileInfo> entries = new HashMap<>();
        URI page = tree(folder.endsWith("/") ? folder.substring(0, folder.length() - 1) : folder);
        while (page != null) {
            Answer answer = json(folder, page);
            try {
                for (Object entry : Json.array(answer.value)) {
                    add(entries, Json.object(entry));
                }
            } catch (IllegalArgumentException | ClassCastException e) {
                throw new FileSystemException(root() + folder, null, "the hub's list cannot be read: "
                        + e.getMessage());
            }
            page = next(folder, answer.headers);
        }
        return entries;
    }

    private static void add(Map<String, @Nullable FileInfo> entries, Map<String, @Nullable Object> entry) {
        if (!(entry.get("path") instanceof String path) || !(entry.get("oid") instanceof String oid)) {
            throw new IllegalArgumentException("an entry without a path or an oid");
        }
        String name = path.substring(path.lastIndexOf('/') + 1);
        if ("directory".equals(entry.get("type"))) {
            entries.put(name, FOLDER);
        } else if (entry.get("size") instanceof Long size) {
            // Of a large file, oid is that of its pointer.
            String hash = entry.get("lfs") instanceof Map<?, ?> lfs && lfs.get("oid") instanceof String content
                    ? content : oid;
            entries.put(name, new FileInfo(EntryKind.FILE, size, version(hash)));
        }
    }

    private @Nullable URI next(String folder, HttpHeaders headers) throws IOException {
        Matcher link = NEXT.matcher(String.join(",", headers.allValues("Link")));
        if (!link.find()) {
            return null;
        }
        if (!link.group(1).startsWith(access.endpoint() + "/")) {
            throw new FileSystemException(root() + folder, null, "the next page of the hub's list is on another host");
        }
        return URI.create(link.group(1));
    }

    private Located locate(String path, HttpHeaders headers) {
        if (located.size() >= MOST_LOCATED) {
            located.clear();
        }
        Located now = new Located(headers.firstValue("Location").map(URI::create).orElse(null), clock.getAsLong());
        located.put(path, now);
        return now;
    }

    private Located located(String path) throws IOException {
        Located known = located.get(path);
        return known != null && clock.getAsLong() - known.nanos < LOCATED_NANOS ? known
                : locate(path, requests.headOfHost(resolved(path)));
    }

    @Override
    public void read(String path, RemoteObject object, long offset, long bytes, ObjectReader.Sink sink)
            throws IOException {
        // The commit fixes the content; a CDN's ETag is not the hub's.
        RemoteObject content = new RemoteObject(object.name(), ObjectVersion.UNKNOWN, object.byteSize());
        URI uri = located(path).uri;
        try (RangeBody body = new RangeBody(content, offset, bytes, sink)) {
            if (uri != null) {
                try {
                    requests.read(new Requests.Target(object.name(), uri, (_, _, _) -> { }), body);
                    return;
                } catch (AccessDeniedException | NoSuchFileException _) {
                    // The address has expired; the hub knows a new one.
                    located.remove(path);
                }
            }
            requests.read(resolved(path), body);
        }
    }
}
