package io.penstock.tune;

import io.penstock.io.Advice;
import io.penstock.io.MappedFile;
import io.penstock.io.RegularFile;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The files that a store is of, as the OS has them in memory or not. Which it is decides what a measurement of reading
 * says, so that both are told together.
 */
public final class PageCache {

    private static final int SAMPLES = 256;
    private static final double DROPPED_SHARE = 0.02;

    private final List<Path> files;

    private PageCache(List<Path> files) {
        this.files = List.copyOf(files);
    }

    /**
     * The files that are meant by the names of stores: a file itself, all files in a folder, and for a prefix all files
     * whose names begin with it.
     *
     * @param stores as a store is opened by
     * @return the files
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
        return new PageCache(files);
    }

    /**
     * The size of the files.
     *
     * @return bytes
     * @throws IOException if one is gone
     */
    public long byteSize() throws IOException {
        long bytes = 0;
        for (Path file : files) {
            bytes += Files.size(file);
        }
        return bytes;
    }

    /**
     * How much of the files is in memory, by a sample of their pages.
     *
     * @return the share, 0 to 1; 1 where the OS cannot tell
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
     * Has the OS forget the files' pages, by {@code fsync} and {@code posix_fadvise}, and looks whether it did. Nobody
     * may have them mapped and read meanwhile, this process included.
     *
     * @throws IOException if pages stay, and which file's
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
