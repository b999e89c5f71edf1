// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.files;

import io.penstock.format.InnerLinks;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.file.HiddenNames;
import io.penstock.io.file.Sha256;
import io.penstock.io.spill.NativeBytes;
import io.penstock.memory.LittleEndian;
import io.penstock.store.integrity.BlockChecksums;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The files below a folder by their relative paths, in the order of the paths' bytes. There may be millions, so the
 * paths are in native memory. {@linkplain HiddenNames Hidden} files and folders are ignored. A link counts as its
 * target if that is a file below the same folder; other links, including those to folders, are skipped and counted.
 */
final class FileList {

    private static final int MAX_DEPTH = 64;
    /** After this many different endings, others count as none. */
    private static final int MAX_ENDINGS = 1000;
    private static final int HEX_DIGITS = 32;

    /** A folder's entry. The bytes of its name are the sort key; a folder's name ends with a slash. */
    private record Item(byte[] sortKey, Path path, boolean isFolder, long bytes) {

        String name() {
            return path.getFileName().toString();
        }
    }

    /** The paths one after another, and where each starts. */
    private record Paths(NativeBytes bytes, NativeBytes starts, MessageDigest sha256) {
    }

    private final Path root;
    private final InnerLinks links;
    private final List<String> topFolders = new ArrayList<>();
    private final Map<String, Long> endings = new HashMap<>();
    /** The first file of each ending. */
    private final Map<String, String> examples = new HashMap<>();
    /** The start of each file's path in {@link #paths}, then the end of the last one. */
    private final MemorySegment starts;
    private final MemorySegment paths;
    private final String digest;
    private boolean filesAtTop;
    private long size;
    private long skippedLinks;
    private long totalBytes;

    /** Lists a folder; the paths are in the arena's memory. */
    FileList(Path root, Arena arena) throws IOException {
        this.root = root;
        this.links = InnerLinks.of(root);
        try (NativeBytes bytes = new NativeBytes(); NativeBytes firsts = new NativeBytes()) {
            Paths found = new Paths(bytes, firsts, Sha256.digest());
            addFolder(found, root, "", 0);
            firsts.putLong(bytes.byteSize());
            this.starts = arena.allocate(firsts.byteSize(), Long.BYTES).copyFrom(firsts.written());
            this.paths = arena.allocate(Math.max(1, bytes.byteSize()));
            bytes.copyTo(paths, 0);
            this.digest = Sha256.hex(found.sha256).substring(0, HEX_DIGITS);
        }
    }

    private void addFolder(Paths found, Path folder, String prefix, int depth) throws IOException {
        if (depth > MAX_DEPTH) {
            throw new MalformedStoreException(folder, "folders nested more than " + MAX_DEPTH + " deep",
                    "fewer (is this a folder of data?)");
        }
        for (Item item : items(folder)) {
            if (item.isFolder) {
                if (depth == 0) {
                    topFolders.add(item.name());
                }
                addFolder(found, item.path, prefix + item.name() + "/", depth + 1);
            } else {
                filesAtTop |= depth == 0;
                addFile(found, prefix + item.name(), item.bytes);
            }
        }
    }

    private List<Item> items(Path folder) throws IOException {
        List<Item> items = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder)) {
            for (Path path : stream) {
                Item item = item(path, path.getFileName().toString());
                if (item != null) {
                    items.add(item);
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        items.sort(Comparator.comparing(Item::sortKey, Arrays::compareUnsigned));
        return items;
    }

    /** Returns an entry; null if it is ignored. */
    private @Nullable Item item(Path path, String name) throws IOException {
        if (HiddenNames.isHidden(name, sibling -> Files.exists(path.resolveSibling(sibling)))
                || name.endsWith(BlockChecksums.SUFFIX)) {
            return null;
        }
        BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class,
                LinkOption.NOFOLLOW_LINKS);
        if (attributes.isSymbolicLink()) {
            if (!links.leadToFile(path)) {
                skippedLinks++;
                return null;
            }
            attributes = Files.readAttributes(path, BasicFileAttributes.class);
        }
        boolean isFolder = attributes.isDirectory();
        return isFolder || attributes.isRegularFile() ? new Item((isFolder ? name + "/" : name)
                .getBytes(StandardCharsets.UTF_8), path, isFolder, attributes.size()) : null;
    }

    private void addFile(Paths found, String path, long bytes) {
        byte[] name = path.getBytes(StandardCharsets.UTF_8);
        found.starts.putLong(found.bytes.byteSize());
        found.bytes.put(name);
        found.sha256.update(name);
        found.sha256.update(("\n" + bytes + "\n").getBytes(StandardCharsets.US_ASCII));
        int dot = path.indexOf('.', path.lastIndexOf('/') + 2);
        String ending = dot < 0 ? "" : path.substring(path.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
        String counted = endings.size() < MAX_ENDINGS || endings.containsKey(ending) ? ending : "";
        endings.merge(counted, 1L, Long::sum);
        examples.putIfAbsent(counted, path);
        size++;
        totalBytes += bytes;
    }

    long size() {
        return size;
    }

    /** Returns a file's path relative to the folder, with slashes. */
    String path(long file) {
        return new String(pathBytes(file).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    private MemorySegment pathBytes(long file) {
        long start = starts.get(LittleEndian.I64, file * Long.BYTES);
        return paths.asSlice(start, starts.get(LittleEndian.I64, (file + 1) * Long.BYTES) - start);
    }

    /** Returns the first file whose path is not before a text. */
    long firstFrom(String text) {
        byte[] wanted = text.getBytes(StandardCharsets.UTF_8);
        long low = 0;
        long high = size;
        while (low < high) {
            long middle = low + high >>> 1;
            if (Arrays.compareUnsigned(pathBytes(middle).toArray(ValueLayout.JAVA_BYTE), wanted) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    Path root() {
        return root;
    }

    /** Returns the names of the folders directly below, sorted; those without files included. */
    List<String> topFolders() {
        return topFolders.stream().sorted(Comparator.comparing(name -> name.getBytes(StandardCharsets.UTF_8),
                Arrays::compareUnsigned)).toList();
    }

    boolean filesAtTop() {
        return filesAtTop;
    }

    /** Returns the number of files by ending: the text after the last dot, in lower case. */
    Map<String, Long> endings() {
        return endings;
    }

    /** Returns the path of the first file of each ending. */
    Collection<String> examples() {
        return examples.values();
    }

    long skippedLinks() {
        return skippedLinks;
    }

    long totalBytes() {
        return totalBytes;
    }

    /** Returns a digest of all paths and sizes. */
    String digest() {
        return digest;
    }
}
