// SPDX-License-Identifier: Apache-2.0
package io.penstock.json;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class JsonFieldsTest {

    @Test
    void fieldsOfEveryKindAreRead() {
        JsonFields fields = parse("""
                {"v": 1, "text": "a", "truth": true, "whole": -9223372036854775808, "integer": 7, "wholes": [1, 2],
                 "reals": [1, 2.5], "texts": ["a", "b"], "names": {"x": "y"}, "object": {"inner": 3},
                 "objects": [{"i": 0}, {"i": 1}], "array": [null], "nothing": null}""");
        fields.expect("v", 1L);
        assertEquals("a", fields.text("text"));
        assertTrue(fields.truth("truth"));
        assertEquals(Long.MIN_VALUE, fields.whole("whole"));
        assertEquals(7, fields.integer("integer"));
        assertArrayEquals(new long[] {1, 2}, fields.wholes("wholes", 1, 2));
        assertArrayEquals(new double[] {1, 2.5}, fields.reals("reals"));
        assertEquals(List.of("a", "b"), fields.texts("texts"));
        assertEquals(Map.of("x", "y"), fields.object("names").texts());
        assertEquals(3, fields.object("object").whole("inner", 3, 3));
        assertEquals(List.of(0, 1), fields.objects("objects").stream().map(each -> each.integer("i")).toList());
        assertEquals(1, fields.array("array").size());
        assertTrue(fields.has("nothing"));
        assertNull(fields.textIfThere("nothing"));
        assertNull(fields.objectIfThere("missing"));
        assertFalse(fields.has("nothing"), "a field is there until it is read");
        fields.end();
    }

    @Test
    void whatIsWrongIsToldWithTheDocumentAndTheFieldsPath() {
        refused("{", _ -> { }, "at offset 1: found the end, expected a key in quotes");
        refused("[]", _ -> { }, "found an array, expected an object");
        refused("{}", fields -> fields.text("a"), "a: found nothing, expected a string");
        refused("{\"a\": null}", fields -> fields.text("a"), "a: found null, expected a string");
        refused("{\"a\": 2}", fields -> fields.expect("a", 1L), "a: found 2, expected 1");
        refused("{\"a\": 1.0}", fields -> fields.whole("a"), "a: found 1.0, expected a 64-bit integer");
        refused("{\"a\": 4294967296}", fields -> fields.integer("a"),
                "a: found 4294967296, expected a 32-bit integer");
        refused("{\"a\": 5}", fields -> fields.whole("a", 0, 4), "a: found 5, expected 0 to 4");
        refused("{\"a\": [0, -1]}", fields -> fields.wholes("a", 0, 4), "a[1]: found -1, expected 0 to 4");
        refused("{\"a\": [0, \"x\"]}", fields -> fields.reals("a"), "a[1]: found 'x', expected a finite number");
        refused("{\"a\": [" + "9".repeat(400) + "]}", fields -> fields.reals("a"), "a[0]: found " + "9".repeat(200)
                + "…, expected a finite number");
        refused("{\"a\": [{}, {\"b\": {\"c\": []}}]}",
                fields -> fields.objects("a").get(1).object("b").truth("c"),
                "a[1].b.c: found an array, expected true or false");
        refused("{\"a\": {\"b\": 1}}", fields -> fields.object("a").texts(), "a.b: found 1, expected a string");
        refused("{\"a\": 1, \"b\": 2, \"c\": 3}", fields -> {
            fields.whole("a");
            fields.has("d");
            fields.end();
        }, "found 'b', expected a, d");
    }

    private static JsonFields parse(String json) {
        return JsonFields.parse(json, "a thing");
    }

    private static void refused(String json, Consumer<JsonFields> reader, String message) {
        JsonException e = assertThrows(JsonException.class, () -> reader.accept(parse(json)), json);
        assertEquals("not a thing: " + message, e.getMessage());
    }
}
