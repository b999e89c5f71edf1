// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import java.text.Normalizer;
import java.text.Normalizer.Form;

/**
 * Finds where to cut a long text so that its parts encode to the tokens of the whole: between a letter and a following
 * white space, comma or full stop.
 *
 * <p>The published encodings first split a text with a regular expression, then encode each piece separately. These
 * expressions, of each {@link TextSplit}, have three properties:
 * <ol>
 * <li>In a piece with letters, at most one other character or an apostrophe precedes them, and only letters, combining
 *     marks or a contraction with an apostrophe follow. So a letter followed by white space, a comma or a full stop
 *     always ends its piece.
 * <li>The only look-ahead tests whether something follows a run of white space. A part that ends in a letter has no
 *     such run at its end, and for the quantifiers before it, the end of the text is a character they do not match.
 * <li>There is no look-behind. So the part after the cut splits as it does within the whole.
 * </ol>
 *
 * <p>Some tokenizers normalize the text to form C first. It leaves the characters behind a cut as they are, but makes a
 * letter and a mark of some letters, such as U+0958, and with a mark, a comma can be in one piece. So no cut follows
 * these.
 */
final class TextCut {

    private static final int MAX_CHARACTER_BYTES = 4;

    /**
     * Finds the last place to cut.
     *
     * @param utf8 contains the text from index 0; may end within a character
     * @param from where to stop searching, at least 1
     * @param length the text's length in bytes
     * @return the number of bytes before the cut, or -1 if there is none after {@code from}
     */
    static int last(byte[] utf8, int from, int length) {
        for (int at = length - 1; at >= from; at--) {
            if (isStop(utf8, at, length) && endsInLetter(utf8, at)) {
                return at;
            }
        }
        return -1;
    }

    private static boolean isStop(byte[] utf8, int at, int length) {
        return switch (utf8[at] & 0xFF) {
            case ' ', '\n', '\r', '\t', ',', '.' -> true;
            // U+3002 and U+FF0C, the full stop and comma of Chinese and Japanese
            case 0xE3 -> at + 2 < length && (utf8[at + 1] & 0xFF) == 0x80 && (utf8[at + 2] & 0xFF) == 0x82;
            case 0xEF -> at + 2 < length && (utf8[at + 1] & 0xFF) == 0xBC && (utf8[at + 2] & 0xFF) == 0x8C;
            default -> false;
        };
    }

    private static boolean endsInLetter(byte[] utf8, int end) {
        int last = utf8[end - 1];
        if (last >= 0) {
            return last >= 'a' && last <= 'z' || last >= 'A' && last <= 'Z';
        }
        int lead = end - 1;
        while (lead > 0 && end - lead < MAX_CHARACTER_BYTES && (utf8[lead] & 0xC0) == 0x80) {
            lead--;
        }
        int character = character(utf8, lead, end);
        return Character.isLetter(character) && Normalizer.isNormalized(Character.toString(character), Form.NFC);
    }

    /** Decodes the one character that fills a range; 0, which is not a letter, if the range is not one character. */
    private static int character(byte[] utf8, int from, int to) {
        int lead = utf8[from] & 0xFF;
        int bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 0;
        if (bytes != to - from) {
            return 0;
        }
        int value = lead & 0xFF >> bytes + 1;
        for (int i = from + 1; i < to; i++) {
            value = value << 6 | utf8[i] & 0x3F;
        }
        return Character.isValidCodePoint(value) ? value : 0;
    }
}
