// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.table;

import io.penstock.format.RecordDigest;
import io.penstock.internal.Sha256;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.store.Column;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Inspects a store of table rows: per column, the number of values and their digest as one array. The digest does not
 * depend on row batches, row groups, compression or encoding.
 *
 * <p>A column of numbers is one array of all rows' values. A column of lists is two: {@code .lengths} and
 * {@code .values}. A column of bytes or text is a count and a digest over an empty key and the value of each row, each
 * preceded by its length as a little-endian {@code u32}. Null rows and lists of numbers that contain a null have no
 * values; their length is -1. A column with such rows has another array, {@code .valid}, of one byte a row.
 */
public final class TableInspection {

    private static final int PROGRESS_MASK = (1 << 10) - 1;
    private static final int SHORT_DIGEST_DIGITS = 16;

    private final RecordStore store;
    private final Progress progress;
    private final long totalBytes;
    private long valuesDone;
    /** The records that have a value in the column that is digested. */
    private long present;

    private TableInspection(RecordStore store, Progress progress, long totalBytes) {
        this.store = store;
        this.progress = progress;
        this.totalBytes = totalBytes;
    }

    /**
     * Inspects a table.
     *
     * @param schema one line per column of the file, in the format's notation; null if not part of the table
     * @param storedTypes for each column, the format's name for the type of its numbers or list items
     */
    public static Map<String, @Nullable Object> of(RecordStore store, @Nullable List<String> schema,
            List<String> storedTypes, boolean digest, Progress progress, long totalBytes) {
        Map<String, @Nullable Object> table = Json.members("rows", store.size());
        if (schema != null) {
            table.put("schema", schema);
        }
        TableInspection inspection = new TableInspection(store, progress, totalBytes);
        List<Map<String, @Nullable Object>> columns = new ArrayList<>();
        for (int c = 0; c < store.columns().size(); c++) {
            columns.addAll(digest ? inspection.digest(c, storedTypes.get(c))
                    : List.of(describe(store.columns().get(c), storedTypes.get(c))));
        }
        table.put("columns", columns);
        return table;
    }

    private static Map<String, @Nullable Object> describe(Column column, String storedType) {
        Map<String, @Nullable Object> map = Json.members("name", column.name(),
                "dtype", column.spec().dtype().toString(), "stored_dtype", storedType);
        List<Object> shape = new ArrayList<>();
        for (long dim : column.spec().shape()) {
            shape.add(dim < 0 ? "*" : dim);
        }
        map.put("value_shape", shape);
        return map;
    }

    private List<Map<String, @Nullable Object>> digest(int c, String storedType) {
        Column column = store.columns().get(c);
        present = 0;
        RecordDigest valid = new RecordDigest();
        List<Map<String, @Nullable Object>> found = column.kind() == Column.Kind.NUMBERS
                ? digestNumbers(c, column, storedType, valid) : List.of(digestBytes(c, column, valid));
        List<Map<String, @Nullable Object>> all = new ArrayList<>();
        if (present < store.size()) {
            all.add(array(column.name() + ".valid", "|b1", List.of(store.size()), valid));
        }
        all.addAll(found);
        return all;
    }

    private List<Map<String, @Nullable Object>> digestNumbers(int c, Column column, String storedType,
            RecordDigest valid) {
        boolean list = column.spec().rank() > 0;
        long rowBytes = column.spec().rowBytes();
        RecordDigest lengths = new RecordDigest();
        RecordDigest values = new RecordDigest();
        Span span = new Span();
        long rows = 0;
        for (long record = 0; record < store.size(); record++, report()) {
            if (!isPresent(record, c, valid)) {
                lengths.addInt(-1);
                continue;
            }
            store.locate(record, c, span);
            long length = rowBytes > 0 ? span.byteSize() / rowBytes : column.spec().isVariable() ? 0
                    : list ? column.spec().dim(0) : 1;
            lengths.addInt((int) length);
            values.addBytes(span);
            rows += length;
        }
        List<Object> shape = new ArrayList<>(List.of(rows));
        for (int d = 1; d < column.spec().rank(); d++) {
            shape.add(column.spec().dim(d));
        }
        if (!list) {
            return List.of(array(column.name(), storedType, shape, values));
        }
        return List.of(array(column.name() + ".lengths", "<i4", List.of(store.size()), lengths),
                array(column.name() + ".values", storedType, shape, values));
    }

    private boolean isPresent(long record, int c, RecordDigest valid) {
        boolean isPresent = store.isPresent(record, c);
        valid.addByte(isPresent ? 1 : 0);
        present += isPresent ? 1 : 0;
        return isPresent;
    }

    private Map<String, @Nullable Object> digestBytes(int c, Column column, RecordDigest valid) {
        RecordDigest records = new RecordDigest();
        Span span = new Span();
        String first = null;
        long last = -1;
        long bytes = 0;
        for (long record = 0; record < store.size(); record++, report()) {
            if (!isPresent(record, c, valid)) {
                continue;
            }
            store.locate(record, c, span);
            records.add(span);
            if (first == null) {
                first = digestOf(span);
            }
            last = record;
            bytes += span.byteSize();
        }
        Map<String, @Nullable Object> map = Json.members("name", column.name(),
                column.kind() == Column.Kind.TEXT ? "strings" : "binaries", present, "record_digest", records.hex(),
                "bytes_total", bytes);
        if (first != null) {
            store.locate(last, c, span);
            map.put("first", first);
            map.put("last", digestOf(span));
        }
        return map;
    }

    private static String digestOf(Span span) {
        return Sha256.hex(span.slice(), _ -> { }).substring(0, SHORT_DIGEST_DIGITS);
    }

    private static Map<String, @Nullable Object> array(String name, String storedType, List<?> shape,
            RecordDigest digest) {
        return Json.members("name", name, "stored_dtype", storedType, "shape", shape, "nbytes", digest.byteSize(),
                "sha256", digest.hex());
    }

    private void report() {
        if ((++valuesDone & PROGRESS_MASK) == 0) {
            double share = (double) valuesDone / store.size() / store.columns().size();
            progress.update((long) (share * totalBytes), totalBytes);
        }
    }
}
