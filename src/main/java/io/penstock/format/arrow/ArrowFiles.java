package io.penstock.format.arrow;

import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.index.JsonFile;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which files a table is made of: one file; the files that Hugging Face's {@code save_to_disk} lists in
 * {@code state.json}, or those of one split in a folder with {@code dataset_dict.json}; or all {@code .arrow} files
 * of a folder that belong together by name.
 *
 * @param paths the files, in the order of their rows
 * @param isFolder whether a folder was given
 */
record ArrowFiles(List<Location> paths, boolean isFolder) {

    private static final String STATE = "state.json";
    private static final String SPLITS = "dataset_dict.json";
    private static final String ENDING = ".arrow";
    /** {@code name-00003-of-00010.arrow}. */
    private static final Pattern SHARD = Pattern.compile("(.*)-(\\d{5,9})-of-(\\d{5,9})\\.arrow");
    private static final long MAX_JSON_BYTES = 64 << 20;

    /** Whether a folder has what only a saved dataset has. */
    static boolean isDataset(Location folder) throws IOException {
        return folder.resolve(SPLITS).isFile() || folder.resolve(STATE).isFile();
    }

    /**
     * Finds the files of a table.
     *
     * @param path a file or a folder
     * @param member the split that is wanted of several; null if there is one
     */
    static ArrowFiles of(Location path, String member) throws IOException {
        if (!path.isFolder()) {
            if (member != null) {
                throw new IllegalArgumentException(path + ": one file has no splits, '" + member + "' was told");
            }
            return new ArrowFiles(List.of(path), false);
        }
        if (path.resolve(SPLITS).isFile()) {
            Location split = path.resolve(choose(path, splits(path.resolve(SPLITS)), member));
            return new ArrowFiles(saved(split), true);
        }
        if (path.resolve(STATE).isFile()) {
            if (member != null) {
                throw new IllegalArgumentException(path + ": a dataset without splits, '" + member + "' was told");
            }
            return new ArrowFiles(saved(path), true);
        }
        return new ArrowFiles(named(path, member), true);
    }

    private static String choose(Location path, List<String> splits, String member) throws IOException {
        if (member == null ? splits.size() != 1 : !splits.contains(member)) {
            throw new MalformedStoreException(path, member == null ? "the splits " + splits : "no split '" + member
                    + "'", member == null ? "the one that is wanted to be told" : "one of " + splits);
        }
        return member == null ? splits.getFirst() : member;
    }

    private static <T> T read(Location file, JsonFile.Reader<T> reader) throws IOException {
        if (!file.isFile()) {
            throw new MalformedStoreException(file, "no such file", "what save_to_disk writes");
        }
        return JsonFile.read(file, "what save_to_disk writes", MAX_JSON_BYTES, reader);
    }

    /** Names, each of which is a file or folder right here: no path leads anywhere else. */
    private static List<String> names(Location file, List<String> names) {
        if (names.isEmpty() || new HashSet<>(names).size() < names.size()) {
            throw new IllegalArgumentException("the names " + names + ", expected one or more, each once");
        }
        names.forEach(name -> file.parent().in(name));
        return names;
    }

    private static List<String> splits(Location file) throws IOException {
        return read(file, fields -> names(file, fields.texts("splits")));
    }

    private static List<Location> saved(Location folder) throws IOException {
        Location state = folder.resolve(STATE);
        return read(state, fields -> {
            for (String indices : List.of("_indices_files", "_indices_data_files")) {
                if (fields.takeIfThere(indices) instanceof List<?> list && !list.isEmpty()) {
                    throw fields.wrong(indices, "rows that are chosen",
                            "a dataset saved with its rows in order (flatten_indices)");
                }
            }
            return names(state, fields.objects("_data_files").stream().map(file -> file.text("filename")).toList())
                    .stream().map(folder::resolve).toList();
        });
    }

    /** The files of a folder without a list: those of one name, in the order of their shards. */
    private static List<Location> named(Location folder, String member) throws IOException {
        Map<String, TreeMap<String, Location>> groups = new TreeMap<>();
        Map<String, Integer> shards = new TreeMap<>();
        for (Location file : folder.files(name -> name.endsWith(ENDING))) {
            String name = file.name();
            Matcher shard = SHARD.matcher(name);
            String stem = shard.matches() ? shard.group(1) : name.substring(0, name.length() - ENDING.length());
            if (shard.matches()) {
                shards.put(stem, Integer.parseInt(shard.group(3)));
            }
            groups.computeIfAbsent(stem, _ -> new TreeMap<>()).put(name, file);
        }
        if (groups.isEmpty()) {
            throw new MalformedStoreException(folder, "a folder without " + ENDING + " files", "at least one");
        }
        String chosen = choose(folder, List.copyOf(groups.keySet()), member);
        List<Location> files = List.copyOf(groups.get(chosen).values());
        if (shards.containsKey(chosen) && shards.get(chosen) != files.size()) {
            throw new MalformedStoreException(folder, files.size() + " files of '" + chosen + "'",
                    shards.get(chosen) + ", as their names say");
        }
        return files;
    }
}
