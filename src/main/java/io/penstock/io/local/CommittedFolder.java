// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.local;

import io.penstock.json.Json;
import io.penstock.os.PathBytes;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

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
    private static final Pattern DIGITS = Pattern.compile("[0-9]+");
    private static final int MAX_WIDTH = 9;
    /** The longest file name; a shard pattern may be far longer. */
    private static final int MAX_NAME = 255;
    /** The most endings that a sidecar has: {@code x.tar.gz.crc32c}. */
    private static final int MAX_ENDINGS = 3;

    /** How many files of a folder are located before it is listed. */
    private static final int LOCATED = 64;
    private static final long SETTLED_MILLIS = 3000;

    /** What is known of a folder at a modification time. */
    private record Listed(Path folder, FileTime time, int located, boolean hasNone) {
    }

    /** The folder of which a file was located last; a thread that replaces another's costs a listing at most. */
    private static volatile @Nullable Listed listed;

    private CommittedFolder() {
    }

    /**
     * {@return the committed folder of a store, which need not exist}
     *
     * @param store the path that the store is written as: a file, a Megatron prefix, a shard pattern
     */
    public static Path of(Path store) {
        return store.resolveSibling("." + store.getFileName() + ENDING);
    }

    /** Returns where a file is now: in a committed folder if one has it, otherwise its final path. */
    public static Path locate(Path file) {
        if (file.getFileName() == null) {
            return file;
        }
        if (hasNone(file)) {
            return file;
        }
        String name = file.getFileName().toString();
        for (String store : storesOf(name)) {
            Path committed = file.resolveSibling("." + store + ENDING).resolve(name);
            if (Files.exists(committed)) {
                return committed;
            }
        }
        return file;
    }

    /**
     * Tells whether the folder of a file surely has no committed folders. When many files of a folder were located one
     * after another, the folder is listed once. If it has none, that holds for as long as its modification time stays,
     * since a new entry changes it. So one look at that time replaces a dozen looks for names that do not exist. A time
     * of the last few seconds does not count: two changes may share it.
     */
    private static boolean hasNone(Path file) {
        Path folder = file.getParent();
        if (folder == null) {
            return false;
        }
        try {
            FileTime time = Files.getLastModifiedTime(folder);
            Listed before = listed;
            if (before == null || !before.folder.equals(folder) || !before.time.equals(time)) {
                listed = new Listed(folder, time, 1, false);
                return false;
            }
            if (before.hasNone) {
                return true;
            }
            if (before.located == LOCATED && time.toMillis() < System.currentTimeMillis() - SETTLED_MILLIS) {
                listed = new Listed(folder, time, LOCATED + 1, list(folder, CommittedFolder::isName).isEmpty());
            } else if (before.located < LOCATED) {
                listed = new Listed(folder, time, before.located + 1, false);
            }
            return false;
        } catch (IOException _) {
            return false;
        }
    }

    /**
     * {@return whether a path has a committed folder's name}
     *
     * @param folder the path
     */
    public static boolean isName(Path folder) {
        String name = folder.getFileName() == null ? "" : folder.getFileName().toString();
        return name.startsWith(".") && name.endsWith(ENDING) && name.length() > 1 + ENDING.length();
    }

    /**
     * {@return the path that the store of a committed folder is written as}
     *
     * @param committed the committed folder
     */
    public static Path storeOf(Path committed) {
        return committed.resolveSibling(nameOf(committed));
    }

    private static String nameOf(Path committed) {
        String name = committed.getFileName().toString();
        return name.substring(1, name.length() - ENDING.length());
    }

    /**
     * Returns the names of a folder's regular files as readers see them, unordered: with those in committed folders,
     * without surplus ones. A malformed list of surplus files is an {@link IllegalArgumentException} that names it, and
     * so is a file whose name is no text in this JVM's locale.
     */
    public static List<String> files(Path folder, Predicate<String> chosen) throws IOException {
        List<Path> found = list(folder, path -> isName(path) || chosen.test(path.getFileName().toString()));
        List<Path> committed = found.stream().filter(CommittedFolder::isName).filter(Files::isDirectory).toList();
        if (!committed.isEmpty()) {
            return filesWith(committed, folder, chosen);
        }
        return found.stream().filter(path -> chosen.test(path.getFileName().toString()) && Files.isRegularFile(path))
                .map(CommittedFolder::name).toList();
    }

    /** Returns a listed file's name; one that a text cannot name could not be opened again. */
    private static String name(Path listed) {
        if (!PathBytes.isText(listed.getFileName())) {
            throw new IllegalArgumentException(PathBytes.text(PathBytes.ofName(listed)) + ": found "
                    + PathBytes.whyNotText());
        }
        return listed.getFileName().toString();
    }

    private static List<String> filesWith(List<Path> committed, Path folder, Predicate<String> chosen)
            throws IOException {
        Set<String> names = new TreeSet<>();
        Set<String> surplus = new HashSet<>();
        // Files move from committed folders to their final places, never back: this order misses none.
        for (Path each : committed) {
            try {
                list(each, path -> chosen.test(path.getFileName().toString()) && !path.equals(surplusIn(each)))
                        .forEach(path -> names.add(name(path)));
            } catch (NoSuchFileException _) {
                // its writer has moved all files and removed it
            }
            surplus.addAll(surplusOf(each));
        }
        list(folder, path -> chosen.test(path.getFileName().toString())
                && !surplus.contains(path.getFileName().toString()) && Files.isRegularFile(path))
                .forEach(path -> names.add(name(path)));
        return List.copyOf(names);
    }

    /**
     * {@return the path of the list of files that the store of a committed folder no longer has}
     *
     * @param committed the committed folder
     */
    public static Path surplusIn(Path committed) {
        return committed.resolve("." + nameOf(committed) + SURPLUS_ENDING);
    }

    /**
     * {@return the names of the files that the store of a committed folder no longer has; none if the list is gone,
     * because the files are gone then too}
     *
     * @param committed the committed folder
     * @throws IllegalArgumentException if the list is malformed; names it
     * @throws IOException if the list cannot be read
     */
    public static List<String> surplusOf(Path committed) throws IOException {
        Path list = surplusIn(committed);
        if (!Files.isRegularFile(list)) {
            return List.of();
        }
        try {
            if (Files.size(list) > MAX_SURPLUS_BYTES) {
                throw new IllegalArgumentException(Files.size(list) + " bytes, expected at most " + MAX_SURPLUS_BYTES);
            }
            List<String> names = new ArrayList<>();
            for (Object name : Json.array(Json.parse(RegularFile.readAllBytes(list)))) {
                if (!(name instanceof String text)) {
                    throw new IllegalArgumentException("the name " + name + ", expected a string");
                }
                InnerPath.checkName(committed, text);
                names.add(text);
            }
            return names;
        } catch (NoSuchFileException _) {
            return List.of();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(list.getFileName() + ": " + e.getMessage(), e);
        }
    }

    /**
     * {@return the chosen files and folders in a folder, unordered}
     *
     * @param folder the folder
     * @param chosen selects them by path
     * @throws IOException if the folder cannot be read
     */
    public static List<Path> list(Path folder, Predicate<Path> chosen) throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(folder, chosen::test)) {
            all.forEach(found::add);
        } catch (DirectoryIteratorException e) {
            IOException cause = Objects.requireNonNull(e.getCause());
            throw new IOException(folder + ": the folder cannot be read: " + cause.getMessage(), cause);
        }
        return found;
    }

    /**
     * Returns the stores that a file may belong to. A store's name is the file's name without some of its last endings,
     * or a pattern of numbered files: {@code corpus.bin.crc32c} may belong to {@code corpus}.
     */
    private static Set<String> storesOf(String file) {
        Set<String> names = new LinkedHashSet<>();
        String name = file.length() > MAX_NAME ? "" : file;
        for (int endings = 0; endings <= MAX_ENDINGS && !name.isEmpty(); endings++) {
            names.add(name);
            names.addAll(patternsOf(name));
            name = name.substring(0, Math.max(name.lastIndexOf('.'), 0));
        }
        return names;
    }

    /**
     * {@return all patterns that may have named a numbered file: its name with {@code %d} or {@code %06d} for a number;
     * none if the name has no number}
     *
     * @param name the file's name
     */
    public static Set<String> patternsOf(String name) {
        Set<String> patterns = new LinkedHashSet<>();
        Matcher digits = DIGITS.matcher(name);
        while (digits.find()) {
            String before = name.substring(0, digits.start());
            String after = name.substring(digits.end());
            int count = digits.end() - digits.start();
            boolean padded = count > 1 && digits.group().charAt(0) == '0';
            // A number wider than its field is written in full.
            for (int width = padded ? count : 1; width <= Math.min(count, MAX_WIDTH); width++) {
                patterns.add(before + "%0" + width + "d" + after);
            }
            if (!padded) {
                patterns.add(before + "%d" + after);
            }
        }
        return patterns;
    }
}
