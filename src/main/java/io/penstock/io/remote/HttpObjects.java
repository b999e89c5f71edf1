// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.remote;

import io.penstock.io.FileInfo;
import io.penstock.io.FileInfo.EntryKind;
import io.penstock.io.cache.ObjectReader;
import io.penstock.io.cache.RemoteObject;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The files of an HTTP server. A path that ends in a slash is a folder; its files are the links of the page that the
 * server shows for it.
 */
final class HttpObjects implements ObjectServer {

    private static final Pattern LINK = Pattern.compile("(?i)<a\\s[^>]{0,500}?href\\s*=\\s*[\"']([^\"'?#/]+)(/?)[\"']");

    private static final Pattern PERCENT = Pattern.compile("%(?![0-9A-Fa-f]{2})");

    private final Requests requests;
    /** The scheme, the host, and a slash. */
    private final String root;
    /** Sent with every request, for example the signature of an URL; null if there is none. Never shown. */
    private final @Nullable String rawQuery;
    private final Requests.Authorization authorization;
    /** Whether this server has answered with an object: what it then denies is taken for absent. */
    private volatile boolean hasAnswered;

    HttpObjects(Requests requests, String root, @Nullable String rawQuery, @Nullable String authorization) {
        this.requests = requests;
        this.root = root;
        this.rawQuery = rawQuery;
        this.authorization = authorization == null ? (_, _, _) -> { }
                : (_, _, headers) -> headers.put("Authorization", authorization);
    }

    @Override
    public String root() {
        return root;
    }

    private Requests.Target target(String path) {
        return new Requests.Target(root + path, URI.create(root + UriText.path(path)
                + (rawQuery == null ? "" : "?" + rawQuery)), authorization);
    }

    @Override
    public FileInfo info(String path) throws IOException {
        if (path.isEmpty() || path.endsWith("/")) {
            return new FileInfo(EntryKind.FOLDER, 0, "");
        }
        try {
            FileInfo info = file(path);
            hasAnswered = true;
            return info;
        } catch (NoSuchFileException _) {
            return FileInfo.ABSENT;
        } catch (AccessDeniedException e) {
            // A signed URL is of one object: what is looked for beside it is denied.
            if (hasAnswered) {
                return FileInfo.ABSENT;
            }
            throw e;
        }
    }

    private FileInfo file(String path) throws IOException {
        Requests.Target target = target(path);
        HttpHeaders headers;
        long byteSize;
        try {
            headers = requests.head(target);
            byteSize = headers.firstValueAsLong("Content-Length").orElse(-1);
        } catch (NoSuchFileException e) {
            throw e;
        } catch (FileSystemException _) {
            headers = null;
            byteSize = -1;
        }
        if (headers == null || byteSize < 0) {
            // Some servers, and URLs that are signed for GET, have no HEAD.
            headers = requests.firstByte(target);
            byteSize = totalSize(target.name(), headers.firstValue("Content-Range").orElse(""));
        }
        return new FileInfo(EntryKind.FILE, byteSize, ObjectVersion.of(headers));
    }

    private static long totalSize(String name, String contentRange) throws IOException {
        String total = contentRange.substring(contentRange.lastIndexOf('/') + 1);
        if (!total.matches("[0-9]{1,18}")) {
            throw new FileSystemException(name, null, "the server does not say its size: Content-Range is '"
                    + contentRange + "'");
        }
        return Long.parseLong(total);
    }

    @Override
    public Map<String, @Nullable FileInfo> list(String folder) throws IOException {
        String path = folder.isEmpty() || folder.endsWith("/") ? folder : folder + "/";
        HttpResponse<byte[]> page = requests.text(target(path));
        String type = page.headers().firstValue("Content-Type").orElse("");
        if (!type.startsWith("text/html")) {
            throw new FileSystemException(root + path, null, "an HTTP server that lists no files here; name the files,"
                    + " for example with braces");
        }
        Map<String, @Nullable FileInfo> entries = new HashMap<>();
        Matcher link = LINK.matcher(new String(page.body(), StandardCharsets.UTF_8));
        while (link.find()) {
            String name = decoded(link.group(1));
            if (!name.equals(".") && !name.equals("..") && name.indexOf('/') < 0 && name.indexOf(':') < 0) {
                entries.put(name, link.group(2).isEmpty() ? null : new FileInfo(EntryKind.FOLDER, 0, ""));
            }
        }
        return entries;
    }

    /** The name that a link has; a sign of percent that encodes nothing stands for itself. */
    private static String decoded(String link) {
        String encoded = PERCENT.matcher(link.replace("&amp;", "&")).replaceAll("%25").replace("+", "%2B");
        return URLDecoder.decode(encoded, StandardCharsets.UTF_8);
    }

    @Override
    public void read(String path, RemoteObject object, long offset, long bytes, ObjectReader.Sink sink)
            throws IOException {
        try (RangeBody body = new RangeBody(object, offset, bytes, sink)) {
            requests.read(target(path), body);
        }
    }
}
