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
 * The folder {@code .NAME.committed} beside a store, in which its new files are between the commit and their last
 * rename. That the folder is there is the commit: it appears by one rename, with all files in it.
 *
 * <p>A reader takes each file from the folder if it is there, and from beside it otherwise, so it finds the new store
 * at every step, also if the writer was killed and nobody may write here. The next writer finishes what is left.
 *
 * <p>Files leave the folder in the order of their names' lengths, the longest first. What describes a file is called as
 * the file and an ending; so a file that is in its place has its checksums in their place too.
 *
 * <p>The folder may hold one file more, {@code .NAME.surplus}: the names of files that the new store no longer has, as
 * a JSON array. They are deleted, and to readers they are not there.
 */
public final class CommittedFolder {

    private static final String ENDING = ".committed";
    private static final String SURPLUS_ENDING = ".surplus";
    private static final long MAX_SURPLUS_BYTES = 64L << 20;

    private CommittedFolder() {
    }

    /**
     * The committed folder of a store.
     *
     * @param store the path that the store is written by: its file, Megatron's prefix, the pattern of shards
     * @return the folder's path; there may be none
     */
    public static Path of(Path store) {
        return store.resolveSibling("." + store.getFileName() + ENDING);
    }

    /**
     * Where a file is now.
     *
     * @param file its path in its place
     * @return the path in the committed folder of a store that it may be of, if it is there; otherwise its place
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
     * Whether a path is named as committed folders are.
     *
     * @param folder the path
     * @return whether it is one's
     */
    public static boolean isName(Path folder) {
        String name = folder.getFileName() == null ? "" : folder.getFileName().toString();
        return name.startsWith(".") && name.endsWith(ENDING) && name.length() > 1 + ENDING.length();
    }

    /**
     * The store that a committed folder is of.
     *
     * @param committed the folder
     * @return the path that the store is written by
     */
    public static Path storeOf(Path committed) {
        return committed.resolveSibling(nameOf(committed));
    }

    private static String nameOf(Path committed) {
        String name = committed.getFileName().toString();
        return name.substring(1, name.length() - ENDING.length());
    }

    /**
     * The regular files of a folder, as its stores' readers see them: with those that are in committed folders, without
     * those that a committed store no longer has.
     *
     * @return their names, in no order
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
        // Files go from committed folders to their places, never back: looked for in this order, none is overlooked.
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
     * The list of the files that a store no longer has.
     *
     * @param committed its committed folder
     * @return the list's path; there may be none
     */
    public static Path surplusIn(Path committed) {
        return committed.resolve("." + nameOf(committed) + SURPLUS_ENDING);
    }

    /**
     * The files that a store no longer has.
     *
     * @param committed its committed folder
     * @return their names; none if the list is gone, for then so are they
     * @throws IOException if the list cannot be read, or is malformed
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
     * What is in a folder.
     *
     * @param folder the folder
     * @param chosen tells which of its files and folders are wanted
     * @return their paths, in no order
     * @throws IOException if it cannot be read
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
