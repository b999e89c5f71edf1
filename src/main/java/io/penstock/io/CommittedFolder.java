package io.penstock.io;

import io.penstock.json.Json;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * The folder {@code .NAME.committed} next to a store. It holds the new files from the commit until their last rename.
 * One rename creates it with all files in it: that is the commit.
 *
 * <p>A reader looks for each file in this folder first and then in its final place. So it finds the new store at every
 * step, even if the writer was killed and the file system is read-only. The next writer finishes the moves.
 *
 * <p>Files leave the folder by length of name, longest first. A sidecar's name is the file's name plus an ending, so a
 * file in its final place already has its checksums there.
 *
 * <p>The file {@code .NAME.surplus} lists the files that the new store no longer has, as a JSON array. They are
 * deleted; readers ignore them.
 */
public final class CommittedFolder {

    private static final String ENDING = ".committed";
    private static final String SURPLUS_ENDING = ".surplus";
    private static final long MAX_SURPLUS_BYTES = 64L << 20;

    private CommittedFolder() {
    }

    /**
     * Returns the committed folder of a store.
     *
     * @param store the path it is written as: a file, a Megatron prefix, a shard pattern
     * @return the folder's path; it need not exist
     */
    public static Path of(Path store) {
        return store.resolveSibling("." + store.getFileName() + ENDING);
    }

    /**
     * Returns where a file is now.
     *
     * @param file its final path
     * @return its path in a committed folder if it is in one, otherwise its final path
     */
    static Path locate(Path file) {
        if (file.getFileName() == null) {
            return file;
        }
        String name = file.getFileName().toString();
        for (String store : StoreNames.of(name)) {
            Path committed = file.resolveSibling("." + store + ENDING).resolve(name);
            if (Files.exists(committed)) {
                return committed;
            }
        }
        return file;
    }

    /**
     * Tells whether a path has a committed folder's name.
     *
     * @param folder the path
     * @return true if it does
     */
    public static boolean isName(Path folder) {
        String name = folder.getFileName() == null ? "" : folder.getFileName().toString();
        return name.startsWith(".") && name.endsWith(ENDING) && name.length() > 1 + ENDING.length();
    }

    /**
     * Returns the store of a committed folder.
     *
     * @param committed the folder
     * @return the path that the store is written as
     */
    public static Path storeOf(Path committed) {
        return committed.resolveSibling(nameOf(committed));
    }

    private static String nameOf(Path committed) {
        String name = committed.getFileName().toString();
        return name.substring(1, name.length() - ENDING.length());
    }

    /**
     * Lists the regular files of a folder as readers see them: with those in committed folders, without surplus ones.
     *
     * @return their names, unordered
     */
    static List<String> files(Path folder, Predicate<String> chosen) throws IOException {
        List<Path> found = list(folder, path -> isName(path) || chosen.test(path.getFileName().toString()));
        List<Path> committed = found.stream().filter(CommittedFolder::isName).filter(Files::isDirectory).toList();
        if (!committed.isEmpty()) {
            return filesWith(committed, folder, chosen);
        }
        return found.stream().filter(path -> chosen.test(path.getFileName().toString()) && Files.isRegularFile(path))
                .map(path -> path.getFileName().toString()).toList();
    }

    private static List<String> filesWith(List<Path> committed, Path folder, Predicate<String> chosen)
            throws IOException {
        Set<String> names = new TreeSet<>();
        Set<String> surplus = new LinkedHashSet<>();
        // Files move from committed folders to their final places, never back: this order misses none.
        for (Path each : committed) {
            for (Path file : listIfThere(each)) {
                if (chosen.test(file.getFileName().toString()) && !file.equals(surplusIn(each))) {
                    names.add(file.getFileName().toString());
                }
            }
            surplus.addAll(surplusOf(each));
        }
        for (Path file : list(folder, path -> chosen.test(path.getFileName().toString())
                && !surplus.contains(path.getFileName().toString()) && Files.isRegularFile(path))) {
            names.add(file.getFileName().toString());
        }
        return List.copyOf(names);
    }

    private static List<Path> listIfThere(Path committed) throws IOException {
        try {
            return list(committed, _ -> true);
        } catch (NoSuchFileException _) {
            return List.of();
        }
    }

    /**
     * Returns the path of the list of files that a store no longer has.
     *
     * @param committed the store's committed folder
     * @return the list's path; it need not exist
     */
    public static Path surplusIn(Path committed) {
        return committed.resolve("." + nameOf(committed) + SURPLUS_ENDING);
    }

    /**
     * Reads the list of files that a store no longer has.
     *
     * @param committed the store's committed folder
     * @return their names; empty if the list is gone, because the files are gone then too
     * @throws IOException if the list cannot be read or is malformed
     */
    public static List<String> surplusOf(Path committed) throws IOException {
        Path list = surplusIn(committed);
        if (!Files.isRegularFile(list)) {
            return List.of();
        }
        try {
            if (Files.size(list) > MAX_SURPLUS_BYTES) {
                throw new MalformedStoreException(list, Files.size(list) + " bytes", "at most " + MAX_SURPLUS_BYTES);
            }
            List<String> names = new ArrayList<>();
            for (Object name : Json.array(Json.parse(RegularFile.readAllBytes(list)))) {
                if (!(name instanceof String text)) {
                    throw new IllegalArgumentException("the name " + name + ", expected a string");
                }
                names.add(InnerPath.in(committed, text).getFileName().toString());
            }
            return names;
        } catch (NoSuchFileException _) {
            return List.of();
        } catch (IllegalArgumentException e) {
            throw new MalformedStoreException(list, e);
        }
    }

    /**
     * Lists a folder.
     *
     * @param folder the folder
     * @param chosen selects files and folders
     * @return their paths, unordered
     * @throws IOException if the folder cannot be read
     */
    public static List<Path> list(Path folder, Predicate<Path> chosen) throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(folder, chosen::test)) {
            all.forEach(found::add);
        } catch (DirectoryIteratorException e) {
            throw new IOException(folder + ": the folder cannot be read: " + e.getCause().getMessage(), e.getCause());
        }
        return found;
    }
}
