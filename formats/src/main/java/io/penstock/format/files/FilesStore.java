// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.files;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.RecordDigest;
import io.penstock.internal.PrefixSums;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.io.local.RegularFile;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.os.PathBytes;
import io.penstock.store.Column;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import io.penstock.store.StoreFormats;
import io.penstock.store.StoreProvider;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The files below a folder as records, sorted by the bytes of their paths. The subfolders are classes if no record is
 * directly in the folder, and the column {@code class} is the index among their sorted names.
 *
 * <p>If most files have suffixes of images, the records are those files, as in torchvision's {@code ImageFolder}, and
 * their column is {@code image}; otherwise all files are records, of the column {@code file}. Hidden files and folders
 * are never records. In a folder of images links are followed, also out of it, to folders and to files that begin like
 * images; in another folder only links to files below it. Opening logs what is left out, and {@link #inspect} counts
 * it.
 *
 * <p>Opening lists the tree and opens no file. Locating a file for the first time reads it; see {@link FileBytes}.
 */
public final class FilesStore implements RecordStore {

    private static final System.Logger LOG = System.getLogger(FilesStore.class.getName());
    /** The format of a single image. */
    private static final String IMAGE_FORMAT = "images";
    /** The endings of files that hold many samples each, also those that no format recognizes by their names. */
    private static final Set<String> TABLES = Set.of("arrow", "arrows", "avro", "csv", "feather", "h5", "hdf5", "idx",
            "jsonl", "mdb", "mds", "ndjson", "npz", "orc", "parquet", "safetensors", "tar", "tfrecord", "tgz", "tsv");
    private static final Pattern COMPRESSION = Pattern.compile("\\.(?:gz|zst|bz2|xz|lz4)$");
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
    private final LeftOut emptyClasses;

    private FilesStore(Path path, Arena arena, FileList list) throws IOException {
        this.path = path;
        this.arena = arena;
        this.list = list;
        this.bytes = new FileBytes(list, arena, FileBytes.MAX_MAPPED);
        boolean images = list.isOfImages();
        Column content = Column.bytes(images ? "image" : "file", encoding(list.endings(), images));
        List<byte[]> folders = list.filesAtTop() ? List.of() : list.topFolders();
        this.classes = folders.stream().map(PathBytes::text).toList();
        this.columns = classes.isEmpty() ? List.of(content) : List.of(content, Column.numbers("class", DType.I64));
        int count = classes.size();
        long[] starts = new long[count + 1];
        starts[count] = list.size();
        this.runClasses = new int[count];
        this.classNumbers = arena.allocate(Math.max(1L, count) * Long.BYTES, Long.BYTES);
        long[][] found = new long[count][];
        for (int i = 0; i < count; i++) {
            found[i] = new long[] {list.firstFrom(folders.get(i), '/'), list.firstFrom(folders.get(i), '0'), i};
            classNumbers.set(LittleEndian.I64, (long) i * Long.BYTES, i);
        }
        this.emptyClasses = new LeftOut("class without images", "classes without images");
        for (long[] run : found) {
            if (images && run[0] == run[1]) {
                emptyClasses.add(classes.get((int) run[2]));
            }
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
     * Opens a folder: of images if most files are images, otherwise of all its files.
     *
     * @param location a local folder
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if it contains no files
     * @throws UnsupportedOperationException if it is not local
     * @throws IOException if it is missing or cannot be read
     */
    public static FilesStore open(Location location) throws IOException {
        return open(location, false);
    }

    /**
     * Opens a folder with all its files as records, also those beside images. Only links to files below it are
     * followed.
     *
     * @param location a local folder
     * @return the store, to be closed by the caller
     * @throws IOException as {@link #open(Location)}
     */
    public static FilesStore openAll(Location location) throws IOException {
        return open(location, true);
    }

    private static FilesStore open(Location location, boolean allFiles) throws IOException {
        Path folder = location.requireLocal("files");
        if (!Files.exists(folder)) {
            throw new NoSuchFileException(folder.toString(), null, "no such folder");
        }
        if (!Files.isDirectory(folder)) {
            throw new MalformedStoreException(folder, "a file", "a folder of files");
        }
        Arena arena = Arena.ofShared();
        try {
            FileList list = FileList.of(folder, arena, allFiles);
            String leftOut = list.leftOut();
            if (list.size() == 0) {
                throw new MalformedStoreException(folder, "a folder without files" + (leftOut.isEmpty() ? ""
                        : " but " + leftOut), "at least one, not hidden");
            }
            FilesStore store = new FilesStore(folder, arena, list);
            store.logLeftOut(leftOut);
            return store;
        } catch (Throwable t) {
            arena.close();
            throw t;
        }
    }

    private void logLeftOut(String leftOut) {
        boolean isMore = list.skippedFiles() + list.skippedLinks() > 0;
        String hint = list.skippedFiles() > 0 && list.isOfImages() ? " (the format '" + FilesProvider.NAME
                + "', if named, takes all files)" : "";
        if (!leftOut.isEmpty()) {
            LOG.log(isMore ? Level.WARNING : Level.INFO, "{0}: left out {1}{2}", path, leftOut, hint);
        }
        if (!list.mixture().isEmpty()) {
            LOG.log(Level.INFO, "{0}: {1}", path, list.mixture());
        }
        if (emptyClasses.count() > 0) {
            LOG.log(Level.WARNING, "{0}: {1}", path, emptyClasses);
        }
    }

    /**
     * Fails if these are files of another format, by a file of each ending: their records would be raw bytes, which
     * nobody wants who did not ask for it. Placeholders of files are found too.
     */
    void requireNoOtherFormat() throws IOException {
        for (Path file : list.examples()) {
            if (!PathBytes.isText(file)) {
                continue;
            }
            Optional<String> format = StoreFormats.detect(Location.of(file)).map(StoreProvider::name);
            String name = COMPRESSION.matcher(file.toString().toLowerCase(Locale.ROOT)).replaceFirst("");
            boolean isOther = format.isPresent() && !format.get().equals(IMAGE_FORMAT);
            if (!list.isOfImages() && (isOther || TABLES.contains(name.substring(name.lastIndexOf('.') + 1)))) {
                throw new MalformedStoreException(path, "a folder with files " + (isOther ? "of the format "
                        + format.get() : "that hold many samples each") + ", such as " + file, "files of one sample"
                        + " each; name such a file or the folder that has them, or read each file as bytes with"
                        + " --format files");
            }
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
    @Override
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

    /** Returns the file's path relative to the folder; bytes that are not UTF-8 as {@code %E9}. */
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
    public Keys keys() {
        return Keys.FILES;
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
        details.put("skipped_files", list.skippedFiles());
        details.put("skipped_hidden", list.skippedHidden());
        if (!list.leftOut().isEmpty()) {
            details.put("left_out", list.leftOut());
        }
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
            Path file = list.file(record);
            long left = Files.size(file);
            byte[] nameBytes = list.pathBytes(record);
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
