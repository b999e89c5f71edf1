package io.penstock.store.parquet;

import io.penstock.memory.MappedFile;
import io.penstock.memory.Span;
import io.penstock.store.Column;
import io.penstock.store.Inspection;
import io.penstock.store.MalformedStoreException;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import io.penstock.store.mapped.DecodedSpill;
import io.penstock.store.mapped.Fingerprint;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The rows of Parquet files. A column chunk, that is a column of one row group, is decoded when a row of it is located
 * for the first time; from then on a look-up is a read of the decoded copy.
 */
public final class ParquetStore implements RecordStore {

    private static final int STRIPES = 64;

    /** Rows that are stored together, and the file that has them. */
    private record Group(ParquetPart part, RowGroup rows) {
    }

    private final Path path;
    private final List<ParquetPart> parts;
    private final List<Column> columns;
    /** The row groups that have rows. */
    private final Group[] groups;
    /** The first row of each group, and the count of all rows behind the last. */
    private final long[] starts;
    private final AtomicReferenceArray<ColumnBlock> blocks;
    private final Object[] locks = new Object[STRIPES];
    private final DecodedSpill copy;
    private volatile String fingerprint;

    private ParquetStore(Path path, List<ParquetPart> parts) throws MalformedStoreException {
        this.path = path;
        this.parts = parts;
        this.columns = parts.getFirst().leaves().stream().map(Leaf::column).toList();
        List<Group> found = new ArrayList<>();
        for (ParquetPart part : parts) {
            checkSame(part);
            part.metadata().groups().stream().filter(group -> group.rows() > 0)
                    .forEach(group -> found.add(new Group(part, group)));
        }
        if ((long) found.size() * columns.size() > Integer.MAX_VALUE - Long.BYTES) {
            throw new MalformedStoreException(path, found.size() + " row groups of " + columns.size() + " columns",
                    "less than 2^31 column chunks");
        }
        this.groups = found.toArray(Group[]::new);
        this.starts = new long[groups.length + 1];
        for (int g = 0; g < groups.length; g++) {
            starts[g + 1] = starts[g] + groups[g].rows().rows();
        }
        this.blocks = new AtomicReferenceArray<>(groups.length * columns.size());
        this.copy = new DecodedSpill(path);
        Arrays.setAll(locks, _ -> new Object());
    }

    /**
     * Opens Parquet files and checks their footers.
     *
     * @param path a file, or a folder whose {@code .parquet} files are one table, in the order of their names
     * @param member which of several sets of files in a folder: {@code train} for {@code train-00000-of-00010.parquet}
     *     and those that follow; null if there is but one
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if a file is no Parquet file, is encrypted, or has no column that can be read, if
     *     the files differ in their columns, or if one of a set is missing
     * @throws IOException if there is no such file, or it cannot be read
     */
    public static ParquetStore open(Path path, String member) throws IOException {
        List<ParquetPart> parts = new ArrayList<>();
        try {
            for (Path file : ParquetFiles.of(path, member)) {
                parts.add(ParquetPart.open(file));
            }
            return new ParquetStore(path, List.copyOf(parts));
        } catch (Throwable t) {
            parts.forEach(ParquetPart::close);
            throw t;
        }
    }

    /**
     * Whether a file is a Parquet file.
     *
     * @param head its first bytes
     * @return true if they are the format's magic, or that of an encrypted one
     */
    public static boolean isParquet(byte[] head) {
        return FileMetadata.isMagic(head);
    }

    private void checkSame(ParquetPart part) throws MalformedStoreException {
        List<Column> found = part.leaves().stream().map(Leaf::column).toList();
        if (!found.equals(columns)) {
            throw new MalformedStoreException(part.file().path(), "the columns " + found, columns + ", as "
                    + parts.getFirst().file().path().getFileName() + " has");
        }
    }

    @Override
    public long size() {
        return starts[groups.length];
    }

    @Override
    public List<Column> columns() {
        return columns;
    }

    @Override
    public boolean isPresent(long record, int column) {
        int group = groupOf(record);
        Objects.checkIndex(column, columns.size());
        return block(group, column).isPresent(record - starts[group]);
    }

    @Override
    public void locate(long record, int column, Span into) {
        int group = groupOf(record);
        Objects.checkIndex(column, columns.size());
        ColumnBlock block = block(group, column);
        long row = record - starts[group];
        if (!block.isPresent(row)) {
            throw new UncheckedIOException(new IOException(groups[group].part().file().path() + ": row " + record
                    + " of column '" + columns.get(column).name() + "' is null"));
        }
        block.locate(row, into);
    }

    private int groupOf(long record) {
        if (record < 0 || record >= size()) {
            throw new IndexOutOfBoundsException(path + ": row " + record + ", expected 0 to " + (size() - 1));
        }
        int found = Arrays.binarySearch(starts, record);
        return found >= 0 ? found : -found - 2;
    }

    private ColumnBlock block(int group, int column) {
        int index = group * columns.size() + column;
        ColumnBlock block = blocks.getAcquire(index);
        return block != null ? block : decode(group, column, index);
    }

    private ColumnBlock decode(int group, int column, int index) {
        synchronized (locks[index % STRIPES]) {
            ColumnBlock block = blocks.getAcquire(index);
            if (block == null) {
                Group from = groups[group];
                Leaf leaf = from.part().leaves().get(column);
                MappedFile file = from.part().file();
                try (ChunkDecoder decoder = new ChunkDecoder(file, leaf, from.rows().chunks().get(leaf.index()),
                        from.rows().rows())) {
                    block = decoder.decode(copy);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                } catch (InternalError fault) {
                    file.checkSize();
                    throw fault;
                }
                blocks.setRelease(index, block);
            }
            return block;
        }
    }

    /** Always: pages are encoded, and mostly compressed. */
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
    public Inspection inspect(boolean digest, Progress progress) {
        return new Inspection(path, "parquet", parts.stream().map(part -> part.file().path()).toList(),
                ParquetDetails.of(this, parts, digest, progress));
    }

    @Override
    public String fingerprint() {
        if (fingerprint == null) {
            Fingerprint sample = new Fingerprint();
            parts.forEach(part -> sample.add(part.file()));
            fingerprint = "parquet:rows=" + size() + ":columns=" + columns.size() + ":sha256=" + sample.hex();
        }
        return fingerprint;
    }

    @Override
    public void close() {
        copy.close();
        parts.forEach(ParquetPart::close);
    }

    @Override
    public String toString() {
        return path + " (" + size() + " rows: " + columns + ")";
    }
}
