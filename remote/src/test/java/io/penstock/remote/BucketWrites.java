// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import com.sun.net.httpserver.Headers;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The requests that write objects of a bucket, as S3 answers them, with uploads of several parts and conditions. */
final class BucketWrites {

    /**
     * An answer.
     *
     * @param etag the header, or empty
     */
    record Answer(int status, String body, String etag) {

        static Answer error(int status, String code) {
            return new Answer(status, "<Error><Code>" + code + "</Code></Error>", "");
        }
    }

    private static final String MARK = "x-amz-meta-penstock-write";
    private static final Pattern PART = Pattern.compile("<PartNumber>(\\d+)</PartNumber><ETag>([^<]+)</ETag>");

    /** An upload that is not completed. */
    private record Begun(String key, String mark, SortedMap<Integer, byte[]> parts) {
    }

    private final Map<String, byte[]> objects;
    private final Map<String, String> marks = new TreeMap<>();
    private final Map<String, Begun> uploads = new TreeMap<>();
    private final List<String> made = new ArrayList<>();
    private int ids;

    BucketWrites(Map<String, byte[]> objects) {
        this.objects = objects;
    }

    /** The keys of uploads that are neither completed nor aborted. */
    synchronized Set<String> open() {
        Set<String> keys = new TreeSet<>();
        uploads.values().forEach(upload -> keys.add(upload.key));
        return keys;
    }

    /** Ends all uploads, as a rule of the bucket does some days later. */
    synchronized void forget() {
        uploads.clear();
    }

    /** The objects that were made or deleted, in order. */
    synchronized List<String> made() {
        return List.copyOf(made);
    }

    synchronized String mark(String key) {
        return marks.get(key);
    }

    synchronized Answer answer(String method, String key, Map<String, String> query, Headers headers, byte[] body) {
        String id = query.get("uploadId");
        if (method.equals("DELETE") && id != null) {
            return uploads.remove(id) == null ? Answer.error(404, "NoSuchUpload") : new Answer(204, "", "");
        }
        if (method.equals("DELETE")) {
            marks.remove(key);
            made.add("-" + key);
            objects.remove(key);
            return new Answer(204, "", "");
        }
        if (method.equals("POST") && query.containsKey("uploads")) {
            String begun = "upload&" + ids++;
            uploads.put(begun, new Begun(key, headers.getFirst(MARK), new TreeMap<>()));
            return new Answer(200, "<InitiateMultipartUploadResult><UploadId>" + begun.replace("&", "&amp;")
                    + "</UploadId></InitiateMultipartUploadResult>", "");
        }
        if (id == null) {
            return make(key, body, headers.getFirst(MARK), headers);
        }
        Begun upload = uploads.get(id);
        if (upload == null || !upload.key.equals(key)) {
            return Answer.error(404, "NoSuchUpload");
        }
        if (method.equals("PUT")) {
            upload.parts.put(Integer.parseInt(query.get("partNumber")), body);
            return new Answer(200, "", ObjectHost.etag(body));
        }
        Answer answer = complete(upload, new String(body, StandardCharsets.UTF_8), headers);
        if (answer.status == 200) {
            uploads.remove(id);
        }
        return answer;
    }

    private Answer complete(Begun upload, String xml, Headers headers) {
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        Matcher part = PART.matcher(xml);
        int parts = 0;
        while (part.find()) {
            byte[] bytes = upload.parts.get(Integer.parseInt(part.group(1)));
            if (bytes == null || !ObjectHost.etag(bytes).equals(part.group(2)) || Integer.parseInt(part.group(1))
                    != ++parts) {
                return Answer.error(400, "InvalidPart");
            }
            whole.writeBytes(bytes);
        }
        return parts == 0 ? Answer.error(400, "MalformedXML")
                : make(upload.key, whole.toByteArray(), upload.mark, headers);
    }

    private Answer make(String key, byte[] bytes, String mark, Headers headers) {
        byte[] before = objects.get(key);
        String match = headers.getFirst("If-Match");
        if (match != null && before == null) {
            return Answer.error(404, "NoSuchKey");
        }
        if (match != null && !match.equals(ObjectHost.etag(before))
                || "*".equals(headers.getFirst("If-None-Match")) && before != null) {
            return Answer.error(412, "PreconditionFailed");
        }
        objects.put(key, bytes);
        marks.put(key, mark);
        made.add(key);
        return new Answer(200, "", ObjectHost.etag(bytes));
    }
}
