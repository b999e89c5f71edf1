package io.penstock.format.webdataset;

import io.penstock.io.MalformedStoreException;
import io.penstock.io.publish.CommittedFolder;
import io.penstock.io.publish.Generation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The shards of a dataset: a tar, the tars in a folder, or what a pattern with braces names. Several may be joined by
 * {@code ::}.
 */
public final class ShardList {

    private static final String[] ENDINGS = {".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.zstd", ".tzst"};

    private ShardList() {
    }

    /**
     * The shards that a path stands for.
     *
     * @param path a file; or a folder, whose tars are taken, compressed or not, in the order of their names' bytes; or
     *     else a pattern such as {@code train-{000000..000099}.tar}, each of whose names must be a file or a folder
     * @return the shards, in order; at least one
     * @throws MalformedStoreException if the folder has no tar, or lacks one that a record in it names
     * @throws IOException if there is no such file, or the folder cannot be read
     */
    public static List<Path> of(Path path) throws IOException {
        List<Path> shards = new ArrayList<>();
        for (Path part : parts(path)) {
            if (Files.isDirectory(part)) {
                addFolder(part, shards);
            } else if (Files.exists(part) || CommittedFolder.isFile(() -> ShardSets.of(List.of(part)).locate(part))) {
                shards.add(part);
            } else {
                throw new NoSuchFileException(part.toString(), null, "no such file"
                        + (part.equals(path) ? "" : ", which " + path + " names"));
            }
        }
        return List.copyOf(shards);
    }

    /** By which writing of its sets the shards of a path are. */
    static Generation generation(Path path) throws IOException {
        List<Path> shards = new ArrayList<>();
        for (Path part : parts(path)) {
            if (Files.isDirectory(part)) {
                shards.addAll(CommittedFolder.files(part, ShardList::hasShardName));
            } else {
                shards.add(part);
            }
        }
        return ShardSets.of(shards).generation();
    }

    /** The files and folders that a path names. */
    private static List<Path> parts(Path path) throws MalformedStoreException {
        if (Files.exists(path)) {
            return List.of(path);
        }
        List<Path> parts = new ArrayList<>();
        for (String part : path.toString().split("::")) {
            for (String name : expand(path, part)) {
                parts.add(named(path, name));
            }
        }
        return parts;
    }

    private static List<String> expand(Path path, String part) throws MalformedStoreException {
        try {
            return BraceExpansion.expand(part);
        } catch (IllegalArgumentException e) {
            throw new MalformedStoreException(path, "no list of shards (" + e.getMessage() + ")",
                    "a pattern such as train-{000000..000099}.tar");
        }
    }

    private static Path named(Path path, String name) throws MalformedStoreException {
        try {
            return path.getFileSystem().getPath(name);
        } catch (InvalidPathException e) {
            throw new MalformedStoreException(path, "no list of shards (" + e.getMessage() + ")", "names of files");
        }
    }

    /** Adds the shards of a folder, which must be all that the records in it name. */
    private static void addFolder(Path folder, List<Path> shards) throws IOException {
        Set<Path> found = new HashSet<>();
        for (Path file : CommittedFolder.files(folder, ShardList::isShardOrRecord)) {
            String name = file.getFileName().toString();
            if (!ShardRecord.isName(name)) {
                found.add(file);
                continue;
            }
            ShardRecord record = ShardSets.record(
                    folder.resolve(name.substring(0, name.length() - ShardRecord.ENDING.length())));
            if (record != null) {
                found.addAll(recorded(folder, record));
            }
        }
        if (found.isEmpty()) {
            throw new MalformedStoreException(folder, "a folder without tars", "files ending in "
                    + Arrays.toString(ENDINGS));
        }
        List<Path> sorted = new ArrayList<>(found);
        sorted.sort((a, b) -> Arrays.compareUnsigned(bytes(a), bytes(b)));
        shards.addAll(sorted);
    }

    private static List<Path> recorded(Path folder, ShardRecord record) throws IOException {
        List<Path> named = record.shards().stream().map(shard -> folder.resolve(shard.name())).toList();
        ShardSets sets = ShardSets.of(named);
        List<String> missing = new ArrayList<>();
        for (int i = 0; i < named.size(); i++) {
            Path shard = named.get(i);
            long expected = record.shards().get(i).bytes();
            try {
                long bytes = CommittedFolder.open(() -> sets.locate(shard), Files::size);
                if (bytes != expected) {
                    throw record.other(shard, bytes + " bytes", Long.toString(expected));
                }
            } catch (NoSuchFileException _) {
                missing.add(shard.getFileName().toString());
            }
        }
        if (!missing.isEmpty()) {
            throw record.missing(folder, missing);
        }
        return named;
    }

    /** Whether there are tars in a folder, or the record of some. */
    static boolean isFolderOfTars(Path folder) throws IOException {
        return !CommittedFolder.files(folder, ShardList::isShardOrRecord).isEmpty();
    }

    private static boolean isShardOrRecord(String name) {
        return hasShardName(name) || ShardRecord.isName(name);
    }

    private static byte[] bytes(Path file) {
        return file.getFileName().toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Whether a path ends as tars do, or names several by braces or {@code ::}. */
    static boolean isShardOrPattern(Path path) {
        return hasShardName(path) || !Files.exists(path)
                && Arrays.stream(path.toString().split("::")).anyMatch(part -> hasShardName(part)
                && (part.indexOf('{') >= 0 || path.toString().contains("::")));
    }

    private static boolean hasShardName(Path file) {
        return file.getFileName() != null && hasShardName(file.getFileName().toString());
    }

    private static boolean hasShardName(String name) {
        return !name.startsWith(".") && Arrays.stream(ENDINGS).anyMatch(name::endsWith);
    }
}
