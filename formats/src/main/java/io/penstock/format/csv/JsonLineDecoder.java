// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import io.penstock.format.csv.ColumnType.Kind;
import io.penstock.format.csv.RowLayout.Target;
import io.penstock.json.Json;
import io.penstock.json.JsonException;
import io.penstock.text.LineFeeds;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Decodes blocks of JSON lines. For one thread. */
final class JsonLineDecoder extends BlockDecoder {

    /** The column that has whole lines. */
    static final String LINE = "json";

    private final Map<String, List<Target>> targets;
    private final boolean isWhole;
    private final TimeText time = new TimeText();

    JsonLineDecoder(RowLayout layout, boolean isWhole) {
        super(layout);
        this.targets = layout.targets;
        this.isWhole = isWhole;
    }

    @Override
    int skipBlank(int at, int length) {
        int p = at;
        while (p < length && (text[p] == '\n' || text[p] == '\r' || text[p] == ' ' || text[p] == '\t')) {
            p++;
        }
        return p;
    }

    @Override
    int next(int at, int length) {
        return LineFeeds.first(text, at, length) + 1;
    }

    @Override
    int decodeRows(int length, int expected) {
        int at = 0;
        for (int row = 0; row < expected; row++) {
            at = skipBlank(at, length);
            if (at >= length) {
                return row;
            }
            int next = next(at, length);
            int end = next - 1;
            while (text[end - 1] == '\r' || text[end - 1] == ' ' || text[end - 1] == '\t') {
                end--;
            }
            put(row, at, end);
            at = next;
        }
        return expected;
    }

    private void put(int row, int from, int end) {
        Map<String, @Nullable Object> fields;
        try {
            fields = Json.object(Json.parse(text, from, end));
        } catch (JsonException _) {
            targets.values().forEach(those -> those.forEach(target -> bad(target, row)));
            return;
        }
        if (isWhole) {
            targets.values().forEach(those -> those.forEach(target -> putText(target, row, text, from, end, false)));
            return;
        }
        for (Map.Entry<String, List<Target>> entry : targets.entrySet()) {
            Object value = fields.get(entry.getKey());
            for (Target target : entry.getValue()) {
                put(target, row, value);
            }
        }
    }

    private void put(Target target, int row, @Nullable Object value) {
        Kind kind = target.type().kind();
        if (value == null) {
            missing(target, row);
        } else if (kind == Kind.TEXT || kind == Kind.HASH) {
            byte[] utf8 = (value instanceof String string ? string : Json.write(value))
                    .getBytes(StandardCharsets.UTF_8);
            putText(target, row, utf8, 0, utf8.length, true);
        } else if (kind == Kind.BOOL && value instanceof Boolean truth) {
            putTruth(target, row, truth);
        } else if (kind.dtype.isFloat() && value instanceof Number number) {
            putDouble(target, row, number.doubleValue());
        } else if (kind.isNumber() && value instanceof Long whole) {
            putLong(target, row, whole);
        } else if (value instanceof String string && isTime(target, string)) {
            putLong(target, row, kind == Kind.DATE ? time.days() : time.since1970(target.type().unit()));
        } else {
            bad(target, row);
        }
    }

    private boolean isTime(Target target, String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        return target.type().kind() == Kind.DATE && time.read(utf8, 0, utf8.length) && time.isDate()
                || target.type().kind() == Kind.TIMESTAMP && time.read(utf8, 0, utf8.length)
                        && time.fits(target.type().unit());
    }

    /** Returns what is wrong with a line; empty if it is a JSON object. */
    static String problem(byte[] line) {
        try {
            Json.object(Json.parse(line));
            return "";
        } catch (JsonException e) {
            return e.offset() < 0 ? "found " + e.found() : "at byte " + e.offset() + " of the line: found " + e.found();
        }
    }
}
