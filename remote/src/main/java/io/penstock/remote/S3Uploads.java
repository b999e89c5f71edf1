// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.internal.Sha256;
import io.penstock.io.FileInfo;
import io.penstock.io.FileInfo.EntryKind;
import io.penstock.io.publish.StagingFolder;
import io.penstock.store.IfExists;
import java.io.IOException;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.security.MessageDigest;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The requests that write objects of an S3 bucket. An object becomes visible by one request, which is conditional: it
 * fails if there is an object, or another one than expected.
 *
 * <p>Some servers know no conditions (501). Then the object is looked at just before the request instead, and of two
 * writers at the same time the last one wins, which is logged.
 *
 * <p>If the answer to that request is lost, the next attempt fails because of the object that the first one made. So
 * each object carries a mark of its write, by which the writer knows it.
 *
 * <p>Source: the pages of {@code PutObject} and {@code CompleteMultipartUpload} in the Amazon S3 API Reference,
 * {@code https://docs.aws.amazon.com/AmazonS3/latest/API/}.
 */
final class S3Uploads {

    private static final String MARK = "x-amz-meta-penstock-write";
    private static final Pattern UPLOAD_ID = Pattern.compile("<UploadId>([^<]{1,4096})</UploadId>");
    private static final Pattern CODE = Pattern.compile("<Error>.{0,1000}?<Code>([^<]{1,100})</Code>", Pattern.DOTALL);
    private static final int OK = 200;
    private static final int NO_CONTENT = 204;
    private static final int NOT_FOUND = 404;
    /** A condition that does not hold, or cannot be looked at since another write is under way. */
    private static final Set<Integer> REFUSED = Set.of(NOT_FOUND, 409, 412);

    private static final int NOT_IMPLEMENTED = 501;
    private static final Set<Integer> REFUSED_OR_UNKNOWN = Set.of(NOT_FOUND, 409, 412, NOT_IMPLEMENTED);
    /** The result of a request whose condition the server does not know. */
    private static final String UNKNOWN = "unknown";

    private final S3Objects objects;
    private final Requests requests;

    S3Uploads(S3Objects objects, Requests requests) {
        this.objects = objects;
        this.requests = requests;
    }

    private <T> T send(String method, String key, Map<String, String> parameters, Map<String, String> headers,
            BodyPublisher body, Set<Integer> answers, Requests.Reading<T> reading) throws IOException {
        return objects.inRegion(key, () -> requests.send(method, objects.target(key, new TreeMap<>(parameters)),
                headers, body, answers, reading));
    }

    private static String text(HttpResponse<byte[]> answer) {
        return new String(answer.body(), StandardCharsets.UTF_8);
    }

    /**
     * The object to replace, or none: without the right to list the bucket, S3 denies what is absent.
     *
     * @throws FileAlreadyExistsException if there is one and it is not to be replaced
     */
    FileInfo before(String key, IfExists ifExists) throws IOException {
        try {
            HttpHeaders headers = head(key);
            if (ifExists == IfExists.FAIL) {
                throw exists(key);
            }
            return new FileInfo(EntryKind.FILE, headers.firstValueAsLong("Content-Length").orElse(0),
                    ObjectVersion.of(headers));
        } catch (NoSuchFileException | AccessDeniedException _) {
            return FileInfo.ABSENT;
        }
    }

    FileAlreadyExistsException exists(String key) {
        return new FileAlreadyExistsException(name(key), null, StagingFolder.NOT_REPLACED);
    }

    private HttpHeaders head(String key) throws IOException {
        return objects.inRegion(key, () -> requests.head(objects.target(key, Map.of())));
    }

    /** Begins an upload of several parts, and returns its id. Whoever begins it completes or aborts it. */
    String begin(String key, String mark) throws IOException {
        return send("POST", key, Map.of("uploads", ""), Map.of(MARK, mark), BodyPublishers.noBody(), Set.of(),
                answer -> {
                    Matcher id = UPLOAD_ID.matcher(text(answer));
                    if (!id.find()) {
                        throw new IOException(name(key) + ": the server begins no upload: no UploadId in its answer");
                    }
                    return id.group(1).replace("&amp;", "&");
                });
    }

    /**
     * Sends a part.
     *
     * @param number counted from 1
     * @return the part's ETag
     */
    String part(String key, String id, int number, FileRange part) throws IOException {
        return send("PUT", key, Map.of("partNumber", Integer.toString(number), "uploadId", id), digestOf(part),
                part.publisher(), Set.of(), answer -> answer.headers().firstValue("ETag").orElseThrow(() ->
                        new FileSystemException(name(key), null, "no ETag in the answer to part " + number)));
    }

    private static Map<String, String> digestOf(FileRange part) throws IOException {
        MessageDigest sha256 = Sha256.digest();
        part.forEach(sha256::update);
        return Map.of(AwsSignature.BODY_SHA256, Sha256.hex(sha256));
    }

    /**
     * Makes an object of an upload's parts.
     *
     * @param etags the parts, in order
     * @param before what the object is now; absent if there must be none
     * @throws FileSystemException if it is something else meanwhile
     */
    void complete(String key, String id, Collection<String> etags, String mark, FileInfo before) throws IOException {
        StringBuilder xml = new StringBuilder("<CompleteMultipartUpload"
                + " xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
        int number = 1;
        for (String etag : etags) {
            xml.append("<Part><PartNumber>").append(number++).append("</PartNumber><ETag>")
                    .append(etag.replace("&", "&amp;").replace("<", "&lt;")).append("</ETag></Part>");
        }
        String body = xml.append("</CompleteMultipartUpload>").toString();
        commit("POST", key, Map.of("uploadId", id), Map.of(AwsSignature.BODY_SHA256, AwsSignature.sha256(body)),
                BodyPublishers.ofString(body), mark, before);
    }

    /** Writes an object by one request, as {@link #complete} does. */
    void put(String key, FileRange content, String mark, FileInfo before) throws IOException {
        Map<String, String> headers = new HashMap<>(digestOf(content));
        headers.put(MARK, mark);
        commit("PUT", key, Map.of(), headers, content.publisher(), mark, before);
    }

    private void commit(String method, String key, Map<String, String> parameters, Map<String, String> headers,
            BodyPublisher body, String mark, FileInfo before) throws IOException {
        Map<String, String> all = new HashMap<>(headers);
        if (objects.hasConditions()) {
            if (before.kind() == EntryKind.ABSENT) {
                all.put("If-None-Match", "*");
            } else {
                ObjectVersion.require(before.version(), all);
            }
        } else {
            requireStill(key, mark, before);
        }
        Set<Integer> answers = all.size() > headers.size() ? REFUSED_OR_UNKNOWN : REFUSED;
        String refusal = send(method, key, parameters, all, body, answers, answer -> {
            if (answer.statusCode() == NOT_IMPLEMENTED) {
                return UNKNOWN;
            }
            Matcher code = CODE.matcher(text(answer));
            String error = code.find() ? code.group(1) : "";
            if (answer.statusCode() == OK && !error.isEmpty()) {
                // The server answers before it knows: it failed later, and may be asked again.
                throw new IOException(name(key) + ": status 200, and then the error " + error);
            }
            return answer.statusCode() == OK ? "" : "status " + answer.statusCode() + " " + error;
        });
        if (refusal.equals(UNKNOWN)) {
            objects.forgetConditions();
            commit(method, key, parameters, headers, body, mark, before);
            return;
        }
        if (refusal.isEmpty() || isOf(key, mark)) {
            return;
        }
        throw changed(key, before, refusal.strip());
    }

    /** Looks whether an object is what it was, for a server that does not do it itself. */
    private void requireStill(String key, String mark, FileInfo before) throws IOException {
        HttpHeaders now;
        try {
            now = head(key);
        } catch (NoSuchFileException | AccessDeniedException _) {
            return;
        }
        boolean isOther = before.kind() == EntryKind.ABSENT || ObjectVersion.isOther(before.version(), now);
        if (isOther && !now.firstValue(MARK).filter(mark::equals).isPresent()) {
            throw changed(key, before, "its ETag is " + ObjectVersion.of(now));
        }
    }

    private FileSystemException changed(String key, FileInfo before, String found) {
        if (before.kind() == EntryKind.ABSENT) {
            return new FileAlreadyExistsException(name(key), null, "was written by another writer meanwhile (" + found
                    + ")");
        }
        return new FileSystemException(name(key), null, "was replaced by another writer meanwhile (" + found + ")");
    }

    /** Tells whether an object was written by the write of a mark. */
    boolean isOf(String key, String mark) throws IOException {
        try {
            return head(key).firstValue(MARK).filter(mark::equals).isPresent();
        } catch (NoSuchFileException | AccessDeniedException _) {
            return false;
        }
    }

    /** Ends an upload, whose parts are deleted. It may be completed or gone. */
    void abort(String key, String id) throws IOException {
        delete(key, Map.of("uploadId", id));
    }

    /** Deletes an object. Deleting one that does not exist has no effect. */
    void delete(String key) throws IOException {
        delete(key, Map.of());
    }

    private void delete(String key, Map<String, String> parameters) throws IOException {
        send("DELETE", key, parameters, Map.of(), BodyPublishers.noBody(), Set.of(NO_CONTENT, NOT_FOUND),
                HttpResponse::statusCode);
    }

    private String name(String key) {
        return objects.root() + key;
    }
}
