// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.table;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.CodecException;
import io.penstock.io.publish.NativeBytes;
import io.penstock.json.Json;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;

/**
 * Appends table values to a JSON text in UTF-8; {@code docs/formats/nested-values.md} defines the mapping of types.
 * Every method throws an {@link CodecException} if the value becomes too long. For one thread.
 */
public final class JsonText implements AutoCloseable {

    /** The most bytes that the text of one value may take. */
    public static final long MAX_VALUE_BYTES = 256 << 20;

    /** The greatest absolute scale of a decimal, which bounds the zeros written for it. */
    public static final int MAX_SCALE = 1000;

    /** The letters {@code null} as a little-endian number. */
    private static final int NULL = 'n' | 'u' << 8 | 'l' << 16 | 'l' << 24;
    private static final int BASE64_STEP = 3 << 10;
    private static final long SECONDS_OF_DAY = 86_400;
    private static final int SECONDS_OF_HOUR = 3600;
    private static final int MINUTE = 60;
    private static final int DAYS_OF_ERA = 146_097;
    private static final int YEARS_OF_ERA = 400;
    /** From the first of March of the year 0 to the first of January 1970. */
    private static final int DAYS_TO_1970 = 719_468;
    private static final int MAX_PLAIN_YEAR = 9999;

    private final NativeBytes out = new NativeBytes();
    private long limit = MAX_VALUE_BYTES;
    /** Whether the last {@code null} stands for a number that JSON does not have. */
    private boolean nullIsNumber;

    /** Returns a field's name in quotes, with a colon. */
    public static byte[] key(String name) {
        return (Json.write(name) + ":").getBytes(StandardCharsets.UTF_8);
    }

    void begin() {
        begin(MAX_VALUE_BYTES);
    }

    void begin(long maxBytes) {
        limit = out.byteSize() + maxBytes;
    }

    NativeBytes bytes() {
        return out;
    }

    /**
     * Tells whether the text from a byte on is a null, as the value of a union or a dictionary may be. That of a number
     * which is not finite is none.
     */
    boolean isNullFrom(long start) {
        return !nullIsNumber && out.byteSize() - start == Integer.BYTES && out.getInt(start) == NULL;
    }

    private void room(long more) {
        if (more > limit - out.byteSize()) {
            throw new CodecException("a value whose JSON takes more than " + MAX_VALUE_BYTES + " bytes");
        }
    }

    /** Appends a bracket, comma or other punctuation. */
    public void sign(char sign) {
        room(1);
        out.put((byte) sign);
    }

    public void raw(byte[] json) {
        room(json.length);
        out.put(json);
    }

    private void ascii(String text) {
        raw(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Appends {@code null}. */
    public void nothing() {
        nullIsNumber = false;
        ascii("null");
    }

    public void truth(boolean value) {
        ascii(value ? "true" : "false");
    }

    public void integer(long value) {
        ascii(Long.toString(value));
    }

    /** Appends an unsigned integer. */
    public void unsigned(long value) {
        ascii(Long.toUnsignedString(value));
    }

    /** Appends a float with the fewest digits that give the same {@code double}; {@code null} if it is not finite. */
    public void real(double value) {
        nullIsNumber = !Double.isFinite(value);
        ascii(nullIsNumber ? "null" : Double.toString(value));
    }

    /** Appends a decimal with all its digits; {@code unscaled} is big-endian two's complement. */
    public void decimal(byte[] unscaled, int scale) {
        ascii(new BigDecimal(unscaled.length == 0 ? BigInteger.ZERO : new BigInteger(unscaled), scale)
                .toPlainString());
    }

    /** Appends bytes as a string in base64. */
    public void base64(MemorySegment source, long offset, long length) {
        room(length / 3 * 4 + 6);
        out.put((byte) '"');
        for (long at = 0; at < length; at += BASE64_STEP) {
            out.put(Base64.getEncoder().encode(source.asSlice(offset + at, Math.min(BASE64_STEP, length - at))
                    .toArray(JAVA_BYTE)));
        }
        out.put((byte) '"');
    }

    /** Appends UTF-8 text as a string. */
    public void text(MemorySegment source, long offset, long length) {
        room(length + 2);
        out.put((byte) '"');
        long copied = offset;
        long end = offset + length;
        for (long at = offset; at < end;) {
            int octet = source.get(JAVA_BYTE, at);
            if (octet < 0) {
                at += sequence(source, at, end);
            } else if (octet < ' ' || octet == '"' || octet == '\\') {
                out.put(source, copied, at - copied);
                escape(octet);
                copied = ++at;
                room(end - at);
            } else {
                at++;
            }
        }
        out.put(source, copied, end - copied);
        room(1);
        out.put((byte) '"');
    }

    private void escape(int octet) {
        int letter = switch (octet) {
            case '"', '\\' -> octet;
            case '\n' -> 'n';
            case '\r' -> 'r';
            case '\t' -> 't';
            case '\b' -> 'b';
            case '\f' -> 'f';
            default -> 'u';
        };
        out.put((byte) '\\');
        out.put((byte) letter);
        if (letter == 'u') {
            out.put(String.format(Locale.ROOT, "%04x", octet).getBytes(StandardCharsets.US_ASCII));
        }
    }

    /** The length of a character of several bytes: table 3-7 of the Unicode standard. */
    private static int sequence(MemorySegment source, long at, long end) {
        int first = source.get(JAVA_BYTE, at) & 0xFF;
        int length = first < 0xC2 || first > 0xF4 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
        boolean good = length > 0 && length <= end - at;
        for (int i = 1; good && i < length; i++) {
            int next = source.get(JAVA_BYTE, at + i) & 0xFF;
            int least = i == 1 && first == 0xE0 ? 0xA0 : i == 1 && first == 0xF0 ? 0x90 : 0x80;
            int most = i == 1 && first == 0xED ? 0x9F : i == 1 && first == 0xF4 ? 0x8F : 0xBF;
            good = next >= least && next <= most;
        }
        if (!good) {
            throw new CodecException("a text that is not UTF-8");
        }
        return length;
    }

    /** Appends a date, in days since 1970-01-01, as a string: {@code "2024-02-29"}. */
    public void date(long days) {
        ascii("\"" + dateText(days) + "\"");
    }

    /** Appends a time of day as a string, {@code "12:30:00.250"}; its unit has 0, 3, 6 or 9 digits after the second. */
    public void time(long count, int digits) {
        ascii("\"" + (count < 0 ? "-" : "") + timeText(Math.absExact(Math.max(count, -Long.MAX_VALUE)), digits) + "\"");
    }

    /**
     * Appends a timestamp as a string, {@code "2024-02-29T12:30:00.250"}, an instant with a {@code Z}. It counts units
     * since 1970, which have 0, 3, 6 or 9 digits after the second.
     */
    public void timestamp(long count, int digits, boolean isInstant) {
        long perDay = SECONDS_OF_DAY * unitsOfSecond(digits);
        timestamp(Math.floorDiv(count, perDay), Math.floorMod(count, perDay), digits, isInstant);
    }

    /** Appends a timestamp of days since 1970-01-01 and units since midnight. */
    public void timestamp(long days, long count, int digits, boolean isInstant) {
        ascii("\"" + dateText(days) + "T" + timeText(count, digits) + (isInstant ? "Z" : "") + "\"");
    }

    private static long unitsOfSecond(int digits) {
        long units = 1;
        for (int i = 0; i < digits; i++) {
            units *= 10;
        }
        return units;
    }

    /** Formats a date of the proleptic Gregorian calendar; years start in March, so the leap day is last. */
    private static String dateText(long days) {
        long shifted = days + DAYS_TO_1970;
        long era = Math.floorDiv(shifted, DAYS_OF_ERA);
        long day = Math.floorMod(shifted, DAYS_OF_ERA);
        long yearOfEra = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        long dayOfYear = day - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
        long month = (5 * dayOfYear + 2) / 153;
        long dayOfMonth = dayOfYear - (153 * month + 2) / 5 + 1;
        long year = yearOfEra + era * YEARS_OF_ERA + (month >= 10 ? 1 : 0);
        String sign = year < 0 ? "-" : year > MAX_PLAIN_YEAR ? "+" : "";
        return sign + padded(Math.abs(year), 4) + "-" + padded(month >= 10 ? month - 9 : month + 3, 2) + "-"
                + padded(dayOfMonth, 2);
    }

    private static String timeText(long count, int digits) {
        long units = unitsOfSecond(digits);
        long seconds = count / units;
        return padded(seconds / SECONDS_OF_HOUR, 2) + ":" + padded(seconds / MINUTE % MINUTE, 2) + ":"
                + padded(seconds % MINUTE, 2) + (digits == 0 ? "" : "." + padded(count % units, digits));
    }

    private static String padded(long value, int digits) {
        String text = Long.toString(value);
        return "0".repeat(Math.max(0, digits - text.length())) + text;
    }

    @Override
    public void close() {
        out.close();
    }
}
