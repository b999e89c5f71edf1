// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import io.penstock.format.csv.TableOptions.RaggedRows;
import io.penstock.text.Utf8;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** Finds the rows of a CSV file and what their fields are, for its index. */
final class CsvRows extends RowReader {

    private final CsvFields fields;
    private final RaggedRows ragged;
    /** Whether a row may be left out, which is known at its end only; then its fields count there, not before. */
    private final boolean maySkip;
    /** What the fields of the row are, if it may be left out; otherwise {@link #found}. */
    private final int[] kinds;
    /** Where the fields of columns of categories begin in a row that may be left out. */
    private final int[] starts;
    private final DecimalText number = new DecimalText();
    private final TimeText time = new TimeText();

    /**
     * @param isCategory for each column whether its texts are collected
     */
    CsvRows(CsvFields fields, RaggedRows ragged, boolean[] isCategory) {
        super(isCategory.length);
        this.fields = fields;
        this.ragged = ragged;
        this.maySkip = ragged == RaggedRows.SKIP;
        this.kinds = maySkip ? new int[isCategory.length] : found;
        this.starts = new int[isCategory.length];
        for (int c = 0; c < isCategory.length; c++) {
            categories[c] = isCategory[c] ? new Categories() : null;
        }
    }

    @Override
    int row(byte[] bytes, int at, int end, boolean isEnd) {
        isCounted = false;
        problem = "";
        if (bytes[at] == '\n' || bytes[at] == '\r') {
            return next(bytes, at, end, isEnd);
        }
        if (maySkip) {
            Arrays.fill(kinds, 0);
        }
        int columns = found.length;
        int p = at;
        int column = 0;
        while (true) {
            int stop = number.read(bytes, p, fields.decimal);
            if (stop >= 0 && fields.isEnd(bytes[stop]) && column < columns && categories[column] == null
                    && !fields.isMissingNumber(bytes, p, stop)) {
                if (stop >= end && !isEnd) {
                    return INCOMPLETE;
                }
                kinds[column] |= number.isLong(bytes) ? ColumnType.INTEGER : ColumnType.REAL;
            } else {
                stop = other(bytes, p, end, isEnd, column);
                if (stop < 0) {
                    return INCOMPLETE;
                }
            }
            column++;
            if (bytes[stop] != fields.delimiter || stop >= end) {
                p = stop;
                break;
            }
            p = stop + 1;
        }
        int next = next(bytes, p, end, isEnd);
        if (next != INCOMPLETE) {
            isCounted = column == columns || !maySkip;
            if (isCounted && maySkip) {
                count(bytes, end);
            }
            if (column != columns && ragged == RaggedRows.REFUSE) {
                problem = column + (column == 1 ? " field" : " fields") + " in a row of " + columns + " columns";
            }
            for (int c = column; c < columns && ragged == RaggedRows.PAD; c++) {
                found[c] |= ColumnType.MISSING;
            }
        }
        return next;
    }

    /** Counts the fields of a whole row. */
    private void count(byte[] bytes, int end) {
        for (int c = 0; c < found.length; c++) {
            if (categories[c] != null) {
                fields.read(bytes, starts[c], end);
                collect(c);
            }
            found[c] |= kinds[c];
        }
    }

    private static int next(byte[] bytes, int at, int end, boolean isEnd) {
        int next = behindLineEnd(bytes, at);
        return next <= end ? next : isEnd ? end : INCOMPLETE;
    }

    private int other(byte[] bytes, int at, int end, boolean isEnd, int column) {
        int stop = fields.read(bytes, at, end);
        if (stop < 0 || stop >= end && !isEnd) {
            return INCOMPLETE;
        }
        if (column >= found.length) {
            return stop;
        }
        if (categories[column] == null) {
            // A column of texts is no other one, but a hash may be missing.
            kinds[column] |= (found[column] & ColumnType.OTHER_TEXT) == 0 ? kind()
                    : fields.isMissing() ? ColumnType.MISSING : ColumnType.OTHER_TEXT;
        } else if (maySkip) {
            starts[column] = at;
        } else {
            collect(column);
        }
        return stop;
    }

    /** Adds the last field to the texts of its column. */
    private void collect(int column) {
        // What is no UTF-8 is no category, so that its row has no value.
        boolean isMissing = fields.isMissing() || Utf8.firstIllFormed(fields.bytes, fields.from, fields.to) >= 0;
        kinds[column] |= isMissing ? ColumnType.MISSING : ColumnType.OTHER_TEXT;
        Categories collected = categories[column];
        if (!isMissing && collected != null) {
            collected.add(fields.bytes, fields.from, fields.to);
        }
    }

    private int kind() {
        if (fields.isMissing()) {
            return ColumnType.MISSING;
        }
        fields.trim();
        if (fields.isNumber(number)) {
            return number.isLong(fields.bytes) ? ColumnType.INTEGER : ColumnType.REAL;
        }
        if (fields.truth() >= 0) {
            return ColumnType.TRUTH;
        }
        if (time.read(fields.bytes, fields.from, fields.to)) {
            return (time.isDate() ? ColumnType.DAY : time.isZoned() ? ColumnType.ZONED_TIME : ColumnType.LOCAL_TIME)
                    | (time.isFine() ? ColumnType.FINE_TIME : 0)
                    | (time.fits(TimeUnit.NANOSECONDS) ? 0 : ColumnType.FAR_TIME);
        }
        return fields.notFinite() != 0 ? ColumnType.REAL : ColumnType.OTHER_TEXT;
    }
}
