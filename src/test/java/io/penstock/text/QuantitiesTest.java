// SPDX-License-Identifier: Apache-2.0
package io.penstock.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuantitiesTest {

    @ParameterizedTest
    @CsvSource({"0, 0 B", "999, 999 B", "1000, 1.00 kB", "12345, 12.3 kB", "999499, 999 kB", "999500, 1.00 MB",
        "1.5, 1.50 B", "123456789, 123 MB"})
    void quantitiesHaveThreeDigits(double value, String text) {
        assertEquals(text, NumberText.of(value, "B"));
    }

    @ParameterizedTest
    @CsvSource({"0, 0 B", "2000, 2 kB", "2500, 2.50 kB", "-1500, -1.50 kB", "NaN, n/a"})
    void roundQuantitiesHaveNoDigitsBehindThePoint(double value, String text) {
        assertEquals(text, NumberText.round(value, "B"));
    }

    @Test
    void countsAgreeWithTheirNoun() {
        assertEquals("1 batch", NumberText.count(1, "batch", "batches"));
        assertEquals("0 batches", NumberText.count(0, "batch", "batches"));
        assertEquals("1,234 tokens", NumberText.count(1234, "token"));
    }

    @Test
    void sharesAreInPercent() {
        assertEquals("12.5 %", NumberText.percent(0.125));
        assertEquals("n/a", NumberText.percent(Double.NaN));
        assertEquals("+12.5 %", NumberText.change(0.125));
        assertEquals("-0.1 %", NumberText.change(-0.001));
        assertEquals("0.0012 %", NumberText.roughPercent(0.000012));
        assertEquals("0 %", NumberText.roughPercent(0));
    }

    @ParameterizedTest
    @CsvSource({"0, 0 ms", "0.25, 250 µs", "12.345, 12.3 ms", "1250, 1.25 s", "NaN, n/a"})
    void timesAreInTheUnitThatReadsBest(double millis, String text) {
        assertEquals(text, TimeText.of(millis));
    }

    @ParameterizedTest
    @CsvSource({"7.9, 0:07", "3599, 59:59", "3723, 1:02:03"})
    void clocksShowHoursOnlyWhereThereAreSome(double seconds, String text) {
        assertEquals(text, TimeText.clock(seconds));
    }

    @ParameterizedTest
    @CsvSource({"30s, 30000000000", "2m, 120000000000", "500ms, 500000000", "1.5, 1500000000", "1h, 3600000000000"})
    void timesAreRead(String text, long nanos) {
        assertEquals(nanos, TimeText.readNanos(text));
    }

    @ParameterizedTest
    @CsvSource({"1048576, 1048576", "64M, 67108864", "2G, 2147483648", "0.5K, 512"})
    void sizesAreRead(String text, long bytes) {
        assertEquals(bytes, ByteText.read(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "0s", "-1", "1d", "1 s", "s", "1e3", "9999999999"})
    void whatIsNoPositiveAmountIsRefused(String text) {
        assertThrows(IllegalArgumentException.class, () -> TimeText.readNanos(text));
        assertThrows(IllegalArgumentException.class, () -> ByteText.read(text));
    }

    @Test
    void whatRoundsToNothingIsNoPositiveAmount() {
        assertThrows(IllegalArgumentException.class, () -> ByteText.read("0.4"));
        assertThrows(IllegalArgumentException.class, () -> TimeText.readNanos("0.0000001ms"));
        assertEquals(1, ByteText.read("0.5"));
        assertEquals(1, TimeText.readNanos("0.000001ms"));
    }

    @ParameterizedTest
    @CsvSource({"0, 0 B", "1023, 1023 B", "1024, 1.0 KiB", "131174, 128.1 KiB", "1099511627776, 1.0 TiB"})
    void sizesOfMemoryAreInPowersOf1024(long bytes, String text) {
        assertEquals(text, ByteText.of(bytes));
    }
}
