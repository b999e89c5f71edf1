// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
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

    private static final VarHandle WORDS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGH_BITS = 0x8080808080808080L;

    private final List<Token> tokens;
    /** The tokens by their first byte, the longest first. */
    private final Token[][] byFirst = new Token[256][];
    /** Whether a token begins with a byte. */
    private final boolean[] begins = new boolean[256];
    /** Eight times the byte that all tokens begin with; 0 if they begin with several. */
    private final long first;

    /** Creates a set of tokens, none of which has an empty text. */
    AddedTokens(List<Token> tokens) {
        this.tokens = tokens.stream().sorted((one, other) -> Integer.compare(one.id, other.id)).toList();
        Arrays.fill(byFirst, new Token[0]);
        tokens.stream().sorted((one, other) -> other.utf8.length - one.utf8.length).forEach(token -> {
            int start = token.utf8[0] & 0xFF;
            int count = byFirst[start].length;
            byFirst[start] = Arrays.copyOf(byFirst[start], count + 1);
            byFirst[start][count] = token;
            begins[start] = true;
        });
        boolean areAlike = !tokens.isEmpty() && tokens.stream()
                .allMatch(token -> token.utf8[0] == tokens.getFirst().utf8[0]);
        first = areAlike ? (tokens.getFirst().utf8[0] & 0xFFL) * ONES : 0;
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
        while (first != 0 && at + Long.BYTES <= end) {
            long other = (long) WORDS.get(utf8, at) ^ first;
            long found = other - ONES & ~other & HIGH_BITS;
            if (found != 0) {
                return at + (Long.numberOfTrailingZeros(found) >>> 3);
            }
            at += Long.BYTES;
        }
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
