// SPDX-License-Identifier: Apache-2.0
package io.penstock.json;

import io.penstock.text.Utf8;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Finds the text of one field in a JSON object, without making objects. It reads what corpora have: an object of
 * strings, short numbers, literals, arrays and objects. For anything else, malformed or only unusual, it gives up, and
 * {@link Json} decides. Not thread-safe.
 */
public final class FieldScanner {

    private static final VarHandle WORDS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGH_BITS = 0x8080808080808080L;

    private static final int MAX_DEPTH = 16;
    private static final int MAX_KEYS = 64;
    private static final int MAX_NUMBER_BYTES = 40;
    private static final int MAX_ESCAPED_BYTES = 4;
    /** A buffer up to this size is kept for the next text. */
    private static final int KEPT_BYTES = 1 << 20;
    private static final int SMALL_BYTES = 1 << 12;

    /** Thrown without a stack trace: the line is unusual. */
    private static final class Unusual extends RuntimeException {
        private static final long serialVersionUID = 1;
        private static final Unusual INSTANCE = new Unusual();

        private Unusual() {
            super(null, null, false, false);
        }
    }

    private final byte[] field;
    /** The start and end of each key of the enclosing objects, to find repeated keys. */
    private final int[] keyStarts = new int[MAX_KEYS];
    private final int[] keyEnds = new int[MAX_KEYS];
    private int keys;
    private byte[] bytes = new byte[0];
    private int at;
    private int end;
    private boolean found;
    /** The last string that had escapes, without them. */
    private byte[] unescaped = new byte[SMALL_BYTES];
    /** Takes the place of {@link #unescaped} while that holds the text. */
    private byte[] spare = new byte[SMALL_BYTES];
    /** The last string: in {@link #unescaped} from index 0 if it has escapes, otherwise in {@link #bytes}. */
    private boolean hasEscapes;
    private int stringStart;
    private int stringLength;
    private byte[] text = bytes;
    private int textStart;
    private int textLength;

    /** Creates a scanner for a field. */
    public FieldScanner(String field) {
        this.field = field.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Scans a line.
     *
     * @param utf8 contains the line, in well-formed UTF-8
     * @return whether the line is an object in which the field is a string, without anything unusual; if not, the line
     *     must be parsed
     */
    public boolean scan(byte[] utf8, int from, int to) {
        bytes = utf8;
        at = from;
        end = to;
        keys = 0;
        found = false;
        unescaped = unescaped.length > KEPT_BYTES ? new byte[SMALL_BYTES] : unescaped;
        spare = spare.length > KEPT_BYTES ? new byte[SMALL_BYTES] : spare;
        try {
            if (next() != '{') {
                return false;
            }
            object(0);
            return found && next() < 0;
        } catch (Unusual _) {
            return false;
        }
    }

    /** The array that contains the text, until the next scan. */
    public byte[] text() {
        return text;
    }

    public int textStart() {
        return textStart;
    }

    public int textLength() {
        return textLength;
    }

    private void object(int depth) {
        int firstKey = keys;
        at++;
        if (next() == '}') {
            at++;
            return;
        }
        while (true) {
            require(next() == '"');
            string();
            require(!hasEscapes);
            boolean isField = addKey(firstKey) && depth == 0;
            require(next() == ':');
            at++;
            if (isField) {
                require(next() == '"');
                string();
                keepText();
            } else {
                value(depth);
            }
            int after = next();
            at++;
            if (after != ',') {
                require(after == '}');
                keys = firstKey;
                return;
            }
        }
    }

    /** Adds the last string to the keys of an object; returns whether it is the field's name. */
    private boolean addKey(int firstKey) {
        int start = stringStart;
        int stop = start + stringLength;
        for (int key = firstKey; key < keys; key++) {
            require(!Arrays.equals(bytes, keyStarts[key], keyEnds[key], bytes, start, stop));
        }
        require(keys < MAX_KEYS);
        keyStarts[keys] = start;
        keyEnds[keys++] = stop;
        return Arrays.equals(bytes, start, stop, field, 0, field.length);
    }

    private void keepText() {
        found = true;
        textLength = stringLength;
        if (!hasEscapes) {
            text = bytes;
            textStart = stringStart;
            return;
        }
        text = unescaped;
        textStart = 0;
        unescaped = spare;
        spare = text;
    }

    private void array(int depth) {
        at++;
        if (next() == ']') {
            at++;
            return;
        }
        while (true) {
            value(depth);
            int after = next();
            at++;
            if (after != ',') {
                require(after == ']');
                return;
            }
        }
    }

    private void value(int depth) {
        switch (next()) {
            case '"' -> string();
            case '{' -> {
                require(depth < MAX_DEPTH);
                object(depth + 1);
            }
            case '[' -> {
                require(depth < MAX_DEPTH);
                array(depth + 1);
            }
            case 't' -> literal("true");
            case 'f' -> literal("false");
            case 'n' -> literal("null");
            default -> number();
        }
    }

    private void literal(String word) {
        for (int i = 0; i < word.length(); i++) {
            require(peek() == word.charAt(i));
            at++;
        }
    }

    private void number() {
        int start = at;
        if (peek() == '-') {
            at++;
        }
        if (peek() == '0') {
            at++;
        } else {
            digits();
        }
        if (peek() == '.') {
            at++;
            digits();
        }
        // An exponent may lead beyond what a number can be.
        require(peek() != 'e' && peek() != 'E' && at - start <= MAX_NUMBER_BYTES);
    }

    private void digits() {
        int start = at;
        while (at < end && bytes[at] >= '0' && bytes[at] <= '9') {
            at++;
        }
        require(at > start);
    }

    /** Reads the string that starts at the position. */
    private void string() {
        int start = ++at;
        hasEscapes = false;
        int length = 0;
        int runStart = start;
        while (true) {
            at = endOfRun(bytes, at, end);
            require(at < end);
            int b = bytes[at];
            if (b == '"' && !hasEscapes) {
                stringStart = start;
                stringLength = at++ - start;
                return;
            }
            hasEscapes = true;
            length = append(runStart, length);
            if (b == '"') {
                at++;
                stringStart = 0;
                stringLength = length;
                return;
            }
            require(b == '\\');
            length = escape(length);
            runStart = at;
        }
    }

    /** The first quotation mark, backslash or control character. */
    static int endOfRun(byte[] bytes, int from, int end) {
        int at = from;
        while (at + Long.BYTES <= end) {
            long word = (long) WORDS.get(bytes, at);
            long quote = word ^ '"' * ONES;
            long backslash = word ^ '\\' * ONES;
            // The lowest bit that is set is exact; bits above it need not be.
            long stops = (quote - ONES & ~quote | backslash - ONES & ~backslash | word - ' ' * ONES & ~word)
                    & HIGH_BITS;
            if (stops != 0) {
                return at + (Long.numberOfTrailingZeros(stops) >>> 3);
            }
            at += Long.BYTES;
        }
        while (at < end && bytes[at] != '"' && bytes[at] != '\\' && (bytes[at] < 0 || bytes[at] >= ' ')) {
            at++;
        }
        return at;
    }

    private int append(int runStart, int length) {
        int run = at - runStart;
        if (length + run + MAX_ESCAPED_BYTES > unescaped.length) {
            unescaped = Arrays.copyOf(unescaped, Math.max(length + run + MAX_ESCAPED_BYTES, 2 * unescaped.length));
        }
        System.arraycopy(bytes, runStart, unescaped, length, run);
        return length + run;
    }

    private int escape(int length) {
        at++;
        int plain = switch (peek()) {
            case '"' -> '"';
            case '\\' -> '\\';
            case '/' -> '/';
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> -1;
            default -> throw Unusual.INSTANCE;
        };
        at++;
        if (plain >= 0) {
            unescaped[length] = (byte) plain;
            return length + 1;
        }
        int character = hex4();
        if (Character.isSurrogate((char) character)) {
            require(Character.isHighSurrogate((char) character) && peek() == '\\');
            at++;
            require(peek() == 'u');
            at++;
            int low = hex4();
            require(Character.isLowSurrogate((char) low));
            character = Character.toCodePoint((char) character, (char) low);
        }
        return Utf8.encode(character, unescaped, length);
    }

    private int hex4() {
        require(end - at >= 4);
        int value = 0;
        for (int i = 0; i < 4; i++) {
            int b = bytes[at++];
            int digit = b >= '0' && b <= '9' ? b - '0' : (b | 0x20) >= 'a' && (b | 0x20) <= 'f' ? (b | 0x20) - 'a' + 10
                    : -1;
            require(digit >= 0);
            value = value << 4 | digit;
        }
        return value;
    }

    /** Moves to the next byte that is not white space and returns it, or -1 at the end. */
    private int next() {
        while (at < end) {
            byte b = bytes[at];
            if (b != ' ' && b != '\t' && b != '\r' && b != '\n') {
                return b & 0xFF;
            }
            at++;
        }
        return -1;
    }

    private int peek() {
        return at < end ? bytes[at] & 0xFF : -1;
    }

    private static void require(boolean usual) {
        if (!usual) {
            throw Unusual.INSTANCE;
        }
    }
}
