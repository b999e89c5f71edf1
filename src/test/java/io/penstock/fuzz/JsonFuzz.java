// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.json.Json;
import io.penstock.json.JsonException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** The JSON parser: what it reads, its writer writes and it reads again as the same. */
final class JsonFuzz implements FuzzTarget {

    static final FuzzTarget TARGET = new JsonFuzz();

    private JsonFuzz() {
    }

    @Override
    public int maxBytes() {
        return 4 << 10;
    }

    @Override
    public List<byte[]> seeds() {
        return Stream.of("null", "[true, false, []]", "{\"a\": {\"b\": [1, -2.5e-3, 1E400, 0.1]}, \"\": \"\"}",
                "\"\\u00e9\\ud83d\\ude00\\n\\\\\\/é\"", "[".repeat(70), "9223372036854775808", "-9223372036854775808",
                "123456789012345678901234567890", "4.9e-324", "{\"a\": 1, \"a\": 2}")
                .map(text -> text.getBytes(StandardCharsets.UTF_8)).toList();
    }

    @Override
    public void run(byte[] input, Path folder) throws IOException {
        Object value;
        try {
            value = Json.parse(input);
        } catch (JsonException e) {
            StoreOracle.requireOneLine(e.getMessage());
            if (e.offset() < 0 || e.offset() > input.length) {
                throw new AssertionError("offset " + e.offset() + " of " + input.length + " bytes");
            }
            return;
        }
        String text = Json.write(value);
        if (!Objects.equals(Json.parse(text), value) || !Objects.equals(Json.parse(Json.pretty(value)), value)) {
            throw new AssertionError(text);
        }
    }
}
