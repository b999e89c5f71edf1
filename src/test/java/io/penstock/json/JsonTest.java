// SPDX-License-Identifier: Apache-2.0
package io.penstock.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {

    /** The first example of RFC 8259, section 13, and part of the second. */
    static final String RFC_OBJECT = """
            {
              "Image": {
                  "Width":  800,
                  "Height": 600,
                  "Title":  "View from 15th Floor",
                  "Thumbnail": {
                      "Url":    "http://www.example.com/image/481989943",
                      "Height": 125,
                      "Width":  100
                  },
                  "Animated" : false,
                  "IDs": [116, 943, 234, 38793]
                }
            }
            """;

    private static final String RFC_ARRAY = """
            [ { "precision": "zip", "Latitude":  37.7668, "Longitude": -122.3959, "Address": "", "Zip": "94107" },
              { "precision": "zip", "Latitude":  37.371991, "Longitude": -122.026020, "Country": "US" } ]
            """;

    @Test
    void theExamplesOfTheRfcGiveTheirValues() {
        Map<String, Object> image = Json.object(Json.object(Json.parse(RFC_OBJECT)).get("Image"));
        assertEquals(List.of("Width", "Height", "Title", "Thumbnail", "Animated", "IDs"), List.copyOf(image.keySet()));
        assertEquals(800L, image.get("Width"));
        assertEquals("View from 15th Floor", image.get("Title"));
        assertEquals(false, image.get("Animated"));
        assertEquals(List.of(116L, 943L, 234L, 38793L), image.get("IDs"));
        assertEquals(125L, Json.object(image.get("Thumbnail")).get("Height"));
        assertEquals(-122.026020, Json.object(Json.array(Json.parse(RFC_ARRAY)).get(1)).get("Longitude"));
    }

    @Test
    void numbersAreLongsWhereTheyFitThenBigIntegersAndDoublesWithAPointOrExponent() {
        assertEquals(0L, Json.parse("0"));
        assertEquals(0L, Json.parse("-0"));
        assertEquals(Long.MAX_VALUE, Json.parse("9223372036854775807"));
        assertEquals(Long.MIN_VALUE, Json.parse("-9223372036854775808"));
        assertEquals(new BigInteger("9223372036854775808"), Json.parse("9223372036854775808"));
        assertEquals(new BigInteger("-9223372036854775809"), Json.parse("-9223372036854775809"));
        assertEquals(new BigInteger("9".repeat(1000)), Json.parse("9".repeat(1000)));
        assertEquals(1.0, Json.parse("1.0"));
        assertEquals(1e3, Json.parse("1e3"));
        assertEquals(-1.25e-7, Json.parse("-1.25E-7"));
        assertEquals(0.1, Json.parse("0.1"));
        assertEquals(0.0, Json.parse("1e-999"));
    }

    @Test
    void stringsAreUnescapedAndDecoded() {
        assertEquals("\"\\/\b\f\n\r\t", Json.parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""));
        assertEquals("A\0é€", Json.parse("\"\\u0041\\u0000\\u00e9\\u20AC\""));
        assertEquals("\uD834\uDD1E", Json.parse("\"\\uD834\\udd1e\""), "the clef of RFC 8259, section 7");
        String scripts = "naïve Ελλάδα 日本語 \uD83D\uDE00 \u007F\u0080\uFFFF\uE000";
        assertEquals(scripts, Json.parse("\"" + scripts + "\""));
        assertEquals(scripts + "\n" + scripts, Json.parse("\"" + scripts + "\\n" + scripts + "\""));
        String longText = (scripts + "\n").repeat(10_000);
        assertEquals(longText, Json.parse(Json.write(longText)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "[", "]", "{", "}", "[1,]", "[,1]", "[1 2]", "{\"a\":1,}", "{\"a\"}", "{\"a\":}",
        "{a:1}", "{1:1}", "{'a':1}", "'a'", "tru", "truE", "nul", "nullx", "True", "NaN", "Infinity", "-", "+1", "01",
        "-01", "1.", ".5", "1.e1", "1e", "1e+", "0x10", "1_000", "1 1", "\"", "\"a", "\"\\\"", "\"\\x41\"",
        "\"\\u12\"", "\"\\u12g4\"", "\"\\u\"", "\"\t\"", "\"\n\"", "\"\0\"", "\"\u001f\"", "[1]//c", "/*c*/1",
        "\uFEFF1", "\u00A01", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\ud800\"", "\"\\ud800x\"", "\"\\ud800\\n\"",
        "[1}", "{\"a\":1]", "1e999", "-1e999", "[\"a\":1]", "\u000B1", "\f1"})
    void whatTheGrammarLeavesOutIsRefused(String text) {
        assertThrows(JsonException.class, () -> Json.parse(text));
    }

    @Test
    void charsThatAreNoTextAreRefused() {
        assertEquals(2, assertThrows(JsonException.class, () -> Json.parse("\"é\uD800\"")).offset());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
        "[1, x]|4|'x'|a value",
        "{`a` 1}|5|'1'|':'",
        "[1 2]|3|'2'|',' or ']'",
        "{`a`:1 `b`:2}|7|'`'|',' or '}'",
        "[tru]|4|']'|'true'",
        "[1|2|the end|',' or ']'",
        "1 1|2|'1'|the end",
        "{`aé`:1,`aé`:2}|8|the key `aé` again|each key once",
        "[`é€\uD83D\uDE00`, x]|9|'x'|a value",
        "`\\q`|2|'q'|one of ` \\ / b f n r t u after '\\'",
        "`a|2|the end|'`' at the end of the string"})
    void errorsSayWhereWhatWasFoundAndWhatWasExpected(String text, long offset, String found, String expected) {
        JsonException e = assertThrows(JsonException.class, () -> Json.parse(text.replace('`', '"')));
        assertEquals(offset, e.offset());
        assertEquals(found.replace('`', '"'), e.found());
        assertEquals(expected.replace('`', '"'), e.expected());
        assertEquals("at offset " + offset + ": found " + e.found() + ", expected " + e.expected(), e.getMessage());
    }

    @Test
    void nestingIsLimited() {
        assertEquals(64, depthOf(Json.parse("[".repeat(64) + "]".repeat(64))));
        JsonException e = assertThrows(JsonException.class, () -> Json.parse("[".repeat(65) + "]".repeat(65)));
        assertEquals(64, e.offset());
        assertThrows(JsonException.class, () -> Json.parse("{\"a\":".repeat(100_000)));
        // Siblings do not add up.
        Json.parse("[" + "[],{},".repeat(1000) + "1]");
    }

    private static int depthOf(Object value) {
        return value instanceof List<?> list ? 1 + (list.isEmpty() ? 0 : depthOf(list.getFirst())) : 0;
    }

    @Test
    void overlongNumbersAreRefusedBeforeTheyCostTime() {
        assertThrows(JsonException.class, () -> Json.parse("9".repeat(1001)));
        assertThrows(JsonException.class, () -> Json.parse("0." + "9".repeat(10_000_000)));
    }

    @Test
    void ofARangeOfBytesOnlyTheRangeIsRead() {
        byte[] lines = "x{\"a\":\"é\"}\n[2]y".getBytes(StandardCharsets.UTF_8);
        assertEquals(Map.of("a", "é"), Json.parse(lines, 1, 11));
        assertEquals(List.of(2L), Json.parse(lines, 11, 15));
        JsonException e = assertThrows(JsonException.class, () -> Json.parse(lines, 11, 16));
        assertEquals(4, e.offset(), "from the start of the range");
        // The range cuts the é in two.
        assertThrows(JsonException.class, () -> Json.parse(lines, 6, 8));
        assertThrows(IndexOutOfBoundsException.class, () -> Json.parse(lines, 11, 17));
        assertThrows(IndexOutOfBoundsException.class, () -> Json.parse(lines, -1, 1));
        assertEquals(12L, Json.parse("12345".getBytes(StandardCharsets.US_ASCII), 0, 2));
    }

    @Test
    void prettyTextIsIndentedWithPlainArraysOnOneLine() {
        Map<String, Object> value = new LinkedHashMap<>();
        value.put("a", List.of(1, 2, 3));
        value.put("b", List.of(Map.of("c", 1), List.of()));
        value.put("d", Map.of());
        value.put("e", null);
        assertEquals("""
                {
                  "a": [1, 2, 3],
                  "b": [
                    {
                      "c": 1
                    },
                    []
                  ],
                  "d": {},
                  "e": null
                }
                """, Json.pretty(value));
        assertEquals("{\"a\":[1,2,3],\"b\":[{\"c\":1},[]],\"d\":{},\"e\":null}", Json.write(value));
    }

    @Test
    void valuesWithoutAJsonFormAreNotWritten() {
        assertThrows(IllegalArgumentException.class, () -> Json.write(Double.NaN));
        assertThrows(IllegalArgumentException.class, () -> Json.write(Float.POSITIVE_INFINITY));
        assertThrows(IllegalArgumentException.class, () -> Json.write(Map.of(1, 2)));
        assertThrows(IllegalArgumentException.class, () -> Json.write(new Object()));
        assertThrows(IllegalArgumentException.class, () -> Json.write("\uD800"));
        assertThrows(IllegalArgumentException.class, () -> Json.write("\uDC00\uD800"));
    }

    @Test
    void aReaderThatExpectsAnotherKindOfValueIsTold() {
        assertTrue(assertThrows(JsonException.class, () -> Json.object(List.of())).getMessage()
                .equals("found an array, expected an object"));
        assertThrows(JsonException.class, () -> Json.array(1L));
        assertThrows(JsonException.class, () -> Json.object(null));
        assertNull(Json.parse("null"));
    }
}
