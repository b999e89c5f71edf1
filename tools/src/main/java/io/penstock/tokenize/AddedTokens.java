// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds added tokens in a text, before the text is split. Where several match, the longest counts. Immutable. */
final class AddedTokens {

    /**
     * An added token.
     *
     * @param text its text
     * @param utf8 the same in UTF-8; do not modify it
     * @param id its id
     * @param isSpecial whether it is found only where special tokens are allowed
     */
    record Token(String text, byte[] utf8, int id, boolean isSpecial) {

        static Token of(String text, int id, boolean isSpecial) {
            return new Token(text, text.getBytes(StandardCharsets.UTF_8), id, isSpecial);
        }

        private boolean isAt(byte[] bytes, int from, int end) {
            return end - from >= utf8.length && Arrays.equals(bytes, from, from + utf8.length, utf8, 0, utf8.length);
        }
    }

    private final List<Token> tokens;
    /** The tokens by their first byte, the longest first. */
    private final Token[][] byFirst = new Token[256][];
    /** Whether a token begins with a byte. */
    private final boolean[] begins = new boolean[256];

    /** Creates a set of tokens, none of which has an empty text. */
    AddedTokens(List<Token> tokens) {
        this.tokens = tokens.stream().sorted(Comparator.comparingInt(Token::id)).toList();
        for (int first = 0; first < byFirst.length; first++) {
            byte value = (byte) first;
            byFirst[first] = tokens.stream().filter(token -> token.utf8[0] == value)
                    .sorted(Comparator.comparingInt(token -> -token.utf8.length)).toArray(Token[]::new);
            begins[first] = byFirst[first].length > 0;
        }
    }

    /** All of them, by id. */
    List<Token> tokens() {
        return tokens;
    }

    /** The first index from {@code from} on at which a token may be; {@code end} if there is none. */
    int next(byte[] utf8, int from, int end) {
        if (tokens.isEmpty()) {
            return end;
        }
        int at = from;
        while (at < end && !begins[utf8[at] & 0xFF]) {
            at++;
        }
        return at;
    }

    /** The token at an index, or null. */
    @Nullable Token at(byte[] utf8, int index, int end) {
        for (Token token : byFirst[utf8[index] & 0xFF]) {
            if (token.isAt(utf8, index, end)) {
                return token;
            }
        }
        return null;
    }
}
