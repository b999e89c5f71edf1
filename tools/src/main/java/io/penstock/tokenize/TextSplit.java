// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import static io.penstock.tokenize.CharacterClasses.LETTER;
import static io.penstock.tokenize.CharacterClasses.LOWER;
import static io.penstock.tokenize.CharacterClasses.NEWLINE;
import static io.penstock.tokenize.CharacterClasses.NUMBER;
import static io.penstock.tokenize.CharacterClasses.SPACE;
import static io.penstock.tokenize.CharacterClasses.UPPER;
import static io.penstock.tokenize.CharacterClasses.after;
import static io.penstock.tokenize.CharacterClasses.at;
import static io.penstock.tokenize.CharacterClasses.endOf;
import static io.penstock.tokenize.CharacterClasses.endWithout;

/**
 * How a tokenizer splits a text into pieces before it encodes each piece: by one of the regular expressions of
 * published tokenizers, implemented as a scanner that takes linear time.
 */
public enum TextSplit {
    /**
     * Words with the space before them, numbers, and the rest, for {@code gpt2}, {@code r50k_base} and
     * {@code p50k_base}:
     * {@code '(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+}.
     */
    GPT2,
    /**
     * Words with any one character before them, numbers of at most three digits, and the rest, for {@code cl100k_base}:
     * {@code '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|}
     * {@code \s+(?!\S)|\s+}.
     */
    CL100K,
    /**
     * As {@link #CL100K}, but words end before a capital that follows a small letter, contain combining marks and the
     * contraction that follows them, and other characters include the slashes that follow them, for {@code o200k_base}.
     */
    O200K,
    /** As {@link #CL100K}, but each digit is a piece, for Qwen 2 and 3. */
    QWEN2,
    /** As {@link #O200K}, but without contractions, and each digit is a piece, for Mistral's newer tokenizers. */
    TEKKEN;

    private static final int WORD_OR_SPACE = LETTER | NUMBER | SPACE;
    private static final int NO_PREFIX = LETTER | NUMBER | NEWLINE;
    private static final int EITHER_CASE = UPPER | LOWER;

    /** The end of the piece that starts at an index of well-formed UTF-8, which has a character there. */
    int next(byte[] utf8, int from, int end) {
        return switch (this) {
            case GPT2 -> gpt2(utf8, from, end);
            case CL100K -> cl100k(utf8, from, end, 3);
            case O200K -> o200k(utf8, from, end, 3, true);
            case QWEN2 -> cl100k(utf8, from, end, 1);
            case TEKKEN -> o200k(utf8, from, end, 1, false);
        };
    }

    private static int gpt2(byte[] utf8, int from, int end) {
        int first = utf8[from];
        if (first == '\'') {
            int contraction = smallContraction(utf8, from, end);
            if (contraction > from) {
                return contraction;
            }
        }
        int start = first == ' ' && from + 1 < end ? from + 1 : from;
        int classes = at(utf8, start);
        if ((classes & LETTER) != 0) {
            return endOf(utf8, after(utf8, start), end, LETTER);
        }
        if ((classes & NUMBER) != 0) {
            return endOf(utf8, after(utf8, start), end, NUMBER);
        }
        if ((classes & SPACE) == 0) {
            return endWithout(utf8, after(utf8, start), end, WORD_OR_SPACE);
        }
        return spaces(utf8, from, endOf(utf8, from, end, SPACE), end);
    }

    private static int cl100k(byte[] utf8, int from, int end, int mostDigits) {
        int first = utf8[from];
        if (first == '\'') {
            int contraction = contraction(utf8, from, end);
            if (contraction > from) {
                return contraction;
            }
        }
        int classes = at(utf8, from);
        int second = after(utf8, from);
        if ((classes & LETTER) != 0) {
            return endOf(utf8, second, end, LETTER);
        }
        if ((classes & NUMBER) != 0) {
            return digits(utf8, second, end, mostDigits);
        }
        int next = second < end ? at(utf8, second) : SPACE;
        if ((next & LETTER) != 0 && (classes & NEWLINE) == 0) {
            return endOf(utf8, after(utf8, second), end, LETTER);
        }
        if ((classes & SPACE) == 0 || first == ' ' && (next & WORD_OR_SPACE) == 0) {
            int at = endWithout(utf8, second, end, WORD_OR_SPACE);
            while (at < end && (utf8[at] == '\n' || utf8[at] == '\r')) {
                at++;
            }
            return at;
        }
        return spacesWithNewlines(utf8, from, end);
    }

    private static int o200k(byte[] utf8, int from, int end, int mostDigits, boolean contractions) {
        int first = utf8[from];
        int classes = at(utf8, from);
        int second = after(utf8, from);
        if ((classes & NUMBER) != 0) {
            return digits(utf8, second, end, mostDigits);
        }
        int word = o200kWord(utf8, from, (classes & NO_PREFIX) == 0 ? second : from, end);
        if (word > from) {
            return contractions && word < end && utf8[word] == '\'' ? contraction(utf8, word, end) : word;
        }
        int next = second < end ? at(utf8, second) : SPACE;
        if ((classes & SPACE) == 0 || first == ' ' && (next & WORD_OR_SPACE) == 0) {
            int at = endWithout(utf8, second, end, WORD_OR_SPACE);
            while (at < end && (utf8[at] == '\n' || utf8[at] == '\r' || utf8[at] == '/')) {
                at++;
            }
            return at;
        }
        return spacesWithNewlines(utf8, from, end);
    }

    /**
     * The end of a word, or the index {@code from} if there is none: {@code [UPPER]*[LOWER]+}, else
     * {@code [UPPER]+[LOWER]*}, each with or without a prefix.
     *
     * @param start where the letters start: after the prefix, if the first character can be one
     */
    private static int o200kWord(byte[] utf8, int from, int start, int end) {
        int at = start;
        int lastOfEither = from;
        while (at < end) {
            int classes = at(utf8, at);
            if ((classes & UPPER) == 0) {
                if ((classes & LOWER) != 0) {
                    return endOf(utf8, after(utf8, at), end, LOWER);
                }
                break;
            }
            at = after(utf8, at);
            if ((classes & LOWER) != 0) {
                lastOfEither = at;
            }
        }
        if (lastOfEither > from) {
            return lastOfEither;                // the expression gives back the capitals after it
        }
        if (start > from && (at(utf8, from) & EITHER_CASE) != 0) {
            return start;                       // a combining mark alone, which is not a prefix then
        }
        return at > start ? at : from;
    }

    private static int digits(byte[] utf8, int second, int end, int most) {
        int at = second;
        for (int digits = 1; digits < most && at < end && (at(utf8, at) & NUMBER) != 0; digits++) {
            at = after(utf8, at);
        }
        return at;
    }

    /** {@code \s*[\r\n]+|\s+(?!\S)|\s+}. */
    private static int spacesWithNewlines(byte[] utf8, int from, int end) {
        int stop = endOf(utf8, from, end, SPACE);
        for (int at = stop; at > from; at--) {
            if (utf8[at - 1] == '\n' || utf8[at - 1] == '\r') {
                return at;
            }
        }
        return spaces(utf8, from, stop, end);
    }

    /** {@code \s+(?!\S)|\s+}: without the last space, if there are several and something follows. */
    private static int spaces(byte[] utf8, int from, int stop, int end) {
        if (stop == end) {
            return stop;
        }
        int last = stop - 1;
        while ((utf8[last] & 0xC0) == 0x80) {
            last--;
        }
        return last > from ? last : stop;
    }

    /** {@code '(?:[sdmt]|ll|ve|re)}, or the index given. */
    private static int smallContraction(byte[] utf8, int from, int end) {
        if (from + 1 >= end) {
            return from;
        }
        return switch (utf8[from + 1]) {
            case 's', 'd', 'm', 't' -> from + 2;
            case 'l' -> from + 2 < end && utf8[from + 2] == 'l' ? from + 3 : from;
            case 'v', 'r' -> from + 2 < end && utf8[from + 2] == 'e' ? from + 3 : from;
            default -> from;
        };
    }

    /** {@code '(?i:[sdmt]|ll|ve|re)}, or the index given. The long s, U+017F, is a small letter of S. */
    private static int contraction(byte[] utf8, int from, int end) {
        if (from + 1 >= end) {
            return from;
        }
        return switch (utf8[from + 1]) {
            case 's', 'd', 'm', 't', 'S', 'D', 'M', 'T' -> from + 2;
            case 'l', 'L' -> from + 2 < end && (utf8[from + 2] | 0x20) == 'l' ? from + 3 : from;
            case 'v', 'r', 'V', 'R' -> from + 2 < end && (utf8[from + 2] | 0x20) == 'e' ? from + 3 : from;
            case (byte) 0xC5 -> utf8[from + 2] == (byte) 0xBF ? from + 3 : from;
            default -> from;
        };
    }
}
