// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

/** Finds the bytes of chars of a text in its UTF-8, fastest in ascending order. For one thread. */
final class TextPlaces {

    private final byte[] utf8;
    private final boolean isAscii;
    private int index;
    private int at;

    TextPlaces(String text, byte[] utf8) {
        this.utf8 = utf8;
        this.isAscii = utf8.length == text.length();
    }

    /** Returns the byte at which a char of the text begins; not the second half of a pair. */
    int byteOf(int wanted) {
        if (isAscii) {
            return wanted;
        }
        if (wanted < index) {
            index = 0;
            at = 0;
        }
        while (index < wanted) {
            int first = utf8[at] & 0xFF;
            // A character of four bytes is a pair of chars.
            index += first < 0xF0 ? 1 : 2;
            at += first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
        }
        return at;
    }
}
