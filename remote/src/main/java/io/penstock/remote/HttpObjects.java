// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.io.FileInfo;
import io.penstock.io.FileInfo.EntryKind;
import io.penstock.remote.cache.ObjectReader;
import io.penstock.remote.cache.RemoteObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The files of an HTTP server. A path that ends in a slash is a folder; its files are the links of the page that the
 * server shows for it.
 */
final class HttpObjects implements ObjectServer {

    private final Requests requests;
    /** The scheme, the host, and a slash. */
    private final String root;
    /** Sent with every request, for example the signature of an URL; empty if there is none. Never shown. */
    private final String rawQuery;
    private final String scope;
    private final Requests.Authorization authorization;

    HttpObjects(Requests requests, String root, String rawQuery, String user, @Nullable String authorization) {
        this.requests = requests;
        this.root = root;
        this.rawQuery = rawQuery;
        this.scope = QueryScope.of(rawQuery, user);
        this.authorization = authorization == null ? (_, _, _) -> { }
                : (_, _, headers) -> headers.put("Authorization", authorization);
    }

    @Override
    public String root() {
        return root;
    }

    @Override
    public String scope() {
        return scope;
    }

    private Requests.Target target(String path) {
        return new Requests.Target(root + path, URI.create(root + UriText.path(path)
                + (rawQuery.isEmpty() ? "" : "?" + rawQuery)), authorization);
    }

    @Override
    public FileInfo info(String path) throws IOException {
        if (path.isEmpty() || path.endsWith("/")) {
            return new FileInfo(EntryKind.FOLDER, 0, "");
        }
        Requests.Target target = target(path);
        try {
            return requests.info(target, head(target));
        } catch (NoSuchFileException _) {
            return FileInfo.ABSENT;
        }
    }

    /** Some servers, and URLs that are signed for GET, have no HEAD. */
    private HttpHeaders head(Requests.Target target) throws IOException {
        try {
            return requests.head(target);
        } catch (NoSuchFileException e) {
            throw e;
        } catch (FileSystemException _) {
            return Requests.NO_HEADERS;
        }
    }

    @Override
    public Map<String, @Nullable FileInfo> list(String folder) throws IOException {
        String path = folder.isEmpty() || folder.endsWith("/") ? folder : folder + "/";
        HttpResponse<byte[]> page = requests.text(target(path));
        String type = page.headers().firstValue("Content-Type").orElse("");
        if (!type.startsWith("text/html")) {
            throw new FileSystemException(root + path, null, "the server lists no files here: it answers "
                    + (type.isEmpty() ? "no page" : type) + ", expected text/html; name the files, for example with"
                    + " braces");
        }
        Map<String, @Nullable FileInfo> entries = IndexPage.entries(page.uri(), new String(page.body(),
                StandardCharsets.UTF_8));
        if (entries.isEmpty()) {
            throw new FileSystemException(root + path, null, "the page of this folder lists no files; name the files,"
                    + " for example with braces");
        }
        return entries;
    }

    @Override
    public void read(String path, RemoteObject object, long offset, long bytes, ObjectReader.Sink sink)
            throws IOException {
        try (RangeBody body = new RangeBody(object, offset, bytes, sink)) {
            requests.read(target(path), body);
        }
    }
}
