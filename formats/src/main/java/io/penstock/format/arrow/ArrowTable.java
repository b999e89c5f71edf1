// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.table.UnreadColumn;
import io.penstock.io.MappedFile;
import io.penstock.store.Column;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The content of files of one schema.
 *
 * @param schema a line per field
 * @param unread the columns that cannot be read
 * @param rows the rows of each batch
 * @param fileRows the rows of each file
 */
record ArrowTable(List<String> schema, List<ArrowColumn> columns, List<UnreadColumn> unread, RowIndex rows,
        List<Long> fileRows) {

    /** The most rows of columns whose values take no space, so that no data bound their number. */
    private static final long MAX_WEIGHTLESS_ROWS = 1 << 20;

    /** Reads files, which come after so many rows; {@code united} has the columns of all files by name. */
    static ArrowTable read(List<MappedFile> files, DecodedBuffers decoded, Map<String, Column> united,
            long rowsBefore) {
        Reader reader = new Reader(decoded, united, rowsBefore);
        List<Long> fileRows = new ArrayList<>();
        for (MappedFile file : files) {
            long before = reader.rows.rows();
            file.reading(() -> {
                ArrowFile.read(file, reader);
                return file;
            });
            fileRows.add(reader.rows.rows() - before);
        }
        return reader.table(fileRows);
    }

    /** Returns the column of a name; null if there is none that can be read. */
    @Nullable ArrowColumn column(String name) {
        return columns.stream().filter(column -> column.shape().name().equals(name)).findFirst().orElse(null);
    }

    /** Receives the content of files, in the order of a stream. */
    static final class Reader {

        private final DecodedBuffers decoded;
        private final Map<String, Column> united;
        private final RowIndex.Builder rows;
        private final List<UnreadColumn> unread = new ArrayList<>();
        /** The schema of the first file; null before it is read. */
        private @Nullable List<String> lines;
        private List<ArrowColumn> columns = List.of();
        private List<ArrowDictionary<?>> dictionaries = List.of();

        private Reader(DecodedBuffers decoded, Map<String, Column> united, long rowsBefore) {
            this.decoded = decoded;
            this.united = united;
            this.rows = new RowIndex.Builder(rowsBefore);
        }

        /** Receives a file's schema. The same field may be nullable in one file and not in another. */
        void schema(MappedFile file, List<ArrowField> fields) {
            ArrowLayout layout = ArrowLayout.of(fields);
            List<String> found = fields.stream().map(field -> field.name() + ": " + field.typeText()).toList();
            if (lines == null) {
                lines = found;
                unread.addAll(layout.unread());
                columns = layout.columns().stream().map(shape -> shape.open(decoded, united.getOrDefault(shape.name(),
                        shape.column()).spec().dtype())).toList();
                dictionaries = columns.stream().<ArrowDictionary<?>>flatMap(column -> column.dictionaries().stream())
                        .toList();
            } else if (!found.equals(lines)) {
                throw new MalformedStoreException(file.location(), "the schema " + found,
                        "that of the first file, " + lines);
            }
            List<Long> ids = layout.columns().stream().flatMap(shape -> shape.root().dictionaryIds()).toList();
            for (int d = 0; d < ids.size(); d++) {
                dictionaries.get(d).beginFile(ids.get(d));
            }
        }

        /** Receives a dictionary, or values that are appended to one. */
        void dictionary(long id, boolean isDelta, ArrowBatch batch) {
            for (ArrowDictionary<?> dictionary : dictionaries) {
                if (dictionary.id() == id) {
                    dictionary.add(isDelta, batch);
                }
            }
        }

        void batch(ArrowBatch batch) {
            rows.add(batch);
            boolean hasWeight = false;
            for (ArrowColumn column : columns) {
                column.add(batch);
                hasWeight |= column.shape().root().hasWeight();
            }
            if (!hasWeight && rows.rows() > MAX_WEIGHTLESS_ROWS) {
                throw batch.malformed(rows.rows() + " rows that take no space", "at most " + MAX_WEIGHTLESS_ROWS);
            }
        }

        private ArrowTable table(List<Long> fileRows) {
            RowIndex index = rows.build();
            List<ArrowColumn> read = new ArrayList<>();
            for (ArrowColumn column : columns) {
                String refusal = column.refusal();
                if (refusal == null) {
                    column.freeze(index);
                    read.add(column);
                } else {
                    unread.add(new UnreadColumn(column.shape().name(), column.shape().storedType(), refusal));
                }
            }
            return new ArrowTable(lines == null ? List.of() : lines, List.copyOf(read), List.copyOf(unread), index,
                    fileRows);
        }
    }
}
