// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.io.Location;
import io.penstock.remote.RemoteFiles;
import io.penstock.remote.Upload;
import io.penstock.store.IfExists;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** What a command writes: a local path, or a name in a bucket, which is uploaded when it is whole. */
final class Target implements AutoCloseable {

    private final Path path;
    private final @Nullable Upload upload;

    private Target(Path path, @Nullable Upload upload) {
        this.path = path;
        this.upload = upload;
    }

    /** Returns a target; {@code ifExists} applies to an object of this name, a local path is the command's concern. */
    static Target of(String name, RemoteOptions remote, IfExists ifExists) throws IOException {
        if (!RemoteFiles.isRemote(name)) {
            return new Target(UsageException.valid(() -> Path.of(name)), null);
        }
        if (name.endsWith("/")) {
            throw new UsageException(name + ": a folder, expected the name of a store or file in it");
        }
        try {
            Upload upload = remote.files().upload(name, ifExists);
            return new Target(upload.path(), upload);
        } catch (IllegalArgumentException e) {
            throw new UsageException(String.valueOf(e.getMessage()), e);
        }
    }

    /** Returns this; fails before the work if the folder of the local path is missing. */
    Target inFolder() {
        if (upload == null) {
            UsageException.requireFolder(path.toString(), path);
        }
        return this;
    }

    /** The local path to write. */
    Path path() {
        return path;
    }

    /** Fails before the work if there are objects with these endings that are not to be replaced. */
    void requireAbsent(String... endings) throws IOException {
        if (upload != null) {
            upload.requireAbsent(endings);
        }
    }

    /** Where a written file is read: there, or in the bucket. */
    Location published(Path file) {
        return upload == null ? Location.of(file) : upload.published(file);
    }

    /** The name of a written file, for reports. */
    String shown(Path file) {
        return published(file).toString();
    }

    /** Uploads what was written. */
    void publish(ProgressBar bar) throws IOException {
        if (upload != null) {
            upload.progress((done, total) -> bar.update("upload", done, total)).publish();
        }
    }

    @Override
    public void close() throws IOException {
        if (upload != null) {
            upload.close();
        }
    }
}
