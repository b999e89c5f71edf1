// SPDX-License-Identifier: Apache-2.0
package io.penstock.crash;

import io.penstock.io.publish.Folder;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/**
 * What is below a folder.
 *
 * @param entries by path below the folder: a file, or null for a folder
 */
record Tree(TreeMap<String, Entry> entries) {

    /**
     * A file.
     *
     * @param bytes its content
     * @param modified when it was last written; null if that does not matter
     */
    record Entry(byte[] bytes, FileTime modified) { }

    static Tree of(Path folder) throws IOException {
        TreeMap<String, Entry> entries = new TreeMap<>();
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path visited, BasicFileAttributes attributes) {
                if (!visited.equals(folder)) {
                    entries.put(folder.relativize(visited).toString(), null);
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                entries.put(folder.relativize(file).toString(),
                        new Entry(Files.readAllBytes(file), attributes.lastModifiedTime()));
                return FileVisitResult.CONTINUE;
            }
        });
        return new Tree(entries);
    }

    /** Makes a folder, which may be there, hold this and nothing else. */
    void restore(Path folder) throws IOException {
        Folder.delete(folder);
        Files.createDirectories(folder);
        for (Map.Entry<String, Entry> each : entries.entrySet()) {
            Path path = folder.resolve(each.getKey());
            if (each.getValue() == null) {
                Files.createDirectories(path);
                continue;
            }
            Files.createDirectories(path.getParent());
            Files.write(path, each.getValue().bytes);
            if (each.getValue().modified != null) {
                Files.setLastModifiedTime(path, each.getValue().modified);
            }
        }
    }

    /** What tells it from others: names and content, without times. Two checksums, each quick to compute. */
    long digest() {
        CRC32 crc32 = new CRC32();
        CRC32C crc32c = new CRC32C();
        entries.forEach((name, entry) -> {
            byte[] head = (name + (entry == null ? "/" : "=" + entry.bytes.length) + "\n").getBytes();
            for (Checksum checksum : new Checksum[] {crc32, crc32c}) {
                checksum.update(head);
                if (entry != null) {
                    checksum.update(entry.bytes);
                }
            }
        });
        return crc32.getValue() << 32 | crc32c.getValue();
    }
}
