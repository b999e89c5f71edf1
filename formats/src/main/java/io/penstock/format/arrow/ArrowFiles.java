// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.table.Partitions;
import io.penstock.format.table.ShardFiles;
import io.penstock.io.FileInfo.EntryKind;
import io.penstock.io.Location;
import io.penstock.io.publish.JsonFile;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds the files of a table: one file; the files that Hugging Face's {@code save_to_disk} lists in {@code state.json},
 * perhaps of one split in a folder with {@code dataset_dict.json}; or the {@code .arrow} files of a folder with a
 * common name.
 */
final class ArrowFiles {

    static final String ENDING = ".arrow";
    private static final String STATE = "state.json";
    private static final String SPLITS = "dataset_dict.json";
    private static final long MAX_JSON_BYTES = 64 << 20;

    static boolean isDataset(Location folder) throws IOException {
        return folder.resolve(SPLITS).isFile() || folder.resolve(STATE).isFile();
    }

    /**
     * Returns the files of a table in the order of their rows; {@code member} is the wanted split, null if there is
     * one.
     */
    static Partitions.Files of(Location path, @Nullable String member) throws IOException {
        if (!path.isFolder()) {
            if (member != null) {
                throw new IllegalArgumentException(path + ": one file has no splits, found '" + member + "'");
            }
            return Partitions.Files.of(List.of(path));
        }
        Location splits = path.resolve(SPLITS);
        if (splits.isFile()) {
            List<String> names = read(splits, fields -> names(splits, fields.texts("splits")));
            return Partitions.Files.of(saved(path.resolve(ShardFiles.choose(path, names, member))));
        }
        if (path.resolve(STATE).isFile()) {
            if (member != null) {
                throw new IllegalArgumentException(path + ": a dataset without splits, found '" + member + "'");
            }
            return Partitions.Files.of(saved(path));
        }
        return Partitions.Files.of(path, ENDING, name -> name, member);
    }

    private static <T> T read(Location file, JsonFile.FieldsReader<T> reader) throws IOException {
        if (file.infoOfNamed().kind() != EntryKind.FILE) {
            throw new MalformedStoreException(file, "no such file", "what save_to_disk writes");
        }
        return JsonFile.read(file, "what save_to_disk writes", MAX_JSON_BYTES, reader);
    }

    /** Checks that each name is a file or folder in this folder, not a path. */
    private static List<String> names(Location file, List<String> names) {
        if (names.isEmpty() || new HashSet<>(names).size() < names.size()) {
            throw new IllegalArgumentException("the names " + names + ", expected one or more, each once");
        }
        names.forEach(name -> file.parent().in(name));
        return names;
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
}
