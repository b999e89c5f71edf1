// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Splits a member's name into key and suffix, as {@code webdataset/tariterators.py} does: the key is the folder and the
 * name up to its first dot, the suffix is the rest.
 */
final class MemberName {

    /**
     * Returns the length of the key, before a dot and the suffix, which is group 1 in {@code ^((?:.*}{@code
     * /|)[^.]+)[.]([^/]*)$}; -1 if the name has no key.
     *
     * <p>The dot is the first one after the last slash: the suffix has no slash, and the key's last part no dot. That
     * part is not empty, but may end in a slash: the key of {@code a/.b} is {@code a/}. It may have line ends, the part
     * before it may not.
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

    /**
     * Tells whether the name, or its first folder, has the form {@code __x__}: such members are metadata of the tar.
     */
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

    /** Returns the suffix in lower case. */
    static String suffix(byte[] name, int length, int keyBytes) {
        return new String(name, keyBytes + 1, length - keyBytes - 1, StandardCharsets.UTF_8).toLowerCase(Locale.ROOT);
    }
}
