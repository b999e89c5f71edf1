package io.penstock.format.webdataset;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * How a member's name says to which sample it belongs, as {@code webdataset/tariterators.py} has it: the key is folder
 * and name up to the name's first dot, what follows the dot is the suffix.
 */
final class MemberName {

    private MemberName() {
    }

    /**
     * The length of the key, behind which stand a dot and the suffix: what group 1 of
     * {@code ^((?:.*}{@code /|)[^.]+)[.]([^/]*)$} matches.
     *
     * <p>The dot is the first one behind the last slash, for the suffix has no slash, and between the key's last
     * part and the dot there is none. That last part is not empty, but may end in a slash: the key of {@code a/.b} is
     * {@code a/}. Line ends are in it, and not before it.
     *
     * @return -1 if the name has no key
     */
    static int keyBytes(byte[] name, int length) {
        int slash = lastIndexOf(name, length, '/');
        int dot = slash + 1;
        while (dot < length && name[dot] != '.') {
            dot++;
        }
        if (dot == length || dot == 0) {
            return -1;
        }
        int before = lastIndexOf(name, dot, '.');
        if (before < 0) {
            return dot;
        }
        int part = before + 1;
        while (part < dot && name[part - 1] != '/') {
            part++;
        }
        for (int i = 0; i < part; i++) {
            if (name[i] == '\n') {
                return -1;
            }
        }
        return part < dot ? dot : -1;
    }

    private static int lastIndexOf(byte[] name, int length, char c) {
        int i = length - 1;
        while (i >= 0 && name[i] != c) {
            i--;
        }
        return i;
    }

    /** Whether the name, or its first folder, is {@code __of this form__}: such members are about the tar. */
    static boolean isMetadata(byte[] name, int length) {
        int end = 0;
        while (end < length && name[end] != '/') {
            end++;
        }
        if (end == length && end > 0 && name[end - 1] == '\n') {
            end--;
        }
        return end >= 4 && name[0] == '_' && name[1] == '_' && name[end - 2] == '_' && name[end - 1] == '_';
    }

    /** The suffix behind a key of that length, in lower case. */
    static String suffix(byte[] name, int length, int keyBytes) {
        return new String(name, keyBytes + 1, length - keyBytes - 1, StandardCharsets.UTF_8).toLowerCase(Locale.ROOT);
    }
}
