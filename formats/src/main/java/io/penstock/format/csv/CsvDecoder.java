// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import io.penstock.format.csv.ColumnType.Kind;
import io.penstock.format.csv.RowLayout.Target;
import io.penstock.format.csv.TableOptions.RaggedRows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Decodes blocks of a CSV file. For one thread. */
final class CsvDecoder extends BlockDecoder {

    private static final Target[] NONE = {};

    private final CsvFields fields;
    private final RaggedRows ragged;
    /** What becomes of each field of the file. */
    private final Target[][] targets;
    /** For each field that is one number, where it goes; null for others. */
    private final @Nullable Numbers[] numbers;
    /** What this file has no fields for. */
    private final Target[] absent;
    private final DecimalText number = new DecimalText();
    private final TimeText time = new TimeText();

    CsvDecoder(RowLayout layout, CsvFields fields, RaggedRows ragged, List<String> names) {
        super(layout);
        this.fields = fields;
        this.ragged = ragged;
        this.targets = names.stream().map(name -> layout.targets.getOrDefault(name, List.of()).toArray(NONE))
                .toArray(Target[][]::new);
        this.numbers = Arrays.stream(targets).map(those -> those.length == 1 && those[0].type().kind().isNumber()
                ? new Numbers(those[0]) : null).toArray(Numbers[]::new);
        Set<String> own = new HashSet<>(names);
        List<Target> others = new ArrayList<>();
        for (Map.Entry<String, List<Target>> entry : layout.targets.entrySet()) {
            if (!own.contains(entry.getKey())) {
                others.addAll(entry.getValue());
            }
        }
        this.absent = others.toArray(NONE);
    }

    @Override
    int skipBlank(int at, int length) {
        int p = at;
        while (p < length && (text[p] == '\n' || text[p] == '\r')) {
            p++;
        }
        return p;
    }

    @Override
    int next(int at, int length) {
        int p = at;
        while (true) {
            int stop = fields.read(text, p, length);
            if (stop < 0) {
                return length;
            }
            if (stop >= length || text[stop] != fields.delimiter) {
                return RowReader.behindLineEnd(text, stop);
            }
            p = stop + 1;
        }
    }

    @Override
    int decodeRows(int length, int expected) {
        for (Numbers each : numbers) {
            if (each != null) {
                each.begin();
            }
        }
        int at = 0;
        int row = 0;
        while (row < expected) {
            at = skipBlank(at, length);
            if (at >= length) {
                return row;
            }
            int column = 0;
            while (true) {
                int stop = column < targets.length ? field(column, at, length, row)
                        : fields.read(text, at, length);
                if (stop < 0) {
                    return row;
                }
                column++;
                at = stop + 1;
                if (stop >= length || text[stop] != fields.delimiter) {
                    break;
                }
            }
            if (column != targets.length && ragged == RaggedRows.SKIP) {
                leaveOut(row);
                continue;
            }
            for (; column < targets.length; column++) {
                for (Target target : targets[column]) {
                    missing(target, row);
                }
            }
            for (Target target : absent) {
                missing(target, row);
            }
            row++;
        }
        return row;
    }

    private int field(int column, int at, int length, int row) {
        Numbers numeric = numbers[column];
        if (numeric != null) {
            int stop = number.read(text, at, fields.decimal);
            if (stop >= 0 && fields.isEnd(text[stop]) && !fields.isMissingNumber(text, at, stop)) {
                numeric.put(row, number, text);
                return stop;
            }
        }
        Target[] into = targets[column];
        int stop = fields.read(text, at, length);
        if (stop < 0 || into.length == 0) {
            return stop;
        }
        int from = fields.from;
        int to = fields.to;
        for (Target target : into) {
            fields.from = from;
            fields.to = to;
            put(target, row);
        }
        return stop;
    }

    private void put(Target target, int row) {
        Kind kind = target.type().kind();
        if (kind == Kind.TEXT) {
            putText(target, row, fields.bytes, fields.from, fields.to, fields.isCopied);
            return;
        }
        if (fields.isMissing()) {
            missing(target, row);
            return;
        }
        if (kind == Kind.CATEGORY || kind == Kind.HASH) {
            putText(target, row, fields.bytes, fields.from, fields.to, fields.isCopied);
            return;
        }
        fields.trim();
        if (kind.isNumber()) {
            if (fields.isNumber(number)) {
                putNumber(target, row, number, fields.bytes);
            } else if (kind.dtype.isFloat() && fields.notFinite() != 0) {
                putDouble(target, row, fields.notFinite());
            } else {
                bad(target, row);
            }
        } else if (kind == Kind.BOOL) {
            if (fields.truth() < 0) {
                bad(target, row);
            } else {
                putTruth(target, row, fields.truth() == 1);
            }
        } else if (!time.read(fields.bytes, fields.from, fields.to) || kind == Kind.DATE && !time.isDate()
                || kind == Kind.TIMESTAMP && !time.fits(target.type().unit())) {
            bad(target, row);
        } else {
            putLong(target, row, kind == Kind.DATE ? time.days() : time.since1970(target.type().unit()));
        }
    }
}
