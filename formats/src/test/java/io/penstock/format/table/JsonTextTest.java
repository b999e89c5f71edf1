// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.error.CodecException;
import io.penstock.json.Json;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What values are as JSON, against the JDK's own words for them. */
class JsonTextTest {

    private static final long SEED = 20261122;
    private static final int TRIALS = 3000;

    /** Writes a value. */
    @FunctionalInterface
    private interface Value {
        void write(JsonText text) throws IOException;
    }

    private static String json(Value value) throws IOException {
        try (JsonText text = new JsonText()) {
            value.write(text);
            return new String(text.bytes().written().toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
        }
    }

    @Test
    void datesAndTimestampsAreThoseOfTheProlepticGregorianCalendar() throws IOException {
        SplittableRandom random = new SplittableRandom(SEED);
        DateTimeFormatter seconds = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss");
        long first = LocalDate.of(0, 1, 1).toEpochDay();
        long last = LocalDate.of(9999, 12, 31).toEpochDay();
        for (int i = 0; i < TRIALS; i++) {
            long day = i == 0 ? first : i == 1 ? last : random.nextLong(first, last + 1);
            assertEquals("\"" + LocalDate.ofEpochDay(day) + "\"", json(text -> text.date(day)), "seed " + SEED);
            int digits = random.nextInt(4) * 3;
            long second = day * 86_400 + random.nextLong(86_400);
            int nanos = digits == 0 ? 0 : random.nextInt(1_000_000_000);
            String fraction = String.format("%09d", nanos).substring(0, digits);
            if (digits == 9 && Math.abs(second) > Long.MAX_VALUE / 2_000_000_000L) {
                continue;
            }
            long units = BigInteger.TEN.pow(digits).longValue();
            long count = second * units + (digits == 0 ? 0 : Long.parseLong(fraction));
            String expected = LocalDateTime.ofEpochSecond(second, 0, ZoneOffset.UTC).format(seconds)
                    + (digits == 0 ? "" : "." + fraction);
            assertEquals("\"" + expected + "\"", json(text -> text.timestamp(count, digits, false)), "seed " + SEED);
            assertEquals("\"" + expected + "Z\"", json(text -> text.timestamp(count, digits, true)));
        }
        assertEquals("\"+10000-01-01\"", json(text -> text.date(last + 1)));
        assertEquals("\"-0001-12-31\"", json(text -> text.date(first - 1)));
        for (long extreme : new long[] {Long.MIN_VALUE, Long.MAX_VALUE}) {
            json(text -> text.timestamp(extreme, 0, false));
            json(text -> text.time(extreme, 0));
        }
        assertEquals("\"-00:00:00.001\"", json(text -> text.time(-1, 3)));
        assertEquals("\"24:00:00\"", json(text -> text.time(86_400, 0)));
    }

    @Test
    void aTextIsTakenIfItIsUtf8AndThenReadsBackAsItIs() throws IOException {
        SplittableRandom random = new SplittableRandom(SEED);
        int[] points = {0, 0x1F, '"', '\\', '/', 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF};
        try (Arena arena = Arena.ofConfined()) {
            for (int i = 0; i < TRIALS; i++) {
                StringBuilder text = new StringBuilder();
                for (int n = random.nextInt(8); n > 0; n--) {
                    text.appendCodePoint(points[random.nextInt(points.length)]);
                }
                byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
                if (random.nextBoolean() && bytes.length > 0) {
                    bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
                }
                MemorySegment segment = arena.allocate(bytes.length + 1L);
                MemorySegment.copy(bytes, 0, segment, ValueLayout.JAVA_BYTE, 1, bytes.length);
                String expected;
                try {
                    expected = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
                } catch (CharacterCodingException _) {
                    assertThrows(CodecException.class, () -> json(out -> out.text(segment, 1, bytes.length)),
                            "seed " + SEED);
                    continue;
                }
                String found = json(out -> out.text(segment, 1, bytes.length));
                assertEquals(Json.write(expected), found, "seed " + SEED);
                assertEquals(expected, Json.parse(found));
            }
        }
    }

    @Test
    void numbersAndBytesHaveAllTheirDigits() throws IOException {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < 300; i++) {
            byte[] bytes = new byte[random.nextInt(1, 40)];
            random.nextBytes(bytes);
            int scale = random.nextInt(-5, 50);
            assertEquals(new BigDecimal(new BigInteger(bytes), scale).toPlainString(),
                    json(text -> text.decimal(bytes, scale)));
            byte[] many = new byte[random.nextInt(10_000)];
            random.nextBytes(many);
            assertEquals("\"" + Base64.getEncoder().encodeToString(many) + "\"",
                    json(text -> text.base64(MemorySegment.ofArray(many), 0, many.length)));
        }
        assertEquals("18446744073709551615", json(text -> text.unsigned(-1)));
        assertEquals("0.10000000149011612", json(text -> text.real(0.1f)));
        for (double none : new double[] {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
            assertEquals("null", json(text -> text.real(none)));
        }
    }

    @Test
    void aValueThatGrowsTooLongIsRefusedBeforeItTakesTheMemory() throws IOException {
        try (JsonText text = new JsonText()) {
            MemorySegment much = MemorySegment.ofArray(new byte[99]).fill((byte) 'a');
            text.begin(100);
            assertThrows(CodecException.class, () -> text.text(much, 0, 99));
            assertThrows(CodecException.class, () -> text.base64(much, 0, 99));
            text.begin(101);
            text.text(much, 0, 99);
            assertThrows(CodecException.class, () -> text.sign(','));
            text.begin();
            text.nothing();
        }
    }
}
