// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.json.FieldScanner;
import io.penstock.json.Json;
import io.penstock.json.JsonException;
import io.penstock.text.Utf8;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The scanner beside the parser, which decides what it gives up on. */
class FieldScannerTest {

    private final FieldScanner scanner = new FieldScanner("text");

    /** What the scanner finds; null if it gives up. */
    private String scanned(byte[] line) {
        byte[] wider = new byte[line.length + 13];
        System.arraycopy(line, 0, wider, 5, line.length);
        return scanner.scan(wider, 5, 5 + line.length)
                ? new String(scanner.text(), scanner.textStart(), scanner.textLength(), UTF_8) : null;
    }

    private static String parsed(byte[] line) {
        try {
            return Json.parse(line) instanceof Map<?, ?> map && map.get("text") instanceof String text ? text : null;
        } catch (JsonException e) {
            return null;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"text\":\"\"}", "  {\"text\" : \"a b\" }\r", "{\"id\":1,\"text\":\"x\",\"n\":null}",
        "{\"a\":[1,2.5,-0,{\"text\":\"no\"}],\"b\":{},\"c\":[],\"text\":\"yes\",\"d\":{\"x\":true,\"y\":false}}",
        "{\"text\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u4f60\\ud83d\\ude00\\u0000 end\"}",
        "{\"t\\u0065xt2\":1}", "{\"text\":\"é你😀\",\"meta\":{\"source\":\"a\\nb\"}}"})
    void findsTheTextOfUsualLines(String line) {
        byte[] utf8 = line.getBytes(UTF_8);
        if (line.contains("\\u0065")) {
            assertEquals(null, scanned(utf8));
        } else {
            assertEquals(parsed(utf8), scanned(utf8));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[1]", "\"text\"", "{}", "{\"text\":5}", "{\"text\":null}", "{\"text\":\"a\"} x",
        "{\"text\":\"a\",\"text\":\"b\"}", "{\"a\":1,\"a\":2,\"text\":\"b\"}",
        "{\"m\":{\"a\":1,\"a\":2},\"text\":\"b\"}",
        "{\"text\":\"\\ud800\"}", "{\"text\":\"\\ud83dx\"}", "{\"text\":\"\\udc00\"}", "{\"text\":\"\\x\"}",
        "{\"text\":\"\\u12g4\"}", "{\"text\":\"a\tb\"}", "{\"text\":\"a", "{\"text\":\"a\"", "{\"text\":\"a\",}",
        "{\"text\" \"a\"}", "{text:\"a\"}", "{\"n\":01,\"text\":\"a\"}", "{\"n\":1.,\"text\":\"a\"}",
        "{\"n\":+1,\"text\":\"a\"}", "{\"n\":tru,\"text\":\"a\"}", "{\"n\":[1,],\"text\":\"a\"}", "{\"n\":}",
        "{\"text\":\"a\\\"}", "{\"text\":\"\\u00\"}", "{\"n\":-,\"text\":\"a\"}", "{\"n\":nul"})
    void givesUpOnWhatIsNoSuchObject(String line) {
        assertEquals(null, scanned(line.getBytes(UTF_8)), line);
        assertEquals(null, parsed(line.getBytes(UTF_8)), line);
    }

    @Test
    void findsTheSameAsTheParserInRandomObjects() {
        Random random = new Random(1);
        for (int i = 0; i < 5_000; i++) {
            byte[] line = Json.write(object(random, 0)).getBytes(UTF_8);
            assertEquals(parsed(line), scanned(line), () -> new String(line, UTF_8));
        }
    }

    /** Whatever one changes: what the scanner finds, the parser finds. */
    @Test
    void neverFindsWhatTheParserRefuses() {
        Random random = new Random(2);
        int found = 0;
        String signs = "{}[]\",:\\u0tfn1-. \n";
        for (int i = 0; i < 20_000; i++) {
            byte[] line = Json.write(object(random, 0)).getBytes(UTF_8);
            for (int changes = random.nextInt(3); changes >= 0; changes--) {
                line[random.nextInt(line.length)] = (byte) signs.charAt(random.nextInt(signs.length()));
            }
            if (Utf8.firstIllFormed(line, 0, line.length) < 0 && scanned(line) != null) {
                found++;
                assertEquals(parsed(line), scanned(line), () -> new String(line, UTF_8));
            }
        }
        assertTrue(found > 300, "only " + found);
    }

    @Test
    void givesUpOnWhatIsTooDeepOrHasTooManyKeys() {
        assertEquals(null, scanned(("{\"a\":" + "[".repeat(30) + "]".repeat(30) + ",\"text\":\"x\"}").getBytes(UTF_8)));
        Map<String, Object> many = new LinkedHashMap<>();
        for (int i = 0; i < 100; i++) {
            many.put("k" + i, i);
        }
        many.put("text", "x");
        assertEquals(null, scanned(Json.write(many).getBytes(UTF_8)));
    }

    @Test
    void makesNoObjectForADocument() throws IOException {
        com.sun.management.ThreadMXBean threads =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        List<byte[]> lines = Files.readAllLines(Corpora.file("jsonl/docs.jsonl")).stream()
                .filter(line -> !line.isBlank()).map(line -> line.getBytes(UTF_8)).collect(Collectors.toList());
        for (int round = 0; round < 3; round++) {
            lines.forEach(line -> scanner.scan(line, 0, line.length));
        }
        long before = threads.getCurrentThreadAllocatedBytes();
        int found = 0;
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < lines.size(); i++) {
                found += scanner.scan(lines.get(i), 0, lines.get(i).length) ? 1 : 0;
            }
        }
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertEquals(10 * lines.size(), found);
        assertTrue(allocated < found, () -> allocated + " bytes");
    }

    private static Map<String, Object> object(Random random, int depth) {
        Map<String, Object> map = new LinkedHashMap<>();
        int members = random.nextInt(5);
        int text = random.nextInt(members + 1);
        for (int i = 0; i <= members; i++) {
            if (i == text && random.nextInt(8) > 0) {
                map.put("text", string(random));
            }
            map.put("k" + random.nextInt(100), value(random, depth + 1));
        }
        return map;
    }

    private static Object value(Random random, int depth) {
        return switch (random.nextInt(depth > 3 ? 5 : 7)) {
            case 0 -> null;
            case 1 -> random.nextBoolean();
            case 2 -> (long) random.nextInt(-1000, 1000);
            case 3 -> random.nextInt(100) / 8.0;
            case 4 -> string(random);
            case 5 -> random.ints(random.nextInt(4)).mapToObj(_ -> string(random)).toList();
            default -> object(random, depth);
        };
    }

    private static String string(Random random) {
        return GeneratedText.next(random);
    }
}
