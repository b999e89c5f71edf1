// SPDX-License-Identifier: Apache-2.0
package io.penstock.format;

import io.penstock.internal.Sha256;
import io.penstock.io.Location;
import io.penstock.io.local.RegularFile;
import io.penstock.io.publish.SpoolFile;
import io.penstock.io.publish.StagingFolder;
import io.penstock.store.integrity.BlockChecksums;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;

/** Checksums of files in a staging folder, to be published with them. */
public final class StagedChecksums {

    /** Writes the sidecar with the block checksums of a file; returns its name. */
    public static String write(StagingFolder staging, String name) throws IOException {
        BlockChecksums checksums = staging.naming(() -> BlockChecksums.compute(Location.of(staging.resolve(name)),
                BlockChecksums.DEFAULT_BLOCK_BYTES, _ -> { }));
        staging.write(name + BlockChecksums.SUFFIX, MemorySegment.ofArray(checksums.toBytes()));
        return name + BlockChecksums.SUFFIX;
    }

    /**
     * Writes a listing in {@code sha256sum} format, one line per file with 64 hexadecimal digits, two spaces and the
     * file's name; returns the digest of each file. Files whose digest is known are not read.
     */
    public static Map<String, String> writeListing(StagingFolder staging, String name, List<String> files,
            Map<String, String> known, LongConsumer progress) throws IOException {
        StringBuilder lines = new StringBuilder();
        Map<String, String> digests = new HashMap<>(known);
        long before = 0;
        for (String file : files) {
            long start = before;
            Path path = staging.resolve(file);
            String hex = digests.get(file);
            if (hex == null) {
                hex = staging.naming(() -> digest(path, done -> progress.accept(start + done)));
                digests.put(file, hex);
            }
            lines.append(line(hex, file));
            before += path.toFile().length();
            progress.accept(before);
        }
        staging.write(name, MemorySegment.ofArray(lines.toString().getBytes(StandardCharsets.UTF_8)));
        return digests;
    }

    /**
     * Returns a line. If its name has a backslash or line break, the name is escaped and the line begins with a
     * backslash.
     */
    private static String line(String hex, String name) {
        String escaped = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r");
        return (escaped.equals(name) ? "" : "\\") + hex + "  " + escaped + "\n";
    }

    private static String digest(Path file, LongConsumer progress) throws IOException {
        long[] done = {0};
        try (InputStream in = RegularFile.newInputStream(file)) {
            return Sha256.hex(in, bytes -> {
                done[0] += bytes;
                progress.accept(done[0]);
            });
        } catch (IOException e) {
            throw SpoolFile.unreadable(file, done[0], e);
        }
    }
}
