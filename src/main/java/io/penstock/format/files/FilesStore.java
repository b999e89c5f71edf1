// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.files;

import io.penstock.format.RecordDigest;
import io.penstock.internal.PrefixSums;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.Span;
import io.penstock.io.file.RegularFile;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.store.Column;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The files below a folder as records, sorted by the bytes of their paths. The column is {@code image} if all names are
 * those of images, otherwise {@code file}. If no file is directly in the folder, its subfolders are classes, as in
 * torchvision's {@code ImageFolder}, and the column {@code class} is the index among their sorted names.
 *
 * <p>Opening lists the tree and opens no file. Locating a file for the first time reads it; see {@link FileBytes}.
 */
public final class FilesStore implements RecordStore {

    /** The endings that torchvision's {@code ImageFolder} accepts. */
    private static final Set<String> IMAGES = Set.of("jpg", "jpeg", "png", "ppm", "bmp", "pgm", "tif", "tiff", "webp");
    private static final int MAX_LISTED_CLASSES = 10_000;

    private final Path path;
    private final Arena arena;
    private final FileList list;
    private final FileBytes bytes;
    private final List<Column> columns;
    /** The sorted names; empty if folders are not classes. */
    private final List<String> classes;
    /** The files of a class are consecutive: the first file of each run, ascending, and the run's class. */
    private final PrefixSums runs;
    private final int[] runClasses;
    /** The number of each class as {@code i64}, for spans. */
    private final MemorySegment classNumbers;

    private FilesStore(Path path, Arena arena, FileList list) throws IOException {
        this.path = path;
        this.arena = arena;
        this.list = list;
        this.bytes = new FileBytes(list, arena, FileBytes.MAX_MAPPED);
        boolean images = !list.endings().isEmpty() && IMAGES.containsAll(list.endings().keySet());
        Column content = Column.bytes(images ? "image" : "file", encoding(list.endings(), images));
        this.classes = list.filesAtTop() ? List.of() : list.topFolders();
        this.columns = classes.isEmpty() ? List.of(content) : List.of(content, Column.numbers("class", DType.I64));
        int count = classes.size();
        long[] starts = new long[count + 1];
        starts[count] = list.size();
        this.runClasses = new int[count];
        this.classNumbers = arena.allocate(Math.max(1L, count) * Long.BYTES, Long.BYTES);
        long[][] found = new long[count][];
        for (int i = 0; i < count; i++) {
            found[i] = new long[] {list.firstFrom(classes.get(i) + "/"), list.firstFrom(classes.get(i) + "0"), i};
            classNumbers.set(LittleEndian.I64, (long) i * Long.BYTES, i);
        }
        // Ordered by end too: a class without files begins and ends where another one begins.
        Arrays.sort(found, Comparator.<long[]>comparingLong(run -> run[0]).thenComparingLong(run -> run[1]));
        for (int i = 0; i < count; i++) {
            starts[i] = found[i][0];
            runClasses[i] = (int) found[i][2];
        }
        this.runs = PrefixSums.of(starts);
    }

    /** A column has one encoding: that of all files, or of most images, whose decoders look at the bytes. */
    private static String encoding(Map<String, Long> endings, boolean images) {
        return !images && endings.size() != 1 ? "" : endings.entrySet().stream()
                .max(Map.Entry.<String, Long>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .orElseThrow().getKey();
    }

    /**
     * Opens a folder.
     *
     * @param location a local folder
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if it contains no files
     * @throws UnsupportedOperationException if it is not local
     * @throws IOException if it is missing or cannot be read
     */
    public static FilesStore open(Location location) throws IOException {
        Path folder = location.requireLocal("files");
        if (!Files.exists(folder)) {
            throw new NoSuchFileException(folder.toString(), null, "no such folder");
        }
        if (!Files.isDirectory(folder)) {
            throw new MalformedStoreException(folder, "a file", "a folder of files");
        }
        Arena arena = Arena.ofShared();
        try {
            FileList list = new FileList(folder, arena);
            if (list.size() == 0) {
                throw new MalformedStoreException(folder, "a folder without files" + (list.skippedLinks() > 0
                        ? " but " + list.skippedLinks() + " links that leave it" : ""), "at least one, not hidden");
            }
            return new FilesStore(folder, arena, list);
        } catch (Throwable t) {
            arena.close();
            throw t;
        }
    }

    @Override
    public long size() {
        return list.size();
    }

    @Override
    public List<Column> columns() {
        return columns;
    }

    /**
     * {@return the classes: the sorted names of the subfolders; empty if they are not classes} The column {@code class}
     * has their positions.
     */
    public List<String> classes() {
        return classes;
    }

    @Override
    public void locate(long record, int column, Span into) {
        Objects.checkIndex(record, list.size());
        Objects.checkIndex(column, columns.size());
        if (column == 0) {
            bytes.locate(record, into);
        } else {
            into.set(classNumbers, (long) runClasses[runs.runOf(record)] * Long.BYTES, Long.BYTES);
        }
    }

    /** Returns the file's path relative to the folder. */
    @Override
    public String name(long record) {
        Objects.checkIndex(record, list.size());
        return list.path(record);
    }

    /** Returns the file's path relative to the folder, its name up to the first dot: the key of the file in a tar. */
    @Override
    public String key(long record) {
        String path = name(record);
        int dot = path.indexOf('.', path.lastIndexOf('/') + 1);
        return dot < 0 ? path : path.substring(0, dot);
    }

    @Override
    public boolean isConverted(int column) {
        Objects.checkIndex(column, columns.size());
        return false;
    }

    @Override
    public Inspection inspect(Inspection.Depth depth, Progress progress) throws IOException {
        Map<String, @Nullable Object> details = Json.members("columns", columns.stream().map(Column::name).toList(),
                "file_count", size(), "nbytes", list.totalBytes());
        if (!classes.isEmpty()) {
            details.put("class_count", classes.size());
            details.put("classes", classes.subList(0, Math.min(classes.size(), MAX_LISTED_CLASSES)));
        }
        details.put("skipped_links", list.skippedLinks());
        if (depth.digests()) {
            details.put("record_digest", recordDigest(progress));
        }
        return new Inspection(Location.of(path), "files", List.of(Location.of(path)), details);
    }

    /** Digests the path and content of each file, each preceded by its length as {@code u32}. */
    private String recordDigest(Progress progress) throws IOException {
        RecordDigest digest = new RecordDigest();
        byte[] chunk = new byte[1 << 20];
        long done = 0;
        for (long record = 0; record < size(); record++) {
            String name = name(record);
            Path file = path.resolve(name);
            long left = Files.size(file);
            byte[] nameBytes = name.getBytes(StandardCharsets.UTF_8);
            digest.addInt(nameBytes.length).addBytes(nameBytes, nameBytes.length).addInt((int) left);
            try (var in = RegularFile.newInputStream(file)) {
                while (left > 0) {
                    int read = in.readNBytes(chunk, 0, (int) Math.min(left, chunk.length));
                    if (read == 0) {
                        throw new IOException(file + ": the file shrank while it was read");
                    }
                    digest.addBytes(chunk, read);
                    left -= read;
                    done += read;
                    progress.update(Math.min(done, list.totalBytes()), list.totalBytes());
                }
            }
        }
        return digest.hex();
    }

    /** {@inheritDoc} Made of the paths and sizes of all files. */
    @Override
    public String fingerprint() {
        return "files:" + columns.getFirst().name() + ":files=" + size() + ":bytes=" + list.totalBytes() + ":sha256="
                + list.digest();
    }

    @Override
    public void close() {
        bytes.close();
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }

    @Override
    public String toString() {
        return "FilesStore[" + path + ", " + size() + " files]";
    }
}
