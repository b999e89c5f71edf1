// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.megatron;

import io.penstock.io.RegularFile;
import io.penstock.io.Sha256;
import io.penstock.io.publish.SpoolFile;
import io.penstock.io.publish.StagingFolder;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;

/**
 * The checksums of a store's files in {@code sha256sum} format: one line per file with 64 hexadecimal digits, two
 * spaces and the file's name.
 */
final class ChecksumFile {

    private static final int BUFFER_BYTES = 1 << 20;

    private final StagingFolder staging;

    ChecksumFile(StagingFolder staging) {
        this.staging = staging;
    }

    /**
     * Writes and flushes the checksum file; returns the digest of each file. Files whose digest is known are not read.
     */
    Map<String, String> write(String name, List<String> files, Map<String, String> known,
            LongConsumer progress) throws IOException {
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
        MessageDigest sha256 = Sha256.digest();
        byte[] chunk = new byte[BUFFER_BYTES];
        ByteBuffer buffer = ByteBuffer.wrap(chunk);
        long done = 0;
        try (FileChannel channel = RegularFile.open(file)) {
            for (int read = channel.read(buffer.clear()); read > 0; read = channel.read(buffer.clear())) {
                sha256.update(chunk, 0, read);
                done += read;
                progress.accept(done);
            }
        } catch (IOException e) {
            throw SpoolFile.unreadable(file, done, e);
        }
        return Sha256.hex(sha256);
    }
}
