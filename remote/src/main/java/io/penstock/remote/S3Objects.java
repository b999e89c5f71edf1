// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.io.FileInfo;
import io.penstock.io.FileInfo.EntryKind;
import io.penstock.remote.cache.ObjectReader;
import io.penstock.remote.cache.RemoteObject;
import java.io.IOException;
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

    private static final System.Logger LOG = System.getLogger(S3Objects.class.getName());
    private static final int PAGE_KEYS = 1000;

    private final Requests requests;
    private final String bucket;
    private final S3Access access;
    private volatile boolean hasConditions = true;

    S3Objects(Requests requests, String bucket, S3Access access) {
        this.requests = requests;
        this.bucket = bucket;
        this.access = access;
    }

    @Override
    public String root() {
        return "s3://" + bucket + "/";
    }

    @Override
    public String scope() {
        return access.scope();
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

    /** Tells whether requests that write may have conditions: until the server has said that it knows none. */
    boolean hasConditions() {
        return hasConditions;
    }

    void forgetConditions() {
        if (hasConditions) {
            LOG.log(System.Logger.Level.WARNING, () -> root() + ": the server knows no conditional writes (status 501"
                    + " for If-None-Match or If-Match): of two writers of one object the last one wins");
        }
        hasConditions = false;
    }

    @Override
    public S3Uploads uploads() {
        return new S3Uploads(this, requests);
    }

    @Override
    public FileInfo info(String path) throws IOException {
        if (!path.isEmpty() && !path.endsWith("/")) {
            try {
                Requests.Target target = target(path, Map.of());
                return inRegion(path, () -> requests.info(target, requests.head(target)));
            } catch (NoSuchFileException _) {
                // perhaps a folder
            } catch (AccessDeniedException e) {
                throw new AccessDeniedException(e.getFile(), null, e.getReason() + "; it may be missing: without the"
                        + " right to list the bucket (s3:ListBucket), S3 denies what is not there");
            }
        }
        // Two: an object may stand for the folder itself.
        boolean isFolder = !page(prefix(path), 2, null).entries().isEmpty();
        return isFolder ? new FileInfo(EntryKind.FOLDER, 0, "") : FileInfo.ABSENT;
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
