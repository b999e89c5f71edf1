// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The fields of a row, as RFC 4180 has them: between delimiters, or in quotes, in which two quotes are one. A quote
 * that does not begin a field is a character. A carriage return alone ends a row too. For one thread.
 */
final class CsvFields {

    private static final VarHandle WORDS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGH_BITS = 0x8080808080808080L;
    /** No byte of a text, where a dialect has no quote. */
    private static final int NONE = 256;

    final byte delimiter;
    final int quote;
    final byte decimal;
    private final long delimiters;
    private final long quotes;
    private final byte[][] missingWords;
    private final int longestMissing;
    /** Whether a word for a missing value begins with a byte. */
    private final boolean[] mayBeMissing = new boolean[1 << Byte.SIZE];
    /** Whether a word for a missing value is a number, such as -999. */
    private final boolean hasMissingNumber;

    /** The last field: its bytes, in {@link #bytes}. */
    int from;
    int to;
    byte[] bytes = new byte[0];
    /** Whether the field is not in the text as it is, but in a copy without quotes. */
    boolean isCopied;
    private byte[] copy = new byte[256];

    CsvFields(TableOptions options, char delimiter) {
        this.delimiter = (byte) delimiter;
        this.quote = options.quote().isEmpty() ? NONE : options.quote().get();
        this.decimal = (byte) options.decimal();
        this.delimiters = ONES * delimiter;
        this.quotes = ONES * (quote & 0xFF);
        this.missingWords = options.missingWords().stream().map(word -> word.getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
        this.longestMissing = Arrays.stream(missingWords).mapToInt(word -> word.length).max().orElse(0);
        DecimalText number = new DecimalText();
        boolean isAnyNumber = false;
        for (byte[] word : missingWords) {
            if (word.length > 0) {
                mayBeMissing[word[0] & 0xFF] = true;
                byte[] padded = Arrays.copyOf(word, word.length + RowReader.PADDING_BYTES);
                padded[word.length] = '\n';
                isAnyNumber |= number.read(padded, 0, decimal) == word.length;
            }
        }
        this.hasMissingNumber = isAnyNumber;
    }

    /** Tells whether a byte ends a field that has no quotes. */
    boolean isEnd(byte value) {
        return value == delimiter || value == '\n' || value == '\r';
    }

    /**
     * Reads a field.
     *
     * @return the delimiter or end of the line behind it, which may be {@code end}; {@link RowReader#INCOMPLETE} if it
     *     is in quotes that do not end before
     */
    int read(byte[] text, int at, int end) {
        if (text[at] == quote) {
            return readQuoted(text, at, end);
        }
        bytes = text;
        from = at;
        to = endOfField(text, at);
        isCopied = false;
        return to;
    }

    /** Returns the fields of the row that a text begins with, which has room for {@link RowReader#PADDING_BYTES}. */
    List<String> texts(byte[] text, int end) {
        List<String> texts = new ArrayList<>();
        int stop = -1;
        do {
            stop = read(text, stop + 1, end);
            if (stop >= 0) {
                texts.add(new String(bytes, from, to - from, StandardCharsets.UTF_8));
            }
        } while (stop >= 0 && stop < end && text[stop] == delimiter);
        return texts;
    }

    /** Returns the first delimiter or end of a line from a byte on; there is one. */
    int endOfField(byte[] text, int at) {
        int p = at;
        while (true) {
            long word = (long) WORDS.get(text, p);
            long found = zeros(word ^ delimiters) | zeros(word ^ ONES * '\n') | zeros(word ^ ONES * '\r');
            if (found != 0) {
                return p + (Long.numberOfTrailingZeros(found) >>> 3);
            }
            p += Long.BYTES;
        }
    }

    /** Returns the high bit of each byte that is zero; those above the first may be wrong. */
    private static long zeros(long word) {
        return word - ONES & ~word & HIGH_BITS;
    }

    private int readQuoted(byte[] text, int at, int end) {
        int close = nextQuote(text, at + 1, end);
        if (close < 0) {
            return RowReader.INCOMPLETE;
        }
        if (isEnd(text[close + 1])) {
            bytes = text;
            from = at + 1;
            to = close;
            isCopied = false;
            return close + 1;
        }
        return copyQuoted(text, at, end);
    }

    /** Copies a field with quotes in it; what follows the last one up to the delimiter belongs to it. */
    private int copyQuoted(byte[] text, int at, int end) {
        int length = 0;
        int p = at + 1;
        while (true) {
            int close = nextQuote(text, p, end);
            if (close < 0) {
                return RowReader.INCOMPLETE;
            }
            boolean isOne = close + 1 < end && text[close + 1] == quote;
            length = copy(text, p, isOne ? close + 1 : close, length);
            p = isOne ? close + 2 : close + 1;
            if (!isOne) {
                break;
            }
        }
        int last = endOfField(text, p);
        to = copy(text, p, last, length);
        from = 0;
        bytes = copy;
        isCopied = true;
        return last;
    }

    private int copy(byte[] text, int start, int stop, int length) {
        int more = stop - start;
        if (length + more + RowReader.PADDING_BYTES > copy.length) {
            copy = Arrays.copyOf(copy, 2 * (length + more + RowReader.PADDING_BYTES));
        }
        System.arraycopy(text, start, copy, length, more);
        return length + more;
    }

    private int nextQuote(byte[] text, int at, int end) {
        int p = at;
        while (p < end) {
            long found = zeros((long) WORDS.get(text, p) ^ quotes);
            if (found != 0) {
                p += Long.numberOfTrailingZeros(found) >>> 3;
                return p < end ? p : RowReader.INCOMPLETE;
            }
            p += Long.BYTES;
        }
        return RowReader.INCOMPLETE;
    }

    /** Tells whether the last field is a word for a missing value. */
    boolean isMissing() {
        return isMissing(bytes, from, to);
    }

    private boolean isMissing(byte[] text, int start, int stop) {
        int length = stop - start;
        if (length > longestMissing || length > 0 && !mayBeMissing[text[start] & 0xFF]) {
            return false;
        }
        for (byte[] word : missingWords) {
            if (word.length == length && Arrays.equals(word, 0, length, text, start, stop)) {
                return true;
            }
        }
        return false;
    }

    /** Tells whether a number in a text is a word for a missing value. */
    boolean isMissingNumber(byte[] text, int start, int stop) {
        return hasMissingNumber && isMissing(text, start, stop);
    }

    /** Leaves blanks around the last field out. */
    void trim() {
        while (from < to && isBlank(bytes[from])) {
            from++;
        }
        while (from < to && isBlank(bytes[to - 1])) {
            to--;
        }
    }

    private static boolean isBlank(byte value) {
        return value == ' ' || value == '\t';
    }

    /** Tells whether the last field is a number; {@code number} then has it. */
    boolean isNumber(DecimalText number) {
        if (from == to || !isCopied) {
            return from < to && number.read(bytes, from, decimal) == to;
        }
        // Behind a copied field a blank may be that was left out: another column may have the field as a text.
        byte behind = bytes[to];
        bytes[to] = '\n';
        boolean isNumber = number.read(bytes, from, decimal) == to;
        bytes[to] = behind;
        return isNumber;
    }

    /** Returns infinity or NaN, if the last field is a word for it; otherwise 0. */
    double notFinite() {
        int sign = from < to && (bytes[from] == '-' || bytes[from] == '+') ? 1 : 0;
        double value = is("inf", sign) || is("infinity", sign) ? Double.POSITIVE_INFINITY
                : is("nan", sign) ? Double.NaN : 0;
        return sign > 0 && bytes[from] == '-' ? -value : value;
    }

    private boolean is(String lower, int skip) {
        if (to - from - skip != lower.length()) {
            return false;
        }
        for (int i = 0; i < lower.length(); i++) {
            if ((bytes[from + skip + i] | 0x20) != lower.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** Returns 1 for true, 0 for false, -1 for any other field. */
    int truth() {
        return isWord("true", "True", "TRUE") ? 1 : isWord("false", "False", "FALSE") ? 0 : -1;
    }

    private boolean isWord(String... forms) {
        for (String form : forms) {
            boolean isSame = form.length() == to - from;
            for (int i = 0; i < form.length() && isSame; i++) {
                isSame = bytes[from + i] == form.charAt(i);
            }
            if (isSame) {
                return true;
            }
        }
        return false;
    }

    /** Returns the last field as a text. */
    String text() {
        return new String(bytes, from, to - from, StandardCharsets.UTF_8);
    }

    /** Reads the texts of a row, such as a header; adds them to a list. Returns where the next row begins. */
    int readAll(byte[] text, int at, int end, List<String> into) {
        int p = at;
        while (true) {
            int stop = read(text, p, end);
            if (stop < 0) {
                return RowReader.INCOMPLETE;
            }
            into.add(text());
            if (text[stop] != delimiter || stop >= end) {
                return RowReader.behindLineEnd(text, stop);
            }
            p = stop + 1;
        }
    }
}
