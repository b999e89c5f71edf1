package io.penstock.io.publish;

import io.penstock.io.MalformedStoreException;
import io.penstock.io.RegularFile;
import io.penstock.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
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

    /** Says where a file is now. */
    @FunctionalInterface
    public interface Place {

        /**
         * Looks.
         *
         * @return the path; it need not exist
         */
        Path path();
    }

    /**
     * Opens something at a path.
     *
     * @param <T> what is opened
     */
    @FunctionalInterface
    public interface Opening<T> {

        /**
         * Opens it.
         *
         * @param path where it is
         * @return what was opened
         * @throws IOException if it cannot be
         */
        T open(Path path) throws IOException;
    }

    static Path of(Path store) {
        return store.resolveSibling("." + store.getFileName() + ENDING);
    }

    /**
     * Whether a store is committed, and files of it may not be in their places yet.
     *
     * @param store the path that it is written by
     * @return whether its committed folder is there
     */
    public static boolean exists(Path store) {
        return store.getFileName() != null && Files.isDirectory(of(store));
    }

    /**
     * Where a file of a store is.
     *
     * @param store the path that the store is written by: its file, Megatron's prefix, the pattern of shards
     * @param file the file's path in its place
     * @return the path in the store's committed folder if the file is there, otherwise the path in its place
     */
    public static Path locate(Path store, Path file) {
        if (store.getFileName() == null || file.getFileName() == null) {
            return file;
        }
        Path committed = of(store).resolve(file.getFileName());
        return Files.exists(committed) ? committed : file;
    }

    /**
     * Where the file of a store of one file is.
     *
     * @param file its path in its place
     * @return the path in its committed folder if it is there, otherwise the path in its place
     */
    public static Path locate(Path file) {
        return locate(file, file);
    }

    /**
     * Opens a file where it is. A file that is moved between the look and the opening is looked for again.
     *
     * @param <T> what is opened
     * @param place where the file is
     * @param opening opens it
     * @return what was opened
     * @throws IOException if it cannot be opened where it is
     */
    public static <T> T open(Place place, Opening<T> opening) throws IOException {
        while (true) {
            Path path = place.path();
            try {
                return opening.open(path);
            } catch (IOException e) {
                if (path.equals(place.path())) {
                    throw e;
                }
            }
        }
    }

    /**
     * Opens a file where it is, if there is one. A file that is moved meanwhile is looked for again.
     *
     * @param <T> what is opened
     * @param place where the file is
     * @param opening opens it
     * @return what was opened; null if there is no regular file
     * @throws IOException if there is one and it cannot be opened
     */
    public static <T> T openIfThere(Place place, Opening<T> opening) throws IOException {
        return isFile(place) ? open(place, opening) : null;
    }

    /**
     * Whether there is a regular file.
     *
     * @param place where it is
     * @return whether there is one
     */
    public static boolean isFile(Place place) {
        while (true) {
            Path path = place.path();
            if (Files.isRegularFile(path)) {
                return true;
            }
            if (path.equals(place.path())) {
                return false;
            }
        }
    }

    /**
     * Where a file that describes another one is, such as its checksums.
     *
     * @param file where the other file was opened
     * @param name the name of the file
     * @return the path beside the other file; or the one that it will have, if the other file is in a committed folder
     *     that no longer has it
     */
    public static Path companion(Path file, String name) {
        Path beside = file.resolveSibling(name);
        return isIn(file) && !Files.exists(beside) ? file.getParent().resolveSibling(name) : beside;
    }

    /**
     * Where a file is that was opened before.
     *
     * @param file where it was
     * @return the same path, or its place if it has left its committed folder
     */
    public static Path settled(Path file) {
        return companion(file, file.getFileName().toString());
    }

    /**
     * Where a file is that was opened before, or the one that a writer has committed in its stead.
     *
     * @param file where it was
     * @return the same path; or its place, if it has left its committed folder; or the path in a committed folder that
     *     has a file of that name now
     */
    public static Path now(Path file) {
        String name = file.getFileName().toString();
        if (isIn(file)) {
            return settled(file);
        }
        for (String store : StoreNames.of(name)) {
            Path committed = of(file.resolveSibling(store)).resolve(name);
            if (Files.exists(committed)) {
                return committed;
            }
        }
        return file;
    }

    /**
     * Whether a path leads into a committed folder, where nobody but the writer makes files.
     *
     * @param file the path
     * @return whether its folder is named so
     */
    public static boolean isIn(Path file) {
        Path folder = file.getParent();
        return folder != null && isName(folder);
    }

    private static boolean isName(Path folder) {
        String name = folder.getFileName() == null ? "" : folder.getFileName().toString();
        return name.startsWith(".") && name.endsWith(ENDING) && name.length() > 1 + ENDING.length();
    }

    /** The name of the store that a committed folder is of. */
    private static String storeOf(Path committed) {
        String name = committed.getFileName().toString();
        return name.substring(1, name.length() - ENDING.length());
    }

    /**
     * The regular files of a folder, as its stores' readers see them: with those that are in committed folders, without
     * those that a committed store no longer has.
     *
     * @param folder the folder
     * @param chosen tells by the name which files are wanted
     * @return their paths in their places, in no order
     * @throws IOException if the folder cannot be read
     */
    public static List<Path> files(Path folder, Predicate<String> chosen) throws IOException {
        List<Path> found = Folder.list(folder, path -> isName(path) || chosen.test(path.getFileName().toString()));
        List<Path> committed = found.stream().filter(CommittedFolder::isName).filter(Files::isDirectory).toList();
        if (!committed.isEmpty()) {
            return filesWith(committed, folder, chosen);
        }
        return found.stream().filter(path -> chosen.test(path.getFileName().toString()) && Files.isRegularFile(path))
                .toList();
    }

    private static List<Path> filesWith(List<Path> committed, Path folder, Predicate<String> chosen)
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
        for (Path file : Folder.list(folder, path -> chosen.test(path.getFileName().toString())
                && !surplus.contains(path.getFileName().toString()) && Files.isRegularFile(path))) {
            names.add(file.getFileName().toString());
        }
        return names.stream().map(folder::resolve).toList();
    }

    private static List<Path> listIfThere(Path committed) throws IOException {
        try {
            return Folder.list(committed, _ -> true);
        } catch (NoSuchFileException _) {
            return List.of();
        }
    }

    private static Path surplusIn(Path committed) {
        return committed.resolve("." + storeOf(committed) + SURPLUS_ENDING);
    }

    /** The names of files that a store no longer has; none if the list is gone, for then so are they. */
    private static List<String> surplusOf(Path committed) throws IOException {
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
                names.add(InnerPath.in(committed, String.valueOf(name)).getFileName().toString());
            }
            return names;
        } catch (NoSuchFileException _) {
            return List.of();
        } catch (IllegalArgumentException e) {
            throw new MalformedStoreException(list, e);
        }
    }

    /** The list of what a store no longer has, as a file's name in its committed folder and the bytes of it. */
    static String surplusName(Path store) {
        return "." + store.getFileName() + SURPLUS_ENDING;
    }

    static byte[] surplusBytes(Collection<String> names) {
        return Json.write(List.copyOf(names)).getBytes(StandardCharsets.UTF_8);
    }

    /**
     * The stores beside a file whose committed folder has it, or what describes it.
     *
     * @return the paths that they are written by
     */
    static List<Path> unfinishedWith(Path file, String description) throws IOException {
        List<Path> stores = new ArrayList<>();
        for (Path committed : Folder.list(Folder.of(file), CommittedFolder::isName)) {
            if (Files.exists(committed.resolve(file.getFileName())) || Files.exists(committed.resolve(description))) {
                stores.add(file.resolveSibling(storeOf(committed)));
            }
        }
        return stores;
    }

    /**
     * Moves all files of a committed folder to their places, deletes what the store no longer has, and then the folder.
     * For the one writer that the store has. Does nothing if there is no such folder.
     *
     * @throws IOException if a step fails; the store is then as whole as it was, and the next call goes on
     */
    static void finish(Path committed) throws IOException {
        if (!Files.isDirectory(committed)) {
            return;
        }
        Path folder = committed.getParent();
        Path list = surplusIn(committed);
        List<Path> files = new ArrayList<>(Folder.list(committed, file -> !file.equals(list)));
        files.sort(Comparator.comparingInt((Path file) -> -file.getFileName().toString().length())
                .thenComparing(file -> file.getFileName().toString()));
        int length = -1;
        for (Path file : files) {
            if (length >= 0 && file.getFileName().toString().length() < length) {
                Folder.flush(folder);   // after a power cut too, no file is in its place before what describes it
            }
            length = file.getFileName().toString().length();
            Files.move(file, folder.resolve(file.getFileName()), StandardCopyOption.ATOMIC_MOVE);
        }
        for (String name : surplusOf(committed)) {
            Files.deleteIfExists(folder.resolve(name));
        }
        Folder.flush(folder);
        Files.deleteIfExists(list);
        Files.deleteIfExists(committed);
        Folder.flush(folder);
    }

    /** What an error behind the commit is told as. */
    static IOException unfinished(Path target, Path committed, IOException e) {
        String reason = e instanceof FileSystemException named
                ? named.getFile() + ": " + (named.getReason() == null ? e.getClass().getSimpleName()
                        : named.getReason()) : String.valueOf(e.getMessage());
        return new IOException(target + ": is written whole and replaces what was there, but its files cannot all be"
                + " moved from " + committed + " to their places: " + reason
                + " (penstock reads them where they are, and the next writer of this store goes on)", e);
    }
}
