package io.penstock.format.parquet;

import io.penstock.io.MalformedStoreException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
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
    static List<Path> of(Path path, String member) throws IOException {
        if (!Files.isDirectory(path)) {
            return List.of(path);
        }
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(path,
                file -> file.getFileName().toString().endsWith(ENDING) && Files.isRegularFile(file))) {
            stream.forEach(files::add);
        }
        files.sort(null);
        TreeMap<String, List<Path>> sets = new TreeMap<>();
        for (Path file : files) {
            Matcher matcher = OF_A_SET.matcher(file.getFileName().toString());
            sets.computeIfAbsent(matcher.matches() ? matcher.group(1) : "", _ -> new ArrayList<>()).add(file);
        }
        if (member == null && sets.size() > 1) {
            throw new MalformedStoreException(path, "files of several tables: " + sets.keySet(),
                    "one table, or to be told which");
        }
        List<Path> found = member == null ? files : sets.getOrDefault(member, List.of());
        if (found.isEmpty()) {
            throw new MalformedStoreException(path, "a folder without files " + (member == null ? "*" : member + "-*")
                    + ENDING, "at least one");
        }
        checkComplete(path, found);
        return found;
    }

    private static void checkComplete(Path path, List<Path> files) throws MalformedStoreException {
        Matcher matcher = OF_A_SET.matcher(files.getFirst().getFileName().toString());
        if (matcher.matches() && !matcher.group(3).equals(String.format("%05d", files.size()))) {
            throw new MalformedStoreException(path, files.size() + " files of '" + matcher.group(1) + "'",
                    matcher.group(3) + ", as their names say");
        }
    }
}
