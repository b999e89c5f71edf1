// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

/**
 * The character classes of the split expressions, in one table over all code points that is built when first needed.
 * The Unicode version is the JDK's.
 */
final class CharacterClasses {

    /** {@code \p{L}}. */
    static final int LETTER = 1;
    /** {@code \p{N}}. */
    static final int NUMBER = 2;
    /** {@code \s}: the property White_Space. */
    static final int SPACE = 4;
    /** {@code [\r\n]}. */
    static final int NEWLINE = 8;
    /** {@code [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]}. */
    static final int UPPER = 16;
    /** {@code [\p{Ll}\p{Lm}\p{Lo}\p{M}]}. */
    static final int LOWER = 32;

    private static final byte[] TABLE = table();

    private static byte[] table() {
        byte[] table = new byte[Character.MAX_CODE_POINT + 1];
        for (int character = 0; character < table.length; character++) {
            table[character] = (byte) switch (Character.getType(character)) {
                case Character.UPPERCASE_LETTER, Character.TITLECASE_LETTER -> LETTER | UPPER;
                case Character.LOWERCASE_LETTER -> LETTER | LOWER;
                case Character.MODIFIER_LETTER, Character.OTHER_LETTER -> LETTER | UPPER | LOWER;
                case Character.NON_SPACING_MARK, Character.COMBINING_SPACING_MARK, Character.ENCLOSING_MARK ->
                        UPPER | LOWER;
                case Character.DECIMAL_DIGIT_NUMBER, Character.LETTER_NUMBER, Character.OTHER_NUMBER -> NUMBER;
                case Character.SPACE_SEPARATOR, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> SPACE;
                default -> 0;
            };
        }
        for (char control : new char[] {'\t', 0x0B, '\f', 0x85}) {
            table[control] = SPACE;
        }
        table['\n'] = SPACE | NEWLINE;
        table['\r'] = SPACE | NEWLINE;
        return table;
    }

    /** The classes of the character that starts at an index of well-formed UTF-8. */
    static int at(byte[] utf8, int index) {
        int lead = utf8[index];
        if (lead >= 0) {
            return TABLE[lead];
        }
        int second = utf8[index + 1] & 0x3F;
        if (lead < (byte) 0xE0) {
            return TABLE[(lead & 0x1F) << 6 | second];
        }
        int third = utf8[index + 2] & 0x3F;
        if (lead < (byte) 0xF0) {
            return TABLE[(lead & 0x0F) << 12 | second << 6 | third];
        }
        return TABLE[(lead & 0x07) << 18 | second << 12 | third << 6 | utf8[index + 3] & 0x3F];
    }

    /** The index after the character that starts at an index of well-formed UTF-8. */
    static int after(byte[] utf8, int index) {
        int lead = utf8[index];
        return index + (lead >= 0 ? 1 : lead < (byte) 0xE0 ? 2 : lead < (byte) 0xF0 ? 3 : 4);
    }

    /** The index after a run of characters that are in any of the classes. */
    static int endOf(byte[] utf8, int from, int end, int classes) {
        int at = from;
        while (at < end && (at(utf8, at) & classes) != 0) {
            at = after(utf8, at);
        }
        return at;
    }

    /** The index after a run of characters that are in none of the classes. */
    static int endWithout(byte[] utf8, int from, int end, int classes) {
        int at = from;
        while (at < end && (at(utf8, at) & classes) == 0) {
            at = after(utf8, at);
        }
        return at;
    }
}
