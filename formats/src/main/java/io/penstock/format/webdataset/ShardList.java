// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.publish.Generation;
import io.penstock.text.BraceExpansion;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The shards of a dataset: a tar, the tars in a folder, or a brace pattern; {@code ::} joins several. */
public final class ShardList {

    private static final String[] ENDINGS = {".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.zstd", ".tzst"};

    private ShardList() {
    }

    /**
     * {@return the shards that a path stands for, in order; at least one}
     *
     * @param path a file; or a folder, for its tars, compressed or not, sorted by the bytes of their names; or a
     *     pattern such as {@code train-{000000..000099}.tar}, each of whose names must be a file or a folder
     * @throws MalformedStoreException if the folder has no tar, or lacks one that a record in it lists
     * @throws IOException if a file is missing or the folder cannot be read
     */
    public static List<Location> of(Location path) throws IOException {
        List<Location> shards = new ArrayList<>();
        for (Location part : parts(path)) {
            switch (part.infoOfNamed().kind()) {
                case FOLDER -> addFolder(part, shards);
                case ABSENT -> throw new NoSuchFileException(part.toString(), null, "no such file"
                        + (part.equals(path) ? "" : ", which " + path + " names"));
                default -> shards.add(part);
            }
        }
        return List.copyOf(shards);
    }

    static Generation generation(Location path) throws IOException {
        List<Location> shards = new ArrayList<>();
        for (Location part : parts(path)) {
            if (part.isFolder()) {
                shards.addAll(part.files(ShardList::hasShardName));
            } else {
                shards.add(part);
            }
        }
        return ShardSets.of(shards).generation();
    }

    private static List<Location> parts(Location path) throws IOException {
        if (path.exists()) {
            return List.of(path);
        }
        List<Location> parts = new ArrayList<>();
        for (String part : path.path().split("::")) {
            for (String name : expand(path, part)) {
                parts.add(new Location(path.source(), name));
            }
        }
        return parts;
    }

    private static List<String> expand(Location path, String part) {
        try {
            return BraceExpansion.expand(part);
        } catch (IllegalArgumentException e) {
            throw new MalformedStoreException(path, "no list of shards (" + e.getMessage() + ")",
                    "a pattern such as train-{000000..000099}.tar");
        }
    }

    /** Adds the shards of a folder, which must include all that the records in it list. */
    private static void addFolder(Location folder, List<Location> shards) throws IOException {
        Set<Location> found = new HashSet<>();
        for (Location file : folder.files(ShardList::isShardOrRecord)) {
            String name = file.name();
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
        found.stream().sorted(Comparator.comparing(file -> file.name().getBytes(StandardCharsets.UTF_8),
                Arrays::compareUnsigned)).forEach(shards::add);
    }

    private static List<Location> recorded(Location folder, ShardRecord record) throws IOException {
        List<Location> named = record.shards().stream().map(shard -> folder.resolve(shard.name())).toList();
        List<String> missing = new ArrayList<>();
        for (int i = 0; i < named.size(); i++) {
            Location shard = named.get(i);
            long expected = record.shards().get(i).bytes();
            try {
                long bytes = shard.byteSize();
                if (bytes != expected) {
                    throw record.other(shard, bytes + " bytes", Long.toString(expected));
                }
            } catch (NoSuchFileException _) {
                missing.add(shard.name());
            }
        }
        if (!missing.isEmpty()) {
            throw record.missing(folder, missing);
        }
        return named;
    }

    /** Tells whether a folder has tars, or a record of some. */
    static boolean isFolderOfTars(Location folder) throws IOException {
        return !folder.files(ShardList::isShardOrRecord).isEmpty();
    }

    private static boolean isShardOrRecord(String name) {
        return hasShardName(name) || ShardRecord.isName(name);
    }

    /** Tells whether a path has the ending of a tar, or names several by braces or {@code ::}. */
    static boolean isShardOrPattern(Location path) throws IOException {
        return hasShardName(path) || !path.exists()
                && Arrays.stream(path.path().split("::")).anyMatch(part -> hasShardName(part)
                && (part.indexOf('{') >= 0 || path.path().contains("::")));
    }

    private static boolean hasShardName(Location file) {
        return hasShardName(file.name());
    }

    /**
     * {@return whether a file of this name is taken for a tar, compressed or not}
     *
     * @param name the file's name, or a pattern of names
     */
    public static boolean hasShardName(String name) {
        return !name.startsWith(".") && Arrays.stream(ENDINGS).anyMatch(name::endsWith);
    }
}
