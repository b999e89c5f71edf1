// SPDX-License-Identifier: Apache-2.0
package io.penstock.json;

import io.penstock.text.Utf8;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A recursive-descent parser over a range of UTF-8 bytes.
 *
 * <p>Strings, which make up most of a corpus, take one pass that finds their end and one that decodes; a string without
 * escapes is decoded by the JDK straight from the input.
 */
final class JsonParser {

    /** Arrays and objects nest at most this deep. */
    private static final int MAX_DEPTH = 64;

    /** Converting a decimal number takes time quadratic in its length. */
    private static final int MAX_NUMBER_BYTES = 1000;

    private static final int END = -1;

    private final byte[] bytes;
    private final int from;
    private final int to;
    private int pos;
    private int depth;
    private byte[] scratch = new byte[256];

    JsonParser(byte[] bytes, int from, int to) {
        Objects.checkFromToIndex(from, to, bytes.length);
        this.bytes = bytes;
        this.from = from;
        this.to = to;
        pos = from;
    }

    @Nullable Object document() {
        @Nullable Object value = value();
        if (next() != END) {
            throw error("the end");
        }
        return value;
    }

    private @Nullable Object value() {
        return switch (next()) {
            case '{' -> object();
            case '[' -> array();
            case '"' -> string();
            case 't' -> literal("true", Boolean.TRUE);
            case 'f' -> literal("false", Boolean.FALSE);
            case 'n' -> literal("null", null);
            case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> number();
            default -> throw error("a value");
        };
    }

    private Map<String, @Nullable Object> object() {
        enter();
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        if (next() != '}') {
            do {
                if (next() != '"') {
                    throw error("a key in quotes");
                }
                int keyAt = pos;
                String key = string();
                if (map.containsKey(key)) {
                    throw new JsonException(keyAt - from, "the key " + JsonWriter.quoted(key) + " again",
                            "each key once");
                }
                if (next() != ':') {
                    throw error("':'");
                }
                pos++;
                map.put(key, value());
            } while (more('}', "',' or '}'"));
        }
        leave();
        return map;
    }

    private List<@Nullable Object> array() {
        enter();
        List<@Nullable Object> list = new ArrayList<>();
        if (next() != ']') {
            do {
                list.add(value());
            } while (more(']', "',' or ']'"));
        }
        leave();
        return list;
    }

    private void enter() {
        if (++depth > MAX_DEPTH) {
            throw new JsonException(pos - from, "level " + depth + " of nesting", "at most " + MAX_DEPTH);
        }
        pos++;
    }

    private void leave() {
        depth--;
        pos++;
    }

    private boolean more(char close, String expected) {
        int b = next();
        if (b == ',') {
            pos++;
            return true;
        }
        if (b != close) {
            throw error(expected);
        }
        return false;
    }

    private @Nullable Object literal(String word, @Nullable Object value) {
        for (int i = 0; i < word.length(); i++) {
            if (peek() != word.charAt(i)) {
                throw error("'" + word + "'");
            }
            pos++;
        }
        return value;
    }

    /** Goes to the next byte that is not white space and returns it, or {@link #END}. */
    private int next() {
        while (pos < to) {
            byte b = bytes[pos];
            if (b != ' ' && b != '\n' && b != '\r' && b != '\t') {
                return b & 0xFF;
            }
            pos++;
        }
        return END;
    }

    private int peek() {
        return pos < to ? bytes[pos] & 0xFF : END;
    }

    private Object number() {
        int start = pos;
        if (peek() == '-') {
            pos++;
        }
        if (peek() == '0') {
            pos++;
        } else {
            digits();
        }
        boolean integer = true;
        if (peek() == '.') {
            integer = false;
            pos++;
            digits();
        }
        if (peek() == 'e' || peek() == 'E') {
            integer = false;
            pos++;
            if (peek() == '+' || peek() == '-') {
                pos++;
            }
            digits();
        }
        int length = pos - start;
        if (length > MAX_NUMBER_BYTES) {
            throw new JsonException(start - from, "a number of " + length + " bytes", "at most " + MAX_NUMBER_BYTES);
        }
        String text = new String(bytes, start, length, StandardCharsets.ISO_8859_1);
        if (integer) {
            // 18 digits and a sign always fit.
            return length <= 18 ? (Object) Long.valueOf(text) : whole(new BigInteger(text));
        }
        double value = Double.parseDouble(text);
        if (Double.isInfinite(value)) {
            throw new JsonException(start - from, "the number " + text, "a number below 1.8e308");
        }
        return value;
    }

    private static Object whole(BigInteger value) {
        return value.bitLength() < Long.SIZE ? (Object) value.longValue() : value;
    }

    private void digits() {
        int start = pos;
        while (pos < to && bytes[pos] >= '0' && bytes[pos] <= '9') {
            pos++;
        }
        if (pos == start) {
            throw error("a digit");
        }
    }

    private String string() {
        int start = ++pos;
        passRun();
        if (peek() == '"') {
            int end = pos++;
            return new String(bytes, start, end - start, StandardCharsets.UTF_8);
        }
        return escapedString(start);
    }

    /** Reads a string that starts at {@code start} and whose first run ends at the position. */
    private String escapedString(int start) {
        // Unescaped UTF-8 is never longer than escaped: \\u takes six bytes for at most three.
        int length = 0;
        int runStart = start;
        while (true) {
            int b = peek();
            if (b != '"' && b != '\\') {
                throw error(b == END ? "'\"' at the end of the string" : "control characters as escapes");
            }
            length = append(runStart, length);
            if (b == '"') {
                pos++;
                return new String(scratch, 0, length, StandardCharsets.UTF_8);
            }
            length = unescape(length);
            runStart = pos;
            passRun();
        }
    }

    /** Goes to the next quotation mark, backslash or control character, or to the end. */
    private void passRun() {
        int end = FieldScanner.endOfRun(bytes, pos, to);
        int bad = Utf8.firstIllFormed(bytes, pos, end);
        if (bad >= 0) {
            pos = bad;
            throw new JsonException(pos - from, String.format(Locale.ROOT, "byte 0x%02X", peek()), "well-formed UTF-8");
        }
        pos = end;
    }

    private int append(int runStart, int length) {
        int run = pos - runStart;
        if (length + run + 4 > scratch.length) {
            scratch = Arrays.copyOf(scratch, Math.max(length + run + 4, 2 * scratch.length));
        }
        System.arraycopy(bytes, runStart, scratch, length, run);
        return length + run;
    }

    /** Decodes the escape at the position into the scratch bytes, which have room for four more. */
    private int unescape(int length) {
        int escapeAt = pos++;
        int b = peek();
        int unescaped = switch (b) {
            case '"', '\\', '/' -> b;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> END;
            default -> throw error("one of \" \\ / b f n r t u after '\\'");
        };
        pos++;
        if (unescaped >= 0) {
            scratch[length] = (byte) unescaped;
            return length + 1;
        }
        int codePoint = hex4();
        if (Character.isHighSurrogate((char) codePoint)) {
            if (peek() == '\\' && pos + 1 < to && bytes[pos + 1] == 'u') {
                pos += 2;
                int low = hex4();
                codePoint = Character.isLowSurrogate((char) low)
                        ? Character.toCodePoint((char) codePoint, (char) low)
                        : END;
            } else {
                codePoint = END;
            }
        } else if (Character.isLowSurrogate((char) codePoint)) {
            codePoint = END;
        }
        if (codePoint == END) {
            throw new JsonException(escapeAt - from, "an unpaired surrogate", "a pair of escapes, high before low");
        }
        return Utf8.encode(codePoint, scratch, length);
    }

    private int hex4() {
        int value = 0;
        for (int i = 0; i < 4; i++) {
            int b = peek();
            // Character.digit would take the digits of other scripts, but a byte holds none.
            int digit = b < 0x80 ? Character.digit(b, 16) : -1;
            if (digit < 0) {
                throw error("a hexadecimal digit");
            }
            value = value << 4 | digit;
            pos++;
        }
        return value;
    }

    private JsonException error(String expected) {
        int b = peek();
        String found = b == END ? "the end"
                : b > 0x20 && b < 0x7F ? "'" + (char) b + "'"
                : String.format(Locale.ROOT, "byte 0x%02X", b);
        return new JsonException(pos - from, found, expected);
    }
}
