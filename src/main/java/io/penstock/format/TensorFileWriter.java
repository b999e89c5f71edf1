// SPDX-License-Identifier: Apache-2.0
package io.penstock.format;

import io.penstock.io.publish.SpoolFile;
import io.penstock.io.publish.StagingFolder;
import io.penstock.store.IfExists;
import io.penstock.store.integrity.BlockChecksums;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Writes a store of one file atomically, with its checksum sidecar. */
public final class TensorFileWriter {

    private static final int BUFFER_BYTES = 1 << 20;

    @FunctionalInterface
    public interface Content {

        /** Writes all content; the caller flushes and closes the file. */
        void writeTo(SpoolFile file) throws IOException;
    }

    /** Writes a file. */
    public static void write(Path path, IfExists ifExists, Content content) throws IOException {
        try (StagingFolder staging = StagingFolder.open(path)) {
            if (ifExists == IfExists.FAIL) {
                StagingFolder.requireAbsent(path);
                StagingFolder.requireAbsent(BlockChecksums.pathFor(path));
            }
            String name = path.getFileName().toString();
            try (SpoolFile file = new SpoolFile(staging.create(name), path, BUFFER_BYTES)) {
                content.writeTo(file);
                file.force();
            }
            staging.publish(List.of(StagedChecksums.write(staging, name), name));
        }
    }
}
