// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.io.FileInfo;
import io.penstock.remote.cache.ObjectReader;
import io.penstock.remote.cache.RemoteObject;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The objects of one bucket, or of one server. Thread-safe. */
interface ObjectServer {

    /** What the names of all its objects begin with, for example {@code s3://bucket/}; without credentials. */
    String root();

    /** What it chooses objects by besides their names, without secrets; empty if there is nothing else. */
    default String scope() {
        return "";
    }

    /**
     * The kind, size and version of a path.
     *
     * @throws java.nio.file.AccessDeniedException if the server denies it: it may be there or not
     */
    FileInfo info(String path) throws IOException;

    /**
     * Lists a folder: its files and subfolders, by name. Sizes and versions may be unknown: null.
     *
     * @param folder the path; empty for the root
     */
    Map<String, @Nullable FileInfo> list(String folder) throws IOException;

    /** Reads a range of an object, as an {@link ObjectReader} does. */
    void read(String path, RemoteObject object, long offset, long bytes, ObjectReader.Sink sink) throws IOException;

    /** What writes objects; an {@link IllegalArgumentException} where nothing can be written. */
    default S3Uploads uploads() {
        throw new IllegalArgumentException(root() + ": cannot be written to, expected s3://BUCKET/KEY");
    }
}
