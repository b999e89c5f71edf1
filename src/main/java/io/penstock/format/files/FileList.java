package io.penstock.format.files;

import io.penstock.io.MalformedStoreException;
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
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The files below a folder, by their paths relative to it, in the order of the paths' bytes; in native memory, for
 * there may be millions. Hidden files and folders, and checksums beside files, are left out. A link is taken for the
 * file that it leads to if that is below the folder too; other links, also those to folders, are left out and counted.
 */
final class FileList {

    private static final int MAX_DEPTH = 64;
    /** Beyond that, endings are no endings. */
    private static final int MAX_ENDINGS = 1000;
    private static final int HEX_DIGITS = 32;

    /** A folder's entry, and by what it is sorted: its name, and a slash if it is a folder. */
    private record Item(byte[] sortKey, Path path, boolean folder, long bytes) {
    }

    private final Path root;
    private final long size;
    /** By file, where its path begins in {@link #paths}; behind the last one, where they end. */
    private final MemorySegment starts;
    private final MemorySegment paths;
    private final List<String> topFolders;
    private final boolean filesAtTop;
    private final Map<String, Long> endings;
    private final long skippedLinks;
    private final long totalBytes;
    private final String digest;

    private FileList(Walk walk, Arena arena) {
        this.root = walk.root;
        this.size = walk.count;
        this.starts = arena.allocate(walk.starts.byteSize() + Long.BYTES, Long.BYTES);
        this.paths = arena.allocate(Math.max(1, walk.paths.byteSize()));
        walk.starts.copyTo(starts, 0);
        walk.paths.copyTo(paths, 0);
        starts.set(LittleEndian.I64, walk.starts.byteSize(), walk.paths.byteSize());
        this.topFolders = List.copyOf(walk.topFolders);
        this.filesAtTop = walk.filesAtTop;
        this.endings = Map.copyOf(walk.endings);
        this.skippedLinks = walk.skippedLinks;
        this.totalBytes = walk.totalBytes;
        this.digest = Sha256.hex(walk.sha256).substring(0, HEX_DIGITS);
    }

    /** Lists a folder; what is listed is put into memory of the arena. */
    static FileList of(Path root, Arena arena) throws IOException {
        try (Walk walk = new Walk(root)) {
            walk.folder(root, "", 0);
            return new FileList(walk, arena);
        }
    }

    private static final class Walk implements AutoCloseable {

        private final Path root;
        private final InnerLinks links;
        private final NativeBytes starts = new NativeBytes();
        private final NativeBytes paths = new NativeBytes();
        private final List<String> topFolders = new ArrayList<>();
        private final Map<String, Long> endings = new HashMap<>();
        private final MessageDigest sha256 = Sha256.digest();
        private boolean filesAtTop;
        private long count;
        private long skippedLinks;
        private long totalBytes;

        Walk(Path root) throws IOException {
            this.root = root;
            this.links = InnerLinks.of(root);
        }

        void folder(Path folder, String prefix, int depth) throws IOException {
            if (depth > MAX_DEPTH) {
                throw new MalformedStoreException(folder, "folders nested more than " + MAX_DEPTH + " deep",
                        "fewer (is this a folder of data?)");
            }
            for (Item item : items(folder)) {
                String name = item.path.getFileName().toString();
                if (item.folder) {
                    if (depth == 0) {
                        topFolders.add(name);
                    }
                    folder(item.path, prefix + name + "/", depth + 1);
                } else {
                    filesAtTop |= depth == 0;
                    file(prefix + name, item.bytes);
                }
            }
        }

        private List<Item> items(Path folder) throws IOException {
            List<Item> items = new ArrayList<>();
            try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder)) {
                for (Path path : stream) {
                    String name = path.getFileName().toString();
                    if (!name.startsWith(".") && !name.endsWith(BlockChecksums.SUFFIX)) {
                        Item item = item(path, name);
                        if (item != null) {
                            items.add(item);
                        }
                    }
                }
            } catch (DirectoryIteratorException e) {
                throw e.getCause();
            }
            items.sort((a, b) -> Arrays.compareUnsigned(a.sortKey, b.sortKey));
            return items;
        }

        private Item item(Path path, String name) throws IOException {
            BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class,
                    LinkOption.NOFOLLOW_LINKS);
            if (attributes.isSymbolicLink()) {
                attributes = links.leadToFile(path) ? Files.readAttributes(path, BasicFileAttributes.class) : null;
                skippedLinks += attributes == null ? 1 : 0;
            }
            if (attributes == null || !attributes.isRegularFile() && !attributes.isDirectory()) {
                return null;
            }
            boolean folder = attributes.isDirectory();
            return new Item((folder ? name + "/" : name).getBytes(StandardCharsets.UTF_8), path, folder,
                    attributes.size());
        }

        private void file(String path, long bytes) {
            byte[] name = path.getBytes(StandardCharsets.UTF_8);
            starts.putLong(paths.byteSize());
            paths.put(name);
            sha256.update(name);
            sha256.update(("\n" + bytes + "\n").getBytes(StandardCharsets.US_ASCII));
            int dot = path.indexOf('.', path.lastIndexOf('/') + 2);
            String ending = dot < 0 ? "" : path.substring(path.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
            endings.merge(endings.size() < MAX_ENDINGS || endings.containsKey(ending) ? ending : "", 1L, Long::sum);
            count++;
            totalBytes += bytes;
        }

        @Override
        public void close() {
            starts.close();
            paths.close();
        }
    }

    long size() {
        return size;
    }

    /** A file's path relative to the folder, with slashes. */
    String path(long file) {
        long start = starts.get(LittleEndian.I64, file * Long.BYTES);
        long end = starts.get(LittleEndian.I64, (file + 1) * Long.BYTES);
        return new String(paths.asSlice(start, end - start).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    /** The first file whose path is not before a text. */
    long firstFrom(String text) {
        MemorySegment wanted = MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
        long low = 0;
        long high = size;
        while (low < high) {
            long middle = low + high >>> 1;
            if (compare(middle, wanted) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private int compare(long file, MemorySegment wanted) {
        long start = starts.get(LittleEndian.I64, file * Long.BYTES);
        MemorySegment path = paths.asSlice(start, starts.get(LittleEndian.I64, (file + 1) * Long.BYTES) - start);
        long differs = path.mismatch(wanted);
        if (differs < 0) {
            return 0;
        }
        if (differs == path.byteSize() || differs == wanted.byteSize()) {
            return Long.compare(path.byteSize(), wanted.byteSize());
        }
        return Byte.compareUnsigned(path.get(ValueLayout.JAVA_BYTE, differs),
                wanted.get(ValueLayout.JAVA_BYTE, differs));
    }

    Path root() {
        return root;
    }

    /** The folders right below, in the order of their names' characters; those without files included. */
    List<String> topFolders() {
        return topFolders.stream().sorted((a, b) -> Arrays.compareUnsigned(a.getBytes(StandardCharsets.UTF_8),
                b.getBytes(StandardCharsets.UTF_8))).toList();
    }

    /** Whether files are right below, in none of the folders. */
    boolean filesAtTop() {
        return filesAtTop;
    }

    /** How many files have which ending, in lower case, behind the last dot. */
    Map<String, Long> endings() {
        return endings;
    }

    long skippedLinks() {
        return skippedLinks;
    }

    long totalBytes() {
        return totalBytes;
    }

    /** Of all paths and sizes. */
    String digest() {
        return digest;
    }
}
