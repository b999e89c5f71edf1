package io.penstock.format.parquet;

import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Which files a table is made of. */
final class ParquetFiles {

    private static final String ENDING = ".parquet";
    /** A file of a set, as the Hugging Face hub names it. */
    private static final Pattern OF_A_SET = Pattern.compile("(.+)-(\\d{5,})-of-(\\d{5,})\\.parquet");

    private ParquetFiles() {
    }

    /**
     * The files of a table.
     *
     * @param path a file, or a folder
     * @param member the set wanted; null if there is but one
     * @return at least one, sorted by name
     * @throws MalformedStoreException if there is none, there are several sets, or the set lacks a file
     */
    static List<Location> of(Location path, String member) throws IOException {
        if (!path.isFolder()) {
            return List.of(path);
        }
        List<Location> files = path.files(name -> name.endsWith(ENDING));
        TreeMap<String, List<Location>> sets = new TreeMap<>();
        for (Location file : files) {
            Matcher matcher = OF_A_SET.matcher(file.name());
            sets.computeIfAbsent(matcher.matches() ? matcher.group(1) : "", _ -> new ArrayList<>()).add(file);
        }
        if (member == null && sets.size() > 1) {
            throw new MalformedStoreException(path, "files of several tables: " + sets.keySet(),
                    "one table, or to be told which");
        }
        List<Location> found = member == null ? files : sets.getOrDefault(member, List.of());
        if (found.isEmpty()) {
            throw new MalformedStoreException(path, "a folder without files " + (member == null ? "*" : member + "-*")
                    + ENDING, "at least one");
        }
        checkComplete(path, found);
        return found;
    }

    private static void checkComplete(Location path, List<Location> files) throws MalformedStoreException {
        Matcher matcher = OF_A_SET.matcher(files.getFirst().name());
        if (matcher.matches() && !matcher.group(3).equals(String.format("%05d", files.size()))) {
            throw new MalformedStoreException(path, files.size() + " files of '" + matcher.group(1) + "'",
                    matcher.group(3) + ", as their names say");
        }
    }
}
