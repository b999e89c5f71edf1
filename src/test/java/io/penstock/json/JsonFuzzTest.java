// SPDX-License-Identifier: Apache-2.0
package io.penstock.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.Thorough;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Any bytes give a value that writes back, or a {@link JsonException}; nothing else escapes. Seeds are fixed. */
@Tag("slow")
class JsonFuzzTest {

    /** Bytes at the borders of the well-formed ranges of UTF-8. */
    private static final int[] BORDERS = {0x61, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1,
        0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};

    private static final byte[] TOKENS =
            "{}[]\":,\\u-+.eE0123456789truefalsn \t\n\0\u007f".getBytes(StandardCharsets.UTF_8);

    @Test
    void malformedUtf8IsRefusedWhereTheJdkFindsIt() {
        SplittableRandom random = new SplittableRandom(41);
        int malformed = 0;
        for (int i = 0; i < 200_000; i++) {
            byte[] text = new byte[1 + random.nextInt(6)];
            for (int k = 0; k < text.length; k++) {
                text[k] = (byte) BORDERS[random.nextInt(BORDERS.length)];
            }
            byte[] quoted = new byte[text.length + 2];
            System.arraycopy(text, 0, quoted, 1, text.length);
            quoted[0] = '"';
            quoted[text.length + 1] = '"';
            String decoded = new String(text, StandardCharsets.UTF_8);
            int validChars = decoded.indexOf('\uFFFD');
            if (validChars < 0) {
                assertEquals(decoded, Json.parse(quoted));
            } else {
                malformed++;
                JsonException e = assertThrows(JsonException.class, () -> Json.parse(quoted));
                int validBytes = decoded.substring(0, validChars).getBytes(StandardCharsets.UTF_8).length;
                assertEquals(1 + validBytes, e.offset(), () -> Arrays.toString(text));
            }
        }
        assertTrue(malformed > 50_000 && malformed < 199_000, "malformed: " + malformed);
    }

    @Test
    void whatIsWrittenParsesBackToTheSame() {
        SplittableRandom random = new SplittableRandom(42);
        for (int i = 0; i < 5000; i++) {
            Object value = randomValue(random, 0);
            String compact = Json.write(value);
            assertEquals(value, Json.parse(compact), compact);
            assertEquals(value, Json.parse(Json.pretty(value)));
            assertEquals(value, Json.parse(compact.getBytes(StandardCharsets.UTF_8)));
            assertEquals(compact, Json.write(Json.parse(compact)));
        }
    }

    @Test
    void mutatedTextGivesAValueOrAJsonException() {
        SplittableRandom random = new SplittableRandom(43);
        int parsed = 0;
        int refused = 0;
        for (int i = 0; i < Thorough.times(30_000, 100_000); i++) {
            byte[] text = mutated(random, (i % 3 == 0 ? JsonTest.RFC_OBJECT : Json.write(randomValue(random, 0)))
                    .getBytes(StandardCharsets.UTF_8));
            try {
                Object value = Json.parse(text);
                assertEquals(value, Json.parse(Json.write(value)), "case " + i);
                parsed++;
            } catch (JsonException e) {
                assertTrue(e.offset() >= 0 && e.offset() <= text.length, e.getMessage());
                refused++;
            }
        }
        assertTrue(parsed > 10_000 && refused > 10_000, parsed + " parsed, " + refused + " refused");
    }

    private static byte[] mutated(SplittableRandom random, byte[] text) {
        for (int edits = random.nextInt(4); edits > 0 && text.length > 0; edits--) {
            int at = random.nextInt(text.length);
            switch (random.nextInt(4)) {
                case 0 -> text[at] = (byte) random.nextInt(256);
                case 1 -> text[at] = TOKENS[random.nextInt(TOKENS.length)];
                case 2 -> text = Arrays.copyOf(text, at);
                default -> text = concat(Arrays.copyOf(text, at),
                        Arrays.copyOfRange(text, random.nextInt(text.length), text.length));
            }
        }
        return text;
    }

    private static byte[] concat(byte[] head, byte[] tail) {
        byte[] both = Arrays.copyOf(head, head.length + tail.length);
        System.arraycopy(tail, 0, both, head.length, tail.length);
        return both;
    }

    private static Object randomValue(SplittableRandom random, int depth) {
        return switch (random.nextInt(depth < 4 ? 9 : 7)) {
            case 0 -> null;
            case 1 -> random.nextBoolean();
            case 2 -> random.nextLong() >> random.nextInt(64);
            case 3 -> (random.nextDouble() - 0.5) * Math.pow(10, random.nextInt(-300, 300));
            case 4 -> BigInteger.valueOf(Long.MAX_VALUE).multiply(BigInteger.valueOf(random.nextLong(2, 1L << 60)));
            case 5, 6 -> randomText(random);
            case 7 -> {
                List<Object> list = new ArrayList<>();
                for (int i = random.nextInt(5); i > 0; i--) {
                    list.add(randomValue(random, depth + 1));
                }
                yield list;
            }
            default -> {
                Map<String, Object> map = new LinkedHashMap<>();
                for (int i = random.nextInt(5); i > 0; i--) {
                    map.put(randomText(random), randomValue(random, depth + 1));
                }
                yield map;
            }
        };
    }

    private static String randomText(SplittableRandom random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(8); i > 0; i--) {
            text.appendCodePoint(switch (random.nextInt(4)) {
                case 0 -> random.nextInt(0x30);
                case 1 -> random.nextInt(0x80);
                case 2 -> random.nextInt(0xD800);
                default -> random.nextInt(0xE000, 0x110000);
            });
        }
        return text.toString();
    }
}
