// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.numpy;

import java.math.BigInteger;
import java.text.ParseException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Parses a Python literal, such as the dictionary of a {@code .npy} header, as {@code ast.literal_eval} does.
 * Dictionaries become maps, lists and tuples {@link Sequence}s, integers {@link BigInteger}s. The last value of a
 * duplicate key counts, as in Python. Integers may have Python 2's {@code L}.
 */
final class PythonLiteral {

    /** A list or a tuple. */
    record Sequence(boolean isTuple, List<Object> items) {
    }

    static final Object NONE = new Object() {
        @Override
        public String toString() {
            return "None";
        }
    };

    private static final int MAX_DEPTH = 32;

    private final String text;
    private int at;

    private PythonLiteral(String text) {
        this.text = text;
    }

    /** Returns the value of a literal with optional white space around it. */
    static Object parse(String text) throws ParseException {
        PythonLiteral parser = new PythonLiteral(text);
        Object value = parser.value(0);
        parser.skipSpace();
        if (parser.at < text.length()) {
            throw parser.expected("the end of the header");
        }
        return value;
    }

    private Object value(int depth) throws ParseException {
        if (depth > MAX_DEPTH) {
            throw expected("at most " + MAX_DEPTH + " levels of nesting");
        }
        skipSpace();
        return switch (peek()) {
            case '{' -> map(depth);
            case '[' -> new Sequence(false, items(']', depth).items());
            case '(' -> {
                Sequence found = items(')', depth);
                yield found.isTuple() ? found : found.items().getFirst();
            }
            case '\'', '"' -> string();
            case '+', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> integer();
            default -> word();
        };
    }

    private Map<Object, Object> map(int depth) throws ParseException {
        at++;
        Map<Object, Object> map = new LinkedHashMap<>();
        while (!taken('}')) {
            Object key = value(depth + 1);
            require(':');
            map.put(key, value(depth + 1));
            if (!taken(',')) {
                require('}');
                break;
            }
        }
        return map;
    }

    /** Reads items up to an end. In parentheses they are a tuple unless there is one item without a comma. */
    private Sequence items(char end, int depth) throws ParseException {
        at++;
        List<Object> items = new ArrayList<>();
        boolean comma = false;
        while (!taken(end)) {
            items.add(value(depth + 1));
            comma = taken(',');
            if (!comma) {
                require(end);
                break;
            }
        }
        return new Sequence(comma || items.size() != 1, items);
    }

    private String string() throws ParseException {
        char quote = text.charAt(at++);
        StringBuilder value = new StringBuilder();
        while (peek() != quote) {
            char c = peek();
            if (c == 0 || c == '\n' || c == '\\') {
                throw expected("a plain string that ends with " + quote);
            }
            value.append(c);
            at++;
        }
        at++;
        return value.toString();
    }

    private BigInteger integer() throws ParseException {
        int start = at;
        if (peek() == '+' || peek() == '-') {
            at++;
        }
        int digits = at;
        while (peek() >= '0' && peek() <= '9') {
            at++;
        }
        boolean leadingZeros = at - digits > 1 && text.charAt(digits) == '0'
                && text.substring(digits, at).chars().anyMatch(c -> c != '0');
        if (at == digits || leadingZeros || isWordChar(peek()) && peek() != 'L' || peek() == '.') {
            throw expected("an integer");
        }
        BigInteger value = new BigInteger(text.substring(start, at));
        if (peek() == 'L') {
            at++;
        }
        return value;
    }

    private Object word() throws ParseException {
        int start = at;
        while (isWordChar(peek())) {
            at++;
        }
        String word = text.substring(start, at);
        if (word.equalsIgnoreCase("u") && (peek() == '\'' || peek() == '"')) {
            return string();
        }
        switch (word) {
            case "True":
                return true;
            case "False":
                return false;
            case "None":
                return NONE;
            default:
                at = start;
                throw expected("a literal of a dictionary, list, tuple, string, integer or truth value");
        }
    }

    private static boolean isWordChar(char c) {
        return c == '_' || c > ' ' && Character.isLetterOrDigit(c);
    }

    private boolean taken(char c) {
        skipSpace();
        if (peek() == c) {
            at++;
            return true;
        }
        return false;
    }

    private void require(char c) throws ParseException {
        if (!taken(c)) {
            throw expected("'" + c + "'");
        }
    }

    private void skipSpace() {
        while (at < text.length() && " \t\r\n\f".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    /** Returns the current character; 0 at the end. */
    private char peek() {
        return at < text.length() ? text.charAt(at) : 0;
    }

    private ParseException expected(String what) {
        return new ParseException(what, at);
    }
}
