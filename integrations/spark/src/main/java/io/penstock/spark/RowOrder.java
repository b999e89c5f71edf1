// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.struct;
import static org.apache.spark.sql.functions.xxhash64;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.expressions.Window;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;

/**
 * In which order rows become samples of a store, and which of them are in a part. {@link #shuffled} and {@link #by}
 * depend on the rows alone: parts have the same bytes whatever the source's files, the cluster, the number of slots, or
 * how often a task ran.
 */
public abstract sealed class RowOrder {

    /** The column with the document, or the key of a record: what rows with the same keys are ordered by. */
    static final String CONTENT = "penstock_content";

    RowOrder() {
    }

    /**
     * {@return the order that Spark gives} Each partition becomes a part as it is, and nothing moves between executors.
     * The order is that of the partitions and of the rows in them.
     */
    public static RowOrder asGiven() {
        return new AsGiven();
    }

    /**
     * {@return an order that a seed and a hash of each document, or of a record's key, determine} A part has the rows
     * of an equal range of hashes.
     *
     * @param seed the seed
     * @param parts how many parts to write, a task each
     * @throws IllegalArgumentException if there is not at least one part
     */
    public static RowOrder shuffled(long seed, int parts) {
        return new Shuffled(seed, requireParts(parts));
    }

    /**
     * {@return the order of columns; where they are the same, that of the document or of a record's key} The parts have
     * about as many rows each. For that the rows are read twice more: to count them, and to take a sample.
     *
     * @param parts how many parts to write, a task each
     * @param columns the columns, the first being the most significant: whole numbers, decimals, strings (by their
     *     bytes), bytes, dates or timestamps; nulls are first
     * @throws IllegalArgumentException if there is not at least one part and one column
     */
    public static RowOrder by(int parts, String... columns) {
        if (columns.length == 0) {
            throw new IllegalArgumentException("columns to order by: found none, expected at least one");
        }
        return new Sorted(List.of(columns), requireParts(parts));
    }

    private static int requireParts(int parts) {
        if (parts < 1) {
            throw new IllegalArgumentException("parts: found " + parts + ", expected at least 1");
        }
        return parts;
    }

    /** Whether values are computed before rows move between executors, and move in their place. */
    abstract boolean movesValues();

    /**
     * Puts rows in order; each partition of the result becomes a part.
     *
     * @param rows the rows
     * @param all rows that have the same keys, and others perhaps, and are cheaper to read twice
     * @param values the columns of the result
     */
    abstract Dataset<Row> apply(Dataset<Row> rows, Dataset<Row> all, Column... values);

    /** Puts the records in order by the keys in a column. The first column of the result is the key's UTF-8. */
    Dataset<Row> applyByKey(Dataset<Row> rows, String key, List<Column> values) {
        Dataset<Row> keyed = rows.withColumn(CONTENT,
                rows.col(key).cast(DataTypes.StringType).cast(DataTypes.BinaryType));
        return apply(keyed, keyed, Stream.concat(Stream.of(col(CONTENT)), values.stream()).toArray(Column[]::new));
    }

    static String requireColumn(Dataset<Row> rows, String name) {
        if (!List.of(rows.columns()).contains(name)) {
            throw new IllegalArgumentException("no column '" + name + "', found " + List.of(rows.columns()));
        }
        return name;
    }

    /** By what rows are put in order within a part. */
    abstract Stream<Column> keys();

    Column[] keyArray() {
        return keys().toArray(Column[]::new);
    }

    /** Keeps one of the rows that are alike in some columns: the first in the order. */
    Dataset<Row> withoutDuplicates(Dataset<Row> rows, List<String> columns) {
        Column[] alike = columns.stream().map(functions::col).toArray(Column[]::new);
        String rank = "penstock_rank";
        return rows.withColumn(rank, functions.row_number().over(Window.partitionBy(alike).orderBy(keyArray())))
                .filter(col(rank).equalTo(1)).drop(rank);
    }

    private static final class AsGiven extends RowOrder {

        @Override
        boolean movesValues() {
            return false;
        }

        @Override
        Dataset<Row> apply(Dataset<Row> rows, Dataset<Row> all, Column... values) {
            return rows.select(values);
        }

        @Override
        Stream<Column> keys() {
            throw new IllegalArgumentException("dropDuplicates: found rows in no order, expected those of"
                    + " RowOrder.shuffled or RowOrder.by, of which one is the first");
        }

        @Override
        public String toString() {
            return "as given";
        }
    }

    private static final class Shuffled extends RowOrder {

        private static final String HASH = "penstock_hash";
        private static final String VALUE = "penstock_value_";
        private static final int HASH_BITS = 31;

        private final long seed;
        private final int parts;

        Shuffled(long seed, int parts) {
            this.seed = seed;
            this.parts = parts;
        }

        private Column hash() {
            return xxhash64(lit(seed), col(CONTENT));
        }

        @Override
        boolean movesValues() {
            return true;
        }

        /** Rows with the same hash are in the order of the first value: mostly they are alike. */
        @Override
        Dataset<Row> apply(Dataset<Row> rows, Dataset<Row> all, Column... values) {
            Column[] moved = new Column[values.length + 1];
            Arrays.setAll(moved, i -> i == 0 ? hash().as(HASH) : values[i - 1].as(VALUE + i));
            // Parts follow each other in the order of the hashes, which are signed.
            Column high = functions.shiftrightunsigned(col(HASH).bitwiseXOR(lit(Long.MIN_VALUE)),
                    Long.SIZE - HASH_BITS);
            Column part = functions.shiftrightunsigned(high.multiply(lit((long) parts)), HASH_BITS);
            return rows.select(moved).repartitionById(parts, part.cast(DataTypes.IntegerType))
                    .sortWithinPartitions(col(HASH), col(VALUE + 1)).drop(HASH);
        }

        @Override
        Stream<Column> keys() {
            return Stream.of(hash(), col(CONTENT));
        }

        @Override
        public String toString() {
            return "shuffled with seed " + seed;
        }
    }

    private static final class Sorted extends RowOrder {

        private static final int SAMPLES_A_PART = 100;

        private final List<String> columns;
        private final int parts;

        Sorted(List<String> columns, int parts) {
            this.columns = columns;
            this.parts = parts;
        }

        @Override
        boolean movesValues() {
            return false;
        }

        @Override
        Dataset<Row> apply(Dataset<Row> rows, Dataset<Row> all, Column... values) {
            KeyRanges ranges = KeyRanges.of(all, columns, parts, SAMPLES_A_PART);
            Column key = struct(columns.stream().map(functions::col).toArray(Column[]::new));
            return rows.repartitionById(parts, functions.udf(ranges, DataTypes.IntegerType).apply(key))
                    .sortWithinPartitions(keyArray()).select(values);
        }

        @Override
        Stream<Column> keys() {
            return Stream.concat(columns.stream(), Stream.of(CONTENT)).map(functions::col);
        }

        @Override
        public String toString() {
            return "ordered by " + columns;
        }
    }
}
