// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.xxhash64;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;

/**
 * Ranges of keys with about as many rows each. Where one ends depends on the keys alone, and not on how Spark divides
 * the rows, as it does with {@code repartitionByRange}: the rows that are looked at are those whose keys have the least
 * hashes.
 */
final class KeyRanges implements UDF1<Row, Integer> {

    private static final long serialVersionUID = 1;
    private static final List<DataType> TYPES = List.of(DataTypes.ByteType, DataTypes.ShortType,
            DataTypes.IntegerType, DataTypes.LongType, DataTypes.StringType, DataTypes.BinaryType, DataTypes.DateType,
            DataTypes.TimestampType);

    /** The first key of each range but the first. */
    private final Row[] starts;

    private KeyRanges(Row[] starts) {
        this.starts = starts;
    }

    static KeyRanges of(Dataset<Row> rows, List<String> columns, int ranges, int samplesEach) {
        for (String column : columns) {
            DataType type = rows.schema().apply(column).dataType();
            if (!TYPES.contains(type) && !(type instanceof DecimalType)) {
                throw new IllegalArgumentException("column " + column + " to order by: found " + type.simpleString()
                        + ", expected whole numbers, decimals, strings, bytes, dates or timestamps");
            }
        }
        Column[] key = columns.stream().map(functions::col).toArray(Column[]::new);
        Dataset<Row> keys = rows.select(key);
        long count = ranges == 1 ? 0 : keys.count();
        long samples = (long) ranges * samplesEach;
        if (samples < count) {
            long most = (long) (Long.MIN_VALUE + 0x1p64 * samples / count);
            keys = keys.filter(xxhash64(key).leq(lit(most)));
        }
        List<Row> sample = count == 0 ? List.of() : keys.collectAsList().stream().sorted(KeyRanges::compare).toList();
        Row[] starts = new Row[sample.isEmpty() ? 0 : ranges - 1];
        Arrays.setAll(starts, i -> sample.get((int) ((i + 1L) * sample.size() / ranges)));
        return new KeyRanges(starts);
    }

    @Override
    public Integer call(Row key) {
        int from = 0;
        int to = starts.length;
        while (from < to) {                                  // to the first range that starts above the key
            int middle = from + to >>> 1;
            if (compare(starts[middle], key) <= 0) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from;
    }

    /** Compares as Spark does: null first, strings and bytes as unsigned bytes. */
    static int compare(Row a, Row b) {
        for (int i = 0; i < a.size(); i++) {
            int order = a.isNullAt(i) || b.isNullAt(i) ? Boolean.compare(b.isNullAt(i), a.isNullAt(i))
                    : compare(a.get(i), b.get(i));
            if (order != 0) {
                return order;
            }
        }
        return 0;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static int compare(Object a, Object b) {
        return switch (a) {
            case String text -> Arrays.compareUnsigned(text.getBytes(StandardCharsets.UTF_8),
                    ((String) b).getBytes(StandardCharsets.UTF_8));
            case byte[] bytes -> Arrays.compareUnsigned(bytes, (byte[]) b);
            case Comparable value -> value.compareTo(b);
            default -> throw new IllegalStateException("a key of " + a.getClass());
        };
    }
}
