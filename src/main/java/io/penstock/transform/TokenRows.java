package io.penstock.transform;

import io.penstock.memory.DType;

/** The first arguments of kernels that read rows of tokens: {@code struct Rows} of {@code tokens.cu}. */
final class TokenRows {
    static final int TOKENS = 0;
    static final int TOKEN_TYPE = 1;
    static final int BATCH = 2;
    static final int LENGTH = 3;
    static final int STRIDE = 4;
    static final int SEPARATOR = 5;
    static final int SEPARATOR_MODE = 6;
    /** How many there are. */
    static final int WORDS = 7;

    private static final int NONE = 0;
    private static final int END = 1;
    private static final int START = 2;

    private TokenRows() {
    }

    /** Sets what does not change from batch to batch. */
    static void describe(long[] words, DType tokenType, long length, long stride, DocumentSeparator separator) {
        words[TOKEN_TYPE] = RawMemory.word(Arguments.integer("tokens", tokenType));
        words[LENGTH] = Arguments.atLeast(1, "length", length);
        words[STRIDE] = stride;
        if (separator == null) {
            words[SEPARATOR_MODE] = NONE;
        } else {
            words[SEPARATOR] = separator.token();
            words[SEPARATOR_MODE] = switch (separator.place()) {
                case END -> END;
                case START -> START;
            };
        }
    }

    static void setBatch(long[] words, long tokens, long batch) {
        words[TOKENS] = Arguments.address("tokens", tokens, RawMemory.dtype(words[TOKEN_TYPE]).byteSize());
        words[BATCH] = batch;
    }

    static boolean haveSeparator(long[] words) {
        return words[SEPARATOR_MODE] != NONE;
    }

    /** Whether a document begins at a token of a row, other than by being the row's first one. */
    static boolean begins(long[] words, long row, long t) {
        if (words[SEPARATOR_MODE] == NONE || t == 0) {
            return false;
        }
        long decisive = words[SEPARATOR_MODE] == END ? t - 1 : t;
        return token(words, row, decisive) == words[SEPARATOR];
    }

    static long token(long[] words, long row, long t) {
        return RawMemory.integer(RawMemory.dtype(words[TOKEN_TYPE]), words[TOKENS], row * words[STRIDE] + t);
    }
}
