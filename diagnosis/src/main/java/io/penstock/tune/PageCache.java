// SPDX-License-Identifier: Apache-2.0
package io.penstock.tune;

import io.penstock.io.Advice;
import io.penstock.io.MappedFile;
import io.penstock.io.local.RegularFile;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A store's files and whether they are in the OS page cache. That decides what a read measurement means, so report both
 * together.
 */
public final class PageCache {

    private static final int SAMPLES = 256;
    private static final double DROPPED_SHARE = 0.02;

    private final List<Path> files;

    private PageCache(List<Path> files) {
        this.files = List.copyOf(files);
    }

    /**
     * {@return the files of stores, each once: the file itself, all files in a folder, or for a prefix all files whose
     * names start with it and a dot} Files elsewhere, such as the parts that a manifest lists, are to be given too.
     *
     * @param stores paths as for opening a store
     * @throws IOException if a folder cannot be listed
     */
    public static PageCache of(List<Path> stores) throws IOException {
        List<Path> files = new ArrayList<>();
        for (Path store : stores) {
            if (Files.isRegularFile(store)) {
                files.add(store);
                continue;
            }
            boolean isFolder = Files.isDirectory(store);
            Path folder = isFolder ? store : store.toAbsolutePath().getParent();
            try (Stream<Path> all = isFolder ? Files.walk(folder) : Files.list(folder)) {
                all.filter(file -> isFolder || file.getFileName().toString().startsWith(store.getFileName() + "."))
                        .filter(Files::isRegularFile).sorted().forEach(files::add);
            }
        }
        Set<Path> known = new HashSet<>();
        files.removeIf(file -> !known.add(file.toAbsolutePath().normalize()));
        return new PageCache(files);
    }

    /**
     * {@return the total bytes of the files}
     *
     * @throws IOException if one is missing
     */
    public long byteSize() throws IOException {
        long bytes = 0;
        for (Path file : files) {
            bytes += Files.size(file);
        }
        return bytes;
    }

    /**
     * {@return the resident share of the files, 0 to 1, from a sample of their pages; 1 if the OS cannot tell}
     *
     * @throws IOException if one cannot be opened
     */
    public double residency() throws IOException {
        double resident = 0;
        long bytes = 0;
        for (Path path : files) {
            try (MappedFile file = MappedFile.open(path)) {
                resident += file.residency(SAMPLES) * file.byteSize();
                bytes += file.byteSize();
            }
        }
        return bytes == 0 ? 1 : resident / bytes;
    }

    /**
     * Drops the files' pages from the page cache, by {@code fsync} and {@code posix_fadvise}, and verifies it. No
     * process, including this one, may have them mapped or read them meanwhile.
     *
     * @throws IOException if pages of a file stay; names the file
     */
    public void drop() throws IOException {
        for (Path path : files) {
            try (FileChannel channel = RegularFile.open(path)) {
                channel.force(false);
            }
            try (MappedFile file = MappedFile.open(path)) {
                file.advise(Advice.DONT_NEED, 0, file.byteSize());
                double stays = file.byteSize() == 0 ? 0 : file.residency(SAMPLES);
                if (stays > DROPPED_SHARE) {
                    throw new IOException(path + ": " + Math.round(100 * stays) + " % of its pages stayed in the page"
                            + " cache after dropping it, expected none: is it open elsewhere, or on an in-memory file"
                            + " system?");
                }
            }
        }
    }

    @Override
    public String toString() {
        return NumberText.count(files.size(), "file");
    }
}
