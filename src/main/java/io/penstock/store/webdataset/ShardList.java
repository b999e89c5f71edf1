package io.penstock.store.webdataset;

import io.penstock.store.MalformedStoreException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

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
     * @throws IOException if there is no such file, or the folder has no tar or cannot be read
     */
    public static List<Path> of(Path path) throws IOException {
        List<Path> shards = new ArrayList<>();
        if (Files.exists(path)) {
            add(path, shards);
            return List.copyOf(shards);
        }
        for (String part : path.toString().split("::")) {
            for (String name : expand(path, part)) {
                Path shard = named(path, name);
                if (!Files.exists(shard)) {
                    throw new NoSuchFileException(shard.toString(), null, "no such file"
                            + (name.equals(path.toString()) ? "" : ", which " + path + " names"));
                }
                add(shard, shards);
            }
        }
        return List.copyOf(shards);
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

    private static void add(Path path, List<Path> shards) throws IOException {
        if (!Files.isDirectory(path)) {
            shards.add(path);
            return;
        }
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(path, ShardList::isShard)) {
            stream.forEach(found::add);
        }
        if (found.isEmpty()) {
            throw new MalformedStoreException(path, "a folder without tars", "files ending in "
                    + Arrays.toString(ENDINGS));
        }
        found.sort((a, b) -> Arrays.compareUnsigned(bytes(a), bytes(b)));
        shards.addAll(found);
    }

    private static byte[] bytes(Path file) {
        return file.getFileName().toString().getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Whether a file is a shard by its name.
     *
     * @param file the file
     * @return whether it is a regular file, not hidden, and its name ends as those of tars do
     */
    public static boolean isShard(Path file) {
        return hasShardName(file) && Files.isRegularFile(file);
    }

    /**
     * Whether a path ends as tars do, or names several by braces or {@code ::}.
     *
     * @param path the path; it may be no file's
     * @return whether its name is that of shards
     */
    public static boolean isShardOrPattern(Path path) {
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
