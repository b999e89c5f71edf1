// SPDX-License-Identifier: Apache-2.0
package io.penstock.lake;

import io.penstock.json.Json;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;

/**
 * Single values as a store gives them: numbers in little-endian order, text in UTF-8, decimals as text in JSON, dates
 * as days, times as microseconds.
 */
public final class Values {

    /** {@code 2024-01-31 12:00:00.5} as in the names of partitions, and with {@code T} and {@code Z}. */
    private static final DateTimeFormatter TIMESTAMP = new DateTimeFormatterBuilder()
            .append(DateTimeFormatter.ISO_LOCAL_DATE).appendPattern("[ ]['T']").append(DateTimeFormatter.ISO_LOCAL_TIME)
            .optionalStart().appendOffsetId().optionalEnd().parseDefaulting(ChronoField.OFFSET_SECONDS, 0)
            .toFormatter();

    private Values() {
    }

    /**
     * Encodes a number: an integer, days or microseconds, or the bits of a float.
     *
     * @param kind its type
     * @param bits the value; of a float its bits
     * @return the bytes
     */
    public static byte[] number(ValueType.Kind kind, long bits) {
        ByteBuffer bytes = ByteBuffer.allocate(kind.dtype().byteSize()).order(ByteOrder.LITTLE_ENDIAN);
        switch (bytes.capacity()) {
            case Byte.BYTES -> bytes.put((byte) bits);
            case Short.BYTES -> bytes.putShort((short) bits);
            case Integer.BYTES -> bytes.putInt((int) bits);
            default -> bytes.putLong(bits);
        }
        return bytes.array();
    }

    /**
     * Encodes a decimal.
     *
     * @param value the value
     * @param scale the digits after the point of its column
     * @return the bytes
     * @throws ArithmeticException if it has more digits
     */
    public static byte[] decimal(BigDecimal value, int scale) {
        return Json.write(value.setScale(scale, RoundingMode.UNNECESSARY).toPlainString())
                .getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Encodes a value that is written as text, as the values of Delta's partitions are.
     *
     * @param text the text
     * @param type the column's type
     * @return the bytes
     * @throws IllegalArgumentException if the text is no value of the type
     */
    public static byte[] parse(String text, ValueType type) {
        try {
            return switch (type.kind()) {
                case BOOL -> number(type.kind(), Boolean.parseBoolean(text) ? 1 : 0);
                case I8, I16, I32, I64 -> number(type.kind(), Long.parseLong(text));
                case F32 -> number(type.kind(), Float.floatToRawIntBits(Float.parseFloat(text)));
                case F64 -> number(type.kind(), Double.doubleToRawLongBits(Double.parseDouble(text)));
                case DATE -> number(type.kind(), LocalDate.parse(text).toEpochDay());
                case TIME -> number(type.kind(), LocalTime.parse(text).toNanoOfDay() / 1000);
                case TIMESTAMP -> number(type.kind(), timestamp(text, ChronoUnit.MICROS));
                case TIMESTAMP_NANOS -> number(type.kind(), timestamp(text, ChronoUnit.NANOS));
                case DECIMAL -> decimal(new BigDecimal(text), type.scale());
                case TEXT, JSON -> text.getBytes(StandardCharsets.UTF_8);
                // Delta writes each byte as the character of its number.
                case BYTES, FIXED -> text.getBytes(StandardCharsets.ISO_8859_1);
            };
        } catch (RuntimeException e) {
            throw new IllegalArgumentException("found value '" + text + "', expected one of type " + type, e);
        }
    }

    /** Returns the units since 1970-01-01 of a timestamp, in UTC unless it says an offset. */
    static long timestamp(String text, ChronoUnit unit) {
        LocalDateTime at = OffsetDateTime.parse(text, TIMESTAMP).withOffsetSameInstant(ZoneOffset.UTC)
                .toLocalDateTime();
        long perSecond = unit == ChronoUnit.NANOS ? 1_000_000_000 : 1_000_000;
        return Math.addExact(Math.multiplyExact(at.toEpochSecond(ZoneOffset.UTC), perSecond),
                at.getNano() * perSecond / 1_000_000_000);
    }
}
