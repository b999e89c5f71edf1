// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.Fingerprint;
import io.penstock.format.MissingValue;
import io.penstock.format.csv.RowLayout.Cell;
import io.penstock.format.csv.RowLayout.Target;
import io.penstock.format.table.ColumnBlock;
import io.penstock.format.table.DecodedOnce;
import io.penstock.format.table.OpenFiles;
import io.penstock.format.table.Partitions;
import io.penstock.format.table.TableInspection;
import io.penstock.internal.PrefixSums;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.io.publish.DecodedSpill;
import io.penstock.json.Json;
import io.penstock.memory.LittleEndian;
import io.penstock.store.Column;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import io.penstock.text.LineFeeds;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The rows of CSV files, or the lines of JSON lines, as records.
 *
 * {@snippet :
 * TableOptions options = TableOptions.DEFAULT.withColumn("site", "category")
 *         .withFeatures("x", TableOptions.Features.of("age", "height"));
 * try (TextTable clicks = TextTable.open(Path.of("clicks.csv"), options)) {
 *     System.out.println(clicks.columns() + " " + clicks.categories("site"));
 * }
 * }
 *
 * <p>Opening a table reads all of it once, unless there is an index beside it. A block of about 128 KiB of text is
 * decoded when one of its rows is first located; then look-ups read the decoded copy. Texts are views of the mapped
 * file. The copy is larger than the numbers in it only by a byte for each value that may be missing.
 */
public final class TextTable implements RecordStore {

    private static final String DESCRIPTION_ENDING = ".table.json";
    private static final List<String> PACKINGS = List.of("", ".gz", ".zst");

    /** What the files are. */
    enum Kind {
        CSV("csv", ".csv", ".tsv"), JSON_LINES("jsonl", ".jsonl", ".ndjson");

        final String format;
        private final List<String> endings;

        Kind(String format, String... stems) {
            this.format = format;
            this.endings = Arrays.stream(stems).flatMap(stem -> PACKINGS.stream().map(stem::concat)).toList();
        }

        /** Returns the ending of a name of such a file; null if it has none. */
        @Nullable String endingOf(String name) {
            return endings.stream().filter(name::endsWith).findFirst().orElse(null);
        }

        /** Returns the ending of the files of a folder that has only such files; null if it has others. */
        @Nullable String endingIn(Location folder) throws IOException {
            Set<String> found = new LinkedHashSet<>();
            // Of a folder of many other files, no list is made.
            folder.files(name -> {
                String ending = endingOf(name);
                if (ending != null && !Partitions.isHidden(name)) {
                    found.add(ending);
                }
                return false;
            });
            if (found.isEmpty() && !folder.folders(name -> name.contains("=")).isEmpty()) {
                for (String ending : endings) {
                    if (Partitions.isPartitioned(folder, ending)) {
                        return ending;
                    }
                }
            }
            if (found.isEmpty() || !folder.files(name -> endingOf(name) == null && !Partitions.isHidden(name)
                    && !isBeside(name)).isEmpty()) {
                return null;
            }
            return found.size() == 1 ? found.iterator().next() : null;
        }

        private static boolean isBeside(String name) {
            return name.endsWith(DESCRIPTION_ENDING) || name.endsWith(".penstock-rows") || name.endsWith(".crc32c");
        }
    }

    /** A file of the table; those with the same columns share the decoders that are idle. */
    private record Part(TextFile text, RowBlocks index, int firstBlock, ConcurrentLinkedQueue<BlockDecoder> decoders) {
    }

    private final Location path;
    private final Kind kind;
    private final TableOptions options;
    private final List<Part> parts;
    private final RowLayout layout;
    private final Cell[] cells;
    private final List<Column> columns;
    private final List<String> storedTypes;
    private final Partitions partitions;
    private final int[] partOfBlock;
    private final PrefixSums rows;
    private final DecodedOnce<DecodedSpill.Place> blocks;
    private final DecodedSpill copy;
    /** The block that was found last, by any thread: mostly the next one. */
    private int lastBlock;
    private volatile @Nullable String fingerprint;

    private TextTable(Location path, Kind kind, TableOptions options, List<Part> parts, Partitions.Files files) {
        this.path = path;
        this.kind = kind;
        this.options = options;
        this.parts = parts;
        List<String> names = names();
        this.layout = kind == Kind.CSV ? csvLayout(names) : jsonLayout();
        this.cells = layout.cells.toArray(Cell[]::new);
        this.partitions = files.partitions(Stream.concat(names.stream(), layout.cells.stream()
                .map(cell -> cell.column().name())).collect(Collectors.toSet()));
        this.columns = Stream.concat(layout.cells.stream().map(Cell::column), partitions.columns().stream()).toList();
        this.storedTypes = Stream.concat(layout.cells.stream().map(Cell::storedType), partitions.types().stream())
                .toList();
        int count = parts.stream().mapToInt(part -> part.index.blocks()).sum();
        this.partOfBlock = new int[count];
        for (int p = 0; p < parts.size(); p++) {
            int first = parts.get(p).firstBlock;
            Arrays.fill(partOfBlock, first, first + parts.get(p).index.blocks(), p);
        }
        this.rows = PrefixSums.ofLengths(count, block -> {
            Part part = parts.get(partOfBlock[block]);
            return part.index.rows().length(block - part.firstBlock);
        });
        this.blocks = new DecodedOnce<>(count, new DecodedOnce.Files() {

            @Override
            public MappedFile acquire(int block) {
                return parts.get(partOfBlock[block]).text.acquire();
            }

            @Override
            public void release(int block) {
                parts.get(partOfBlock[block]).text.release();
            }
        }, this::decode);
        this.copy = new DecodedSpill(path);
    }

    /**
     * Opens a table of CSV or JSON lines.
     *
     * @param path a file whose name ends in {@code .csv}, {@code .tsv}, {@code .jsonl} or {@code .ndjson}, or with
     *     {@code .gz} or {@code .zst} behind it; or a folder of such files, which are one table, in the order of their
     *     names
     * @param options how it is read
     * @return the table, to be closed by the caller
     * @throws MalformedStoreException if a file is not such text; names the file and the line
     * @throws IOException if a file is missing or cannot be read
     * @throws IllegalArgumentException if the options name columns that are not there
     */
    public static TextTable open(Path path, TableOptions options) throws IOException {
        return open(Location.of(path), options);
    }

    /**
     * Opens a table at any location.
     *
     * @param path a file or a folder
     * @param options how it is read
     * @return the table, to be closed by the caller
     * @throws IOException as {@link #open(Path, TableOptions)}
     */
    public static TextTable open(Location path, TableOptions options) throws IOException {
        boolean isFolder = path.isFolder();
        for (Kind kind : Kind.values()) {
            if ((isFolder ? kind.endingIn(path) : kind.endingOf(path.name())) != null) {
                return open(path, kind, options, null, DecodeLimit.DEFAULT);
            }
        }
        return open(path, Kind.CSV, options, null, DecodeLimit.DEFAULT);
    }

    /** Opens a table with the options that are beside it. */
    static TextTable open(Location path, Kind kind, @Nullable String member, DecodeLimit limit) throws IOException {
        Location description = path.resolveSibling(path.name() + DESCRIPTION_ENDING);
        if (path.name().isEmpty() || !description.isFile()) {
            return open(path, kind, TableOptions.DEFAULT, member, limit);
        }
        try {
            String json = new String(description.readAllBytes(), StandardCharsets.UTF_8);
            return open(path, kind, TableOptions.parse(json), member, limit);
        } catch (IllegalArgumentException e) {
            throw new MalformedStoreException(description, e);
        }
    }

    private static TextTable open(Location path, Kind kind, TableOptions options, @Nullable String member,
            DecodeLimit limit) throws IOException {
        return open(path, kind, options, member, limit, RowBlocks.BLOCK_BYTES);
    }

    /** Opens a table in blocks of another size, for tests. */
    static TextTable open(Location path, Kind kind, TableOptions options, @Nullable String member, DecodeLimit limit,
            int blockBytes) throws IOException {
        String ending = path.isFolder() ? kind.endingIn(path) : "";
        if (ending == null) {
            throw new MalformedStoreException(path, "a folder", "only files of one of " + kind.endings + " in it");
        }
        Partitions.Files files = Partitions.Files.of(path, ending, _ -> "", member);
        OpenFiles<TextFile> open = TextFile.openFiles(files.locations().size());
        Map<List<Object>, ConcurrentLinkedQueue<BlockDecoder>> decoders = new HashMap<>();
        List<Part> parts = new ArrayList<>();
        int blocks = 0;
        try {
            for (Location file : files.locations()) {
                TextFile text = TextFile.open(file, limit, open);
                try {
                    RowBlocks index = RowBlocks.of(text, kind.format + options.indexed(), () ->
                            kind == Kind.CSV ? CsvHeader.index(text, options, blockBytes)
                                    : new RowIndexer(text, blockBytes, JsonLineRows::new)
                                            .index(text.start(), 0, List.of(), ','));
                    parts.add(new Part(text, index, blocks, decoders.computeIfAbsent(
                            List.of(index.names(), index.delimiter()), _ -> new ConcurrentLinkedQueue<>())));
                    blocks = Math.addExact(blocks, index.blocks());
                } catch (UncheckedIOException e) {
                    text.close();
                    throw e.getCause();
                } catch (Throwable t) {
                    text.close();
                    throw t;
                }
            }
            return new TextTable(path, kind, options, List.copyOf(parts), files);
        } catch (Throwable t) {
            parts.forEach(part -> part.text.close());
            throw t;
        }
    }

    /** Returns the columns of all files. */
    private List<String> names() {
        Set<String> names = new LinkedHashSet<>();
        for (Part part : parts) {
            List<String> own = part.index.names();
            if (!names.isEmpty() && own.stream().noneMatch(names::contains)) {
                throw new MalformedStoreException(part.text.location(), "the columns " + own, "at least one of " + names
                        + ", as " + parts.getFirst().text.location().name() + " has");
            }
            names.addAll(own);
        }
        return List.copyOf(names);
    }

    private RowLayout csvLayout(List<String> names) {
        Map<String, Integer> found = new LinkedHashMap<>();
        Map<String, Categories> texts = new LinkedHashMap<>();
        Set<String> mayLack = new LinkedHashSet<>();
        for (String name : names) {
            int fields = 0;
            for (Part part : parts) {
                int c = part.index.names().indexOf(name);
                if (c < 0) {
                    mayLack.add(name);
                    continue;
                }
                fields |= part.index.found()[c];
                part.index.categories().get(c).ifPresent(more ->
                        texts.computeIfAbsent(name, _ -> new Categories()).addAll(Categories.of(more)));
            }
            found.put(name, fields);
        }
        return RowLayout.of(options, names, found, texts, mayLack);
    }

    private RowLayout jsonLayout() {
        if (isWholeLines()) {
            RowLayout all = RowLayout.of(TableOptions.DEFAULT.withColumn(JsonLineDecoder.LINE, "text"),
                    List.of(JsonLineDecoder.LINE), Map.of(), Map.of(), Set.of());
            all.cells.replaceAll(cell -> new Cell(Column.text(JsonLineDecoder.LINE, "json"), cell.storedType(),
                    cell.before(), cell.width(), cell.stateBefore()));
            return all;
        }
        Set<String> names = new LinkedHashSet<>(options.columns().keySet().stream().sorted().toList());
        options.features().values().forEach(features -> names.addAll(features.columns()));
        options.columns().forEach((name, declared) -> {
            if (declared.type().equals("category") || declared.type().equals("found")) {
                throw new IllegalArgumentException("column '" + name + "': found the type " + declared.type()
                        + " of a field of JSON lines, expected another (hash:BUCKETS, text, f32, …)");
            }
        });
        Map<String, Integer> found = new LinkedHashMap<>();
        names.forEach(name -> found.put(name, ColumnType.ANYTHING | ColumnType.MISSING));
        return RowLayout.of(options, List.copyOf(names), found, Map.of(), names);
    }

    private boolean isWholeLines() {
        return options.columns().isEmpty() && options.features().isEmpty();
    }

    @Override
    public long size() {
        return rows.total();
    }

    @Override
    public List<Column> columns() {
        return columns;
    }

    /**
     * {@return the texts of a column of categories: text 0 first} A text's number is the order in which it first
     * appears in the table, so that rows that are appended change none.
     *
     * @param column the column's name
     * @throws IllegalArgumentException if it is no column of categories
     */
    public List<String> categories(String column) {
        List<String> texts = layout.categories.get(column);
        if (texts == null) {
            throw new IllegalArgumentException(path + ": found the column '" + column + "', expected one of"
                    + " categories: " + layout.categories.keySet());
        }
        return texts;
    }

    /** The categories, if one column has them. */
    @Override
    public List<String> classes() {
        return layout.categories.size() == 1 ? layout.categories.values().iterator().next() : List.of();
    }

    /** Whether the row has a value, which may be one that is not of the column's type: reading that fails. */
    @Override
    public boolean isPresent(long record, int column) {
        int block = blockOf(record);
        Objects.checkIndex(column, columns.size());
        if (column >= cells.length) {
            return partitions.isPresent(partOfBlock[block], column - cells.length);
        }
        return cells[column].stateBefore() < 0 || state(block, record, cells[column]) != ColumnBlock.NULL;
    }

    private byte state(int block, long record, Cell cell) {
        DecodedSpill.Place place = blocks.get(block);
        return place.file().mapping().get(ValueLayout.JAVA_BYTE, place.offset()
                + rows.length(block) * cell.stateBefore() + record - rows.start(block));
    }

    @Override
    public void locate(long record, int column, Span into) {
        int block = blockOf(record);
        Objects.checkIndex(column, columns.size());
        if (column >= cells.length) {
            partitions.locate(partOfBlock[block], column - cells.length, into);
            return;
        }
        Cell cell = cells[column];
        if (cell.stateBefore() >= 0) {
            byte state = state(block, record, cell);
            if (state != ColumnBlock.PRESENT) {
                throw noValue(block, record, column, state);
            }
        }
        DecodedSpill.Place place = blocks.get(block);
        long at = place.offset() + rows.length(block) * cell.before() + (record - rows.start(block)) * cell.width();
        if (!cell.isText()) {
            into.set(place.file(), at, cell.width());
            return;
        }
        MemorySegment segment = place.file().mapping();
        long from = segment.get(LittleEndian.I64, at);
        int length = segment.get(LittleEndian.I32, at + Long.BYTES);
        if (from >= 0) {
            into.set(parts.get(partOfBlock[block]).text.file(), from, length);
        } else {
            into.set(place.file(), place.offset() + DecodedSpill.aligned(rows.length(block) * layout.rowBytes) + ~from,
                    length);
        }
    }

    private int blockOf(long record) {
        int last = lastBlock;
        if (last < rows.runs() && record >= rows.start(last) && record < rows.start(last + 1)) {
            return last;
        }
        if (record < 0 || record >= size()) {
            throw new IndexOutOfBoundsException(path + ": row " + record + ", expected 0 to " + (size() - 1));
        }
        int found = rows.runOf(record);
        lastBlock = found;
        return found;
    }

    private DecodedSpill.Place decode(int block) throws IOException {
        Part part = parts.get(partOfBlock[block]);
        BlockDecoder decoder = decoderOf(part);
        DecodedSpill.Place decoded = decoder.decode(part.text, part.index, block - part.firstBlock, copy);
        part.decoders.add(decoder);
        return decoded;
    }

    private BlockDecoder decoderOf(Part part) {
        BlockDecoder idle = part.decoders.poll();
        if (idle != null) {
            return idle;
        }
        return kind == Kind.CSV ? new CsvDecoder(layout, new CsvFields(options, part.index.delimiter()),
                options.ragged(), part.index.names()) : new JsonLineDecoder(layout, isWholeLines());
    }

    private MalformedStoreException noValue(int block, long record, int column, byte state) {
        Part part = parts.get(partOfBlock[block]);
        int own = block - part.firstBlock;
        long start = decoderOf(part).startOf(part.text, part.index, own, record - rows.start(block));
        long line = RowBlocks.lineOf(part.text, part.index.offsets()[own], part.index.lines()[own], start);
        String name = columns.get(column).name();
        if (state == ColumnBlock.NULL) {
            return RowBlocks.malformed(part.text, line, "column '" + name + "' has no value", MissingValue.EXPECTED);
        }
        List<Target> targets = layout.targets.values().stream().flatMap(List::stream)
                .filter(target -> target.stateBefore() == cells[column].stateBefore()).toList();
        String expected = targets.isEmpty() ? "text in UTF-8" : targets.getFirst().type().expected();
        if (kind == Kind.JSON_LINES) {
            return RowBlocks.malformed(part.text, line, problem(part, own, start), isWholeLines() ? "a JSON object"
                    : "a JSON object with a value of " + expected + " as '" + name + "'");
        }
        return RowBlocks.malformed(part.text, line, "column '" + name + "' has " + values(part, own, start, targets),
                expected);
    }

    /** Returns the fields that a value is made of, shortened. */
    private String values(Part part, int block, long start, List<Target> targets) {
        byte[] rest = rest(part, block, start, RowReader.PADDING_BYTES);
        int length = rest.length - RowReader.PADDING_BYTES;
        rest[length] = '\n';
        List<String> texts = new CsvFields(options, part.index.delimiter()).texts(rest, length);
        Set<String> names = targets.stream().map(Target::column).collect(Collectors.toSet());
        String shown = IntStream.range(0, Math.min(texts.size(), part.index.names().size()))
                .filter(c -> names.contains(part.index.names().get(c)))
                .mapToObj(c -> Json.shown(texts.get(c).replaceAll("\\p{Cntrl}", " ")))
                .collect(Collectors.joining(", "));
        return (targets.size() == 1 ? "the value " : "the values ") + shown;
    }

    private static byte[] rest(Part part, int block, long start, int padding) {
        int length = (int) (part.index.offsets()[block + 1] - start);
        byte[] rest = new byte[length + padding];
        part.text.read(start, rest, length);
        return rest;
    }

    private static String problem(Part part, int block, long start) {
        byte[] rest = rest(part, block, start, 0);
        String problem = JsonLineDecoder.problem(Arrays.copyOf(rest, LineFeeds.first(rest, 0, rest.length)));
        return problem.isEmpty() ? "found another value" : problem;
    }

    @Override
    public String storedType(int column) {
        return storedTypes.get(column);
    }

    /** Always true: numbers are parsed, and texts may have had quotes. */
    @Override
    public boolean isConverted(int column) {
        Objects.checkIndex(column, columns.size());
        return true;
    }

    @Override
    public long maxLength(int column) {
        Column found = columns.get(column);
        return found.spec().rank() > 0 && !found.spec().isVariable() ? found.spec().dim(0) : -1;
    }

    @Override
    public Inspection inspect(Inspection.Depth depth, Progress progress) {
        Map<String, @Nullable Object> table = TableInspection.of(this, null, storedTypes, depth.digests(), progress,
                parts.stream().mapToLong(part -> part.text.storedBytes()).sum());
        Map<String, @Nullable Object> categories = new LinkedHashMap<>();
        layout.categories.forEach((name, texts) -> categories.put(name, texts.size()));
        Map<String, @Nullable Object> text = Json.members("packed", parts.stream().anyMatch(part ->
                part.text.isPacked()), "blocks", rows.runs());
        if (kind == Kind.CSV) {
            text.put("delimiter", parts.isEmpty() ? "," : String.valueOf(parts.getFirst().index.delimiter()));
        }
        if (!categories.isEmpty()) {
            text.put("categories", categories);
        }
        Map<String, @Nullable Object> details = Json.members(kind.format, text, "converted", true, "table", table);
        return new Inspection(path, kind.format, parts.stream().map(part -> part.text.location()).toList(), details);
    }

    @Override
    public String fingerprint() {
        if (fingerprint == null) {
            Fingerprint sample = new Fingerprint();
            parts.forEach(part -> part.text.addTo(sample));
            partitions.addTo(sample);
            sample.add(MemorySegment.ofArray((options.indexed() + layout.targets.values().stream().flatMap(List::stream)
                    .map(target -> target.column() + target.type() + target.missing() + target.before())
                    .collect(Collectors.joining("\n"))).getBytes(StandardCharsets.UTF_8)));
            fingerprint = kind.format + ":rows=" + size() + ":columns=" + columns.size() + ":sha256=" + sample.hex();
        }
        return fingerprint;
    }

    @Override
    public void close() {
        copy.close();
        partitions.close();
        parts.forEach(part -> part.text.close());
    }

    /** {@return the path, the number of rows and the columns} */
    @Override
    public String toString() {
        return path + " (" + size() + " rows: " + columns + ")";
    }
}
