package io.penstock.format.arrow;

import io.penstock.format.arrow.ArrowLayout.Unsupported;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import java.util.ArrayList;
import java.util.List;

/**
 * What is in files of one schema.
 *
 * @param schema a line a field
 * @param columns what can be given
 * @param unsupported what cannot
 * @param batchRows the rows of each batch
 * @param fileRows the rows of each file
 * @param rows the rows of all
 */
record ArrowTable(List<String> schema, List<ArrowColumn> columns, List<Unsupported> unsupported, long[] batchRows,
        long[] fileRows, long rows) {

    /** Rows that columns of nulls or of no items may have: their number is a claim that no data stand behind. */
    private static final long MAX_WEIGHTLESS_ROWS = 1 << 20;

    static ArrowTable read(List<MappedFile> files, DecodedBuffers decoded) throws MalformedStoreException {
        Reader reader = new Reader(decoded);
        long[] fileRows = new long[files.size()];
        for (int f = 0; f < fileRows.length; f++) {
            long before = reader.starts.last();
            reader.begin(files.get(f));
            ArrowFile.read(files.get(f), reader);
            fileRows[f] = reader.starts.last() - before;
        }
        return reader.table(fileRows);
    }

    /** Takes the files' messages. */
    private static final class Reader implements ArrowFile.Sink {

        private final DecodedBuffers decoded;
        private final Longs starts = new Longs();
        private MappedFile file;
        private List<ArrowField> fields;
        private List<Unsupported> unsupported;
        private List<ArrowColumn> columns;
        private List<ArrowDictionary> dictionaries;

        Reader(DecodedBuffers decoded) {
            this.decoded = decoded;
            starts.add(0);
        }

        void begin(MappedFile next) {
            file = next;
        }

        /** Fields may be nullable in one file and not in another; batches look the same. */
        @Override
        public void schema(List<ArrowField> found) throws MalformedStoreException {
            ArrowLayout layout = ArrowLayout.of(found);
            if (fields == null) {
                fields = found;
                unsupported = new ArrayList<>(layout.unsupported());
                columns = layout.columns().stream().map(shape -> shape.open(decoded)).toList();
                dictionaries = columns.stream().flatMap(column -> column.dictionaries().stream()).toList();
            } else if (!lines(found).equals(lines(fields))) {
                throw new MalformedStoreException(file.location(), "the schema " + lines(found),
                        "that of the first file, "
                        + lines(fields));
            }
            List<ArrowField.Dictionary> indexes = layout.columns().stream()
                    .flatMap(shape -> shape.indexes().stream()).toList();
            for (int d = 0; d < indexes.size(); d++) {
                dictionaries.get(d).beginFile(indexes.get(d).id());
            }
        }

        static List<String> lines(List<ArrowField> fields) {
            return fields.stream().map(field -> field.name() + ": " + field.typeText()).toList();
        }

        @Override
        public void dictionary(long id, boolean isDelta, ArrowBatch batch) throws MalformedStoreException {
            for (ArrowDictionary dictionary : dictionaries) {
                if (dictionary.id() == id) {
                    dictionary.add(isDelta, batch);
                }
            }
        }

        @Override
        public void batch(ArrowBatch batch) throws MalformedStoreException {
            if (batch.rows() > Long.MAX_VALUE - starts.last()) {
                throw batch.malformed("a batch of " + batch.rows() + " rows behind " + starts.last(), "fewer");
            }
            starts.add(starts.last() + batch.rows());
            boolean hasWeight = false;
            for (ArrowColumn column : columns) {
                column.add(batch);
                hasWeight |= column.shape().hasWeight();
            }
            if (!hasWeight && starts.last() > MAX_WEIGHTLESS_ROWS) {
                throw batch.malformed(starts.last() + " rows that take no space", "at most " + MAX_WEIGHTLESS_ROWS);
            }
        }

        ArrowTable table(long[] fileRows) {
            RowIndex index = new RowIndex(starts.toArray());
            List<ArrowColumn> read = new ArrayList<>();
            for (ArrowColumn column : columns) {
                if (column.refusal() == null) {
                    column.freeze(index);
                    read.add(column);
                } else {
                    unsupported.add(new Unsupported(column.shape().name(), column.shape().storedType(),
                            column.refusal()));
                }
            }
            long[] batchRows = new long[index.batches()];
            for (int b = 0; b < batchRows.length; b++) {
                batchRows[b] = index.start(b + 1) - index.start(b);
            }
            return new ArrowTable(lines(fields), List.copyOf(read), List.copyOf(unsupported), batchRows, fileRows,
                    index.rows());
        }
    }
}
