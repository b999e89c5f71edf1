// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;

/**
 * Cuts a template into tokens as Jinja does with {@code trim_blocks} and {@code lstrip_blocks}: a line break behind a
 * block or comment is dropped, so are blanks between the start of a line and a block or comment; {@code -} inside a tag
 * strips white space on that side, {@code +} keeps it. One line break at the end of the template is dropped.
 */
final class Lexer {

    /** What a token is. */
    enum Kind { DATA, PRINT_BEGIN, PRINT_END, BLOCK_BEGIN, BLOCK_END, NAME, STRING, NUMBER, OPERATOR, END }

    /**
     * A token at an index of the source. {@code text} is the data, name, decoded string or operator; {@code number} the
     * value of a number.
     */
    record Token(Kind kind, String text, Object number, int at) {

        boolean is(Kind other, String expected) {
            return kind == other && text.equals(expected);
        }

        /** What an error calls it. */
        String shown() {
            return switch (kind) {
                case DATA -> "text";
                case PRINT_BEGIN -> "'{{'";
                case PRINT_END -> "'}}'";
                case BLOCK_BEGIN -> "'{%'";
                case BLOCK_END -> "'%}'";
                case STRING -> "a string";
                case NUMBER -> "the number " + number;
                case NAME, OPERATOR -> "'" + text + "'";
                case END -> "the end of the template";
            };
        }
    }

    private static final List<String> OPERATORS = List.of("//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%",
            "~", "[", "]", "(", ")", "{", "}", ">", "<", "=", ".", ":", "|", ",", ";");
    private static final String OPENING = "([{";
    private static final String CLOSING = ")]}";

    private final String source;
    private final List<Token> tokens = new ArrayList<>();
    private final Deque<Character> open = new ArrayDeque<>();
    private int pos;

    private Lexer(String source) {
        this.source = source;
    }

    /** Makes all line breaks line feeds and drops the last one; the tokens' indices are those of this text. */
    static String normalized(String text) {
        String lines = text.replace("\r\n", "\n").replace('\r', '\n');
        return lines.endsWith("\n") ? lines.substring(0, lines.length() - 1) : lines;
    }

    /** The tokens of a {@link #normalized} text, of which the last is {@link Kind#END}. */
    static List<Token> tokens(String source) {
        Lexer lexer = new Lexer(source);
        while (lexer.pos < source.length()) {
            lexer.segment();
        }
        lexer.add(Kind.END, "", source.length());
        return lexer.tokens;
    }

    private void add(Kind kind, String text, int at) {
        tokens.add(new Token(kind, text, 0L, at));
    }

    /** Takes the text up to the next tag, and that tag. */
    private void segment() {
        int start = pos;
        int tag = tagFrom(start);
        if (tag < 0) {
            add(Kind.DATA, source.substring(start), start);
            pos = source.length();
            return;
        }
        char kind = source.charAt(tag + 1);
        int inside = tag + 2;
        char sign = inside < source.length() ? source.charAt(inside) : 0;
        boolean isSigned = sign == '-' || sign == '+';
        int raw = kind == '%' ? rawEnd(isSigned ? inside + 1 : inside, "raw") : -1;
        addData(start, tag, isSigned ? sign : 0, kind == '{');
        pos = isSigned ? inside + 1 : inside;
        if (raw >= 0) {
            rawText(tag, raw);
        } else if (kind == '#') {
            comment(tag);
        } else {
            boolean isBlock = kind == '%';
            add(isBlock ? Kind.BLOCK_BEGIN : Kind.PRINT_BEGIN, "", tag);
            while (!tagEnd(isBlock)) {
                token(tag);
            }
        }
    }

    private int tagFrom(int from) {
        for (int i = source.indexOf('{', from); i >= 0 && i + 1 < source.length(); i = source.indexOf('{', i + 1)) {
            char next = source.charAt(i + 1);
            if (next == '%' || next == '{' || next == '#') {
                return i;
            }
        }
        return -1;
    }

    private void addData(int start, int end, char sign, boolean isPrint) {
        int to = end;
        if (sign == '-') {
            to = start + Text.stripEnd(source.substring(start, end)).length();
        } else if (sign != '+' && !isPrint) {
            int lineStart = source.lastIndexOf('\n', end - 1) + 1;
            int from = Math.max(lineStart, start);
            boolean atLineStart = from > start || start == 0 || source.charAt(start - 1) == '\n';
            if (atLineStart && Text.isBlank(source, from, end)) {
                to = from;
            }
        }
        if (to > start) {
            add(Kind.DATA, source.substring(start, to), start);
        }
    }

    /** The index behind {@code raw %}} or {@code endraw %}}, whose word begins at an index; -1 if it is not there. */
    private int rawEnd(int from, String word) {
        int i = skipBlanks(from);
        if (!source.startsWith(word, i)) {
            return -1;
        }
        i = skipBlanks(i + word.length());
        if (source.startsWith("-%}", i)) {
            return skipBlanks(i + 3);
        }
        boolean isEnd = word.equals("endraw");
        if (isEnd && source.startsWith("+%}", i)) {
            return i + 3;
        }
        if (!source.startsWith("%}", i)) {
            return -1;
        }
        return isEnd && source.startsWith("\n", i + 2) ? i + 3 : i + 2;
    }

    private void rawText(int tag, int from) {
        for (int i = source.indexOf("{%", from); i >= 0; i = source.indexOf("{%", i + 1)) {
            char sign = i + 2 < source.length() ? source.charAt(i + 2) : 0;
            boolean isSigned = sign == '-' || sign == '+';
            int end = rawEnd(isSigned ? i + 3 : i + 2, "endraw");
            if (end >= 0) {
                addData(from, i, isSigned ? sign : 0, false);
                pos = end;
                return;
            }
        }
        pos = from;
        if (from < source.length()) {
            throw error(tag, "'{% raw %}' has no '{% endraw %}'");
        }
    }

    private void comment(int tag) {
        int end = source.indexOf("#}", pos);
        if (end < 0 && pos == source.length()) {
            return;
        }
        if (end < 0) {
            throw error(tag, "the comment has no '#}'");
        }
        boolean isSigned = end > pos;
        char sign = isSigned ? source.charAt(end - 1) : 0;
        pos = end + 2;
        if (sign == '-') {
            pos = skipBlanks(pos);
        } else if (sign != '+' && source.startsWith("\n", pos)) {
            pos++;
        }
    }

    /** Takes the end of the tag, if it is here and no bracket is open. */
    private boolean tagEnd(boolean isBlock) {
        String end = isBlock ? "%}" : "}}";
        boolean strips = source.startsWith("-" + end, pos);
        boolean keeps = isBlock && source.startsWith("+" + end, pos);
        if (!open.isEmpty() || !(strips || keeps || source.startsWith(end, pos))) {
            return false;
        }
        add(isBlock ? Kind.BLOCK_END : Kind.PRINT_END, "", pos);
        pos += strips || keeps ? 3 : 2;
        if (strips) {
            pos = skipBlanks(pos);
        } else if (isBlock && !keeps && source.startsWith("\n", pos)) {
            pos++;
        }
        return true;
    }

    private int skipBlanks(int from) {
        int i = from;
        while (i < source.length() && Text.isSpace(source.charAt(i))) {
            i++;
        }
        return i;
    }

    /** Takes a token within a tag, or white space. */
    private void token(int tag) {
        if (pos >= source.length()) {
            throw error(tag, "the tag has no end");
        }
        char c = source.charAt(pos);
        if (Text.isSpace(c)) {
            pos++;
        } else if (c >= '0' && c <= '9') {
            number();
        } else if (isWord(source.codePointAt(pos))) {
            int start = pos;
            pos = wordEnd(start);
            String word = source.substring(start, pos);
            if (!Character.isUnicodeIdentifierStart(word.codePointAt(0)) && word.charAt(0) != '_') {
                throw error(start, "'" + word + "' is not a name");
            }
            add(Kind.NAME, word, start);
        } else if (c == '"' || c == '\'') {
            string(c);
        } else {
            operator();
        }
    }

    private static boolean isWord(int c) {
        return c == '_' || Character.isLetterOrDigit(c);
    }

    private int wordEnd(int from) {
        int i = from;
        while (i < source.length() && isWord(source.codePointAt(i))) {
            i += Character.charCount(source.codePointAt(i));
        }
        return i;
    }

    private void operator() {
        for (String operator : OPERATORS) {
            if (source.startsWith(operator, pos)) {
                int opening = OPENING.indexOf(operator);
                int closing = CLOSING.indexOf(operator);
                if (opening >= 0) {
                    open.push(CLOSING.charAt(opening));
                } else if (closing >= 0 && (open.isEmpty() || open.pop() != operator.charAt(0))) {
                    throw error(pos, "'" + operator + "' closes nothing");
                }
                add(Kind.OPERATOR, operator, pos);
                pos += operator.length();
                return;
            }
        }
        throw error(pos, "found '" + Character.toString(source.codePointAt(pos)) + "', expected an expression");
    }

    private void number() {
        int start = pos;
        boolean isMember = start > 0 && source.charAt(start - 1) == '.';
        int fraction = isMember ? -1 : floatEnd(start);
        if (fraction >= 0) {
            pos = fraction;
            double value = Double.parseDouble(source.substring(start, pos).replace("_", ""));
            tokens.add(new Token(Kind.NUMBER, "", value, start));
            return;
        }
        int radix = source.charAt(start) != '0' || start + 1 >= source.length() ? 10
                : switch (source.charAt(start + 1)) {
                    case 'x', 'X' -> 16;
                    case 'o', 'O' -> 8;
                    case 'b', 'B' -> 2;
                    default -> 10;
                };
        int digits = radix == 10 ? start : start + 2;
        int end = digitsEnd(digits, radix, radix != 10);
        if (radix == 10 && source.charAt(start) == '0') {
            end = start + 1;
            while (end < source.length() && source.charAt(end) == '0') {
                end++;
            }
        }
        if (end == digits || end - start > 1000) {
            throw error(start, "the number is malformed, or has over 1000 digits");
        }
        pos = end;
        BigInteger value = new BigInteger(source.substring(digits, end).replace("_", ""), radix);
        tokens.add(new Token(Kind.NUMBER, "", Arithmetic.narrow(value), start));
    }

    private int floatEnd(int start) {
        int end = digitsEnd(start, 10, false);
        boolean isFloat = false;
        if (source.startsWith(".", end)) {
            int fraction = digitsEnd(end + 1, 10, false);
            if (fraction > end + 1) {
                end = fraction;
                isFloat = true;
            }
        }
        if (end < source.length() && (source.charAt(end) == 'e' || source.charAt(end) == 'E')) {
            int digits = end + 1;
            if (digits < source.length() && (source.charAt(digits) == '+' || source.charAt(digits) == '-')) {
                digits++;
            }
            int exponent = digitsEnd(digits, 10, false);
            if (exponent > digits) {
                return exponent;
            }
        }
        return isFloat ? end : -1;
    }

    /** The end of digits with single underscores between them. */
    private int digitsEnd(int from, int radix, boolean mayBeginWithLine) {
        int i = from;
        while (i < source.length()) {
            char c = source.charAt(i);
            boolean isLine = c == '_' && (i > from || mayBeginWithLine) && i + 1 < source.length();
            char digit = isLine ? source.charAt(i + 1) : c;
            if (digit >= 0x80 || Character.digit(digit, radix) < 0) {
                break;
            }
            i += isLine ? 2 : 1;
        }
        return i;
    }

    private void string(char quote) {
        int start = pos++;
        StringBuilder value = new StringBuilder();
        while (true) {
            if (pos >= source.length()) {
                throw error(start, "the string has no end");
            }
            char c = source.charAt(pos++);
            if (c == quote) {
                add(Kind.STRING, value.toString(), start);
                return;
            }
            if (c != '\\') {
                value.append(c);
            } else if (pos < source.length()) {
                escape(value);
            }
        }
    }

    /** Decodes what follows a backslash, as Python's codec {@code unicode-escape} does. */
    private void escape(StringBuilder value) {
        int at = pos - 1;
        int c = source.codePointAt(pos);
        pos += Character.charCount(c);
        switch (c) {
            case '\n' -> { }
            case '\\', '\'', '"' -> value.appendCodePoint(c);
            case 'a' -> value.append('\u0007');
            case 'b' -> value.append('\b');
            case 'f' -> value.append('\f');
            case 'n' -> value.append('\n');
            case 'r' -> value.append('\r');
            case 't' -> value.append('\t');
            case 'v' -> value.append('\u000B');
            case 'x' -> value.appendCodePoint(hex(at, 2));
            case 'u' -> value.appendCodePoint(hex(at, 4));
            case 'U' -> value.appendCodePoint(hex(at, 8));
            case 'N' -> value.appendCodePoint(named(at));
            case '0', '1', '2', '3', '4', '5', '6', '7' -> value.appendCodePoint(octal());
            // The codec sees what is not ASCII as an escape of its own, whose backslash the first one takes.
            default -> value.append('\\').append(c < 0x80 ? Character.toString(c)
                    : String.format(Locale.ROOT, c < 0x100 ? "x%02x" : c < 0x10000 ? "u%04x" : "U%08x", c));
        }
    }

    private int hex(int at, int digits) {
        int end = Math.min(pos + digits, source.length());
        long value = 0;
        for (int i = pos; i < end; i++) {
            int digit = source.charAt(i) < 0x80 ? Character.digit(source.charAt(i), 16) : -1;
            value = digit < 0 ? Long.MIN_VALUE : value << 4 | digit;
        }
        if (end - pos < digits || value < 0 || value > Character.MAX_CODE_POINT) {
            throw error(at, "the escape needs " + digits + " hexadecimal digits of a character");
        }
        if (value >= Character.MIN_SURROGATE && value <= Character.MAX_SURROGATE) {
            throw error(at, "half a surrogate pair is not supported");
        }
        pos = end;
        return (int) value;
    }

    private int named(int at) {
        int end = source.startsWith("{", pos) ? source.indexOf('}', pos) : -1;
        try {
            int value = Character.codePointOf(end < 0 ? "" : source.substring(pos + 1, end));
            pos = end + 1;
            return value;
        } catch (IllegalArgumentException e) {
            throw error(at, "the escape needs the name of a character in braces");
        }
    }

    private int octal() {
        pos--;
        int value = 0;
        for (int i = 0; i < 3 && pos < source.length() && "01234567".indexOf(source.charAt(pos)) >= 0; i++) {
            value = value << 3 | source.charAt(pos++) - '0';
        }
        return value;
    }

    private ChatTemplateException error(int at, String problem) {
        return ChatTemplateException.at(source, at, problem);
    }
}
