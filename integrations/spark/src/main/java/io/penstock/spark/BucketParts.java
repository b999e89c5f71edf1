// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.io.FileInfo.EntryKind;
import io.penstock.io.Location;
import io.penstock.remote.RemoteFiles;
import io.penstock.remote.RemoteSettings;
import io.penstock.remote.Upload;
import io.penstock.store.IfExists;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Collection;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A folder of a bucket. Attempts write to the local disk; what is complete is uploaded, each object by one request. */
final class BucketParts extends PartsFolder {

    private static final long serialVersionUID = 1;

    private transient @Nullable RemoteFiles remote;

    BucketParts(String folder, String record) {
        super(folder, record);
    }

    private synchronized RemoteFiles remote() {
        if (remote == null) {
            remote = RemoteFiles.of(RemoteSettings.fromEnvironment());
        }
        return remote;
    }

    @Override
    boolean hasRecord() throws IOException {
        return remote().locate(record()).infoNow().kind() != EntryKind.ABSENT;
    }

    @Override
    void create() {
        // a bucket has no folders
    }

    @Override
    <T> T write(String attempt, Attempt<T> writes) throws IOException {
        try (Upload upload = remote().upload(folder() + "/" + attempt, IfExists.FAIL)) {
            T result = writes.write(upload.path());
            upload.publish();
            return result;
        }
    }

    @Override
    SortedMap<String, Long> entries() throws IOException {
        SortedMap<String, Long> entries = new TreeMap<>();
        for (Location file : remote().locate(folder()).files(_ -> true)) {
            entries.put(file.name(), file.byteSize());
        }
        return entries;
    }

    @Override
    String read(String entry) throws IOException {
        return new String(remote().locate(folder() + "/" + entry).readAllBytes(), StandardCharsets.UTF_8);
    }

    @Override
    void delete(Collection<String> entries) throws IOException {
        for (String entry : entries) {
            remote().delete(folder() + "/" + entry);
        }
    }

    @Override
    void writeRecord(String content, IfExists ifExists) throws IOException {
        try (Upload upload = remote().upload(record(), ifExists)) {
            Files.writeString(upload.path(), content);
            upload.publish();
        }
    }
}
