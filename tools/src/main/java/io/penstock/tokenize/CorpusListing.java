// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.InnerLinks;
import io.penstock.io.local.HiddenNames;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The files of a corpus.
 *
 * @param files in reading order
 * @param skippedLinks number of links in folders that were left out
 */
record CorpusListing(List<CorpusFile> files, long skippedLinks) {

    /**
     * Lists the files of files and folders, in the order given. A folder's files are sorted by the bytes of their
     * paths, without {@linkplain HiddenNames hidden} ones. Of the links in a folder, those in {@link InnerLinks}
     * are included.
     *
     * @param followLinks whether to follow the other links in folders too
     * @throws MalformedStoreException if a file is missing, or a folder has nothing to read
     * @throws IOException if an input is neither a file nor a folder, or cannot be read
     */
    static CorpusListing of(List<Path> inputs, boolean followLinks) throws IOException {
        List<CorpusFile> files = new ArrayList<>();
        long skipped = 0;
        for (Path input : inputs) {
            if (!Files.isDirectory(input)) {
                files.add(CorpusFile.of(input));
                continue;
            }
            Walk walk = new Walk(input, followLinks);
            if (walk.paths.isEmpty()) {
                throw new MalformedStoreException(input, "found no files in this folder" + (walk.skipped == 0 ? ""
                        : ", but " + walk.skipped + " links to folders, to files outside of it, or to nothing"
                        + " (--follow-links follows them)"));
            }
            for (Path path : walk.paths) {
                files.add(CorpusFile.of(path));
            }
            skipped += walk.skipped;
        }
        return new CorpusListing(List.copyOf(files), skipped);
    }

    /** {@return the bytes to read from disk} */
    long storedBytes() {
        return files.stream().mapToLong(file -> file.end() - file.start()).sum();
    }

    /**
     * {@return the files, or the lines of them, that are in a shard} The shards are equal ranges of the bytes of all
     * files, one after another. A file of uncompressed JSON lines is cut: each line is in the shard in which it starts.
     * Any other file is in the shard in which it starts. So the documents of all shards, in order, are those of the
     * whole.
     *
     * @throws IOException if a file cannot be read
     */
    CorpusListing shard(CorpusShard shard) throws IOException {
        long total = files.stream().mapToLong(CorpusFile::storedBytes).sum();
        long from = shard.start(total);
        long to = shard.end(total);
        List<CorpusFile> chosen = new ArrayList<>();
        long before = 0;
        for (CorpusFile file : files) {
            if (file.isDivisible()) {
                CorpusFile lines = file.lines(from - before, to - before);
                if (lines.start() < lines.end()) {
                    chosen.add(lines);
                }
            } else if (before >= from && (before < to || before == total && shard.isLast())) {
                chosen.add(file);
            }
            before += file.storedBytes();
        }
        return new CorpusListing(chosen, skippedLinks);
    }

    /** Adds the names and sizes of all files to a digest: what must be the same wherever shards are made. */
    void addTo(MessageDigest digest) {
        for (CorpusFile file : files) {
            digest.update((file.path().getFileName() + "\0" + file.storedBytes() + "\n")
                    .getBytes(StandardCharsets.UTF_8));
        }
    }

    private static final class Walk extends SimpleFileVisitor<Path> {

        private final InnerLinks links;
        private final boolean followLinks;
        private final Path real;
        private final List<Path> paths = new ArrayList<>();
        private long skipped;

        Walk(Path folder, boolean followLinks) throws IOException {
            this.links = InnerLinks.of(folder);
            this.followLinks = followLinks;
            // The folder itself may be a link.
            this.real = links.realRoot();
            Files.walkFileTree(real, followLinks ? EnumSet.of(FileVisitOption.FOLLOW_LINKS) : Set.of(),
                    Integer.MAX_VALUE, this);
            paths.replaceAll(path -> folder.resolve(real.relativize(path)));
            paths.sort(Comparator.comparing(path -> path.toString().getBytes(StandardCharsets.UTF_8),
                    Arrays::compareUnsigned));
        }

        @Override
        public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) {
            return !path.equals(real) && HiddenNames.isHidden(path.getFileName().toString())
                    ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) throws IOException {
            if (HiddenNames.isHidden(path.getFileName().toString(),
                    sibling -> Files.exists(path.resolveSibling(sibling)))) {
                return FileVisitResult.CONTINUE;
            }
            if (attributes.isSymbolicLink() && !followLinks && !links.leadToFile(path)) {
                skipped++;
            } else {
                paths.add(path);
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path path, IOException e) throws IOException {
            if (e instanceof FileSystemLoopException) {
                throw new MalformedStoreException(path, "found a link to a folder above it, expected no cycle", e);
            }
            throw e;
        }
    }
}
