// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.remote;

import io.penstock.io.FileInfo;
import io.penstock.io.FileInfo.EntryKind;
import io.penstock.io.cache.ObjectReader;
import io.penstock.io.cache.RemoteObject;
import java.io.IOException;
import java.net.http.HttpHeaders;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The objects of an S3 bucket. A prefix that ends before a slash is a folder. */
final class S3Objects implements ObjectServer {

    /** The header by which AWS says that a bucket is in another region. */
    static final String BUCKET_REGION = "x-amz-bucket-region";

    private static final int PAGE_KEYS = 1000;

    private final Requests requests;
    private final String bucket;
    private final S3Access access;
    /** Whether the bucket has answered with an object: what it then denies is taken for absent. */
    private volatile boolean hasAnswered;

    S3Objects(Requests requests, String bucket, S3Access access) {
        this.requests = requests;
        this.bucket = bucket;
        this.access = access;
    }

    @Override
    public String root() {
        return "s3://" + bucket + "/";
    }

    Requests.Target target(String key, Map<String, String> parameters) {
        return new Requests.Target(root() + key, access.uri(key, UriText.query(parameters)), access::sign);
    }

    /** Sends a request, and again if the bucket is in another region. */
    <T> T inRegion(String path, Retries.Attempt<T> attempt) throws IOException {
        String region = access.region();
        try {
            return attempt.run();
        } catch (OtherRegionException e) {
            if (access.move(region, e.region())) {
                return attempt.run();
            }
            throw new FileSystemException(root() + path, null, "the bucket is in the region " + e.region());
        } catch (AccessDeniedException e) {
            if (access.isAnonymous()) {
                throw new AccessDeniedException(root() + path, null, e.getReason()
                        + "; no credentials were found in the environment or in AWS's configuration files");
            }
            throw e;
        }
    }

    @Override
    public S3Uploads uploads() {
        return new S3Uploads(this, requests);
    }

    @Override
    public FileInfo info(String path) throws IOException {
        if (!path.isEmpty() && !path.endsWith("/")) {
            try {
                HttpHeaders headers = inRegion(path, () -> requests.head(target(path, Map.of())));
                hasAnswered = true;
                return new FileInfo(EntryKind.FILE, headers.firstValueAsLong("Content-Length").orElseThrow(() ->
                        new FileSystemException(root() + path, null, "no size in the answer")),
                        ObjectVersion.of(headers));
            } catch (NoSuchFileException _) {
                // perhaps a folder
            } catch (AccessDeniedException e) {
                // Without the right to list the bucket, S3 denies what is absent.
                if (!hasAnswered) {
                    throw e;
                }
                return FileInfo.ABSENT;
            }
        }
        try {
            // Two: an object may stand for the folder itself.
            boolean isFolder = !page(prefix(path), 2, null).entries().isEmpty();
            return isFolder ? new FileInfo(EntryKind.FOLDER, 0, "") : FileInfo.ABSENT;
        } catch (AccessDeniedException e) {
            if (hasAnswered) {
                return FileInfo.ABSENT;
            }
            throw e;
        }
    }

    private static String prefix(String folder) {
        return folder.isEmpty() || folder.endsWith("/") ? folder : folder + "/";
    }

    @Override
    public Map<String, @Nullable FileInfo> list(String folder) throws IOException {
        Map<String, @Nullable FileInfo> entries = new HashMap<>();
        String token = null;
        do {
            S3Listing page = page(prefix(folder), PAGE_KEYS, token);
            page.entries().forEach((name, info) -> S3Listing.add(entries, name, info));
            token = page.nextToken();
            if (token == null && page.isTruncated()) {
                throw new FileSystemException(root() + prefix(folder), null, "the server lists only a part of the"
                        + " objects and does not say how to ask for the rest (it may not know ListObjectsV2)");
            }
        } while (token != null);
        return entries;
    }

    private S3Listing page(String prefix, int keys, @Nullable String token) throws IOException {
        Map<String, String> parameters = new TreeMap<>(Map.of("list-type", "2", "delimiter", "/", "encoding-type",
                "url", "max-keys", Integer.toString(keys), "prefix", prefix));
        if (token != null) {
            parameters.put("continuation-token", token);
        }
        return inRegion(prefix, () -> {
            Requests.Target target = new Requests.Target(root() + prefix, access.uri("", UriText.query(parameters)),
                    access::sign);
            return S3Listing.parse(target.name(), prefix, requests.text(target).body());
        });
    }

    @Override
    public void read(String path, RemoteObject object, long offset, long bytes, ObjectReader.Sink sink)
            throws IOException {
        try (RangeBody body = new RangeBody(object, offset, bytes, sink)) {
            inRegion(path, () -> {
                requests.read(target(path, Map.of()), body);
                return body;
            });
        }
    }
}
