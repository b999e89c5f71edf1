// SPDX-License-Identifier: Apache-2.0
package io.penstock.json;

import io.penstock.text.Utf8;
import java.util.Map;
import java.util.Objects;

/** A line of JSON lines, as corpora and streams have them: an object with a text in one field. */
public final class JsonLine {

    private static final String EXPECTED = ", expected a JSON object: one a line, as 'jq -c ";

    /**
     * Returns the text in a field of an object.
     *
     * @param bytes the line is in its bytes {@code start} to {@code end}; a byte order mark, as files that were joined
     *     have, is skipped
     * @throws IllegalArgumentException if there is none; the message says what was found and expected
     */
    public static String text(byte[] bytes, int start, int end, String field) {
        int from = start + Utf8.markBytes(bytes, start, end);
        String problem = noObject(bytes, from, end);
        if (!problem.isEmpty()) {
            throw new IllegalArgumentException(problem);
        }
        Object value;
        try {
            value = Json.parse(bytes, from, end);
        } catch (JsonException e) {
            throw new IllegalArgumentException("not JSON: at byte " + e.offset() + " of the line: found " + e.found()
                    + ", expected " + e.expected(), e);
        }
        if (!(value instanceof Map<?, ?> object)) {
            throw new IllegalArgumentException("found " + Json.shown(value) + ", expected a JSON object");
        }
        if (!object.containsKey(field)) {
            throw new IllegalArgumentException("no field '" + field + "', found "
                    + object.keySet().stream().limit(8).map(key -> "'" + key + "'").toList());
        }
        if (!(object.get(field) instanceof String text)) {
            throw new IllegalArgumentException("field '" + field + "': found " + Json.shown(object.get(field))
                    + ", expected a string");
        }
        return Objects.requireNonNull(text);
    }

    /**
     * Returns what is wrong with a line that begins like JSON of another form: an array, or an object over several
     * lines. Empty if it does not. Looks only at the start of the line, which may be long.
     */
    public static String noObject(byte[] bytes, int from, int end) {
        int first = skipBlank(bytes, from, end);
        if (first < end && bytes[first] == '[') {
            return "found an array" + EXPECTED + ".[]' writes the elements of an array";
        }
        return first < end && bytes[first] == '{' && skipBlank(bytes, first + 1, end) == end
                ? "found an object of several lines" + EXPECTED + ".' writes them" : "";
    }

    private static int skipBlank(byte[] bytes, int from, int end) {
        int at = from;
        while (at < end && (bytes[at] == ' ' || bytes[at] == '\t' || bytes[at] == '\r')) {
            at++;
        }
        return at;
    }
}
