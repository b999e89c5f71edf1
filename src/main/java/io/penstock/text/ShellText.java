// SPDX-License-Identifier: Apache-2.0
package io.penstock.text;

import java.util.regex.Pattern;

/** Words of commands that a reader copies into a shell. */
public final class ShellText {

    private static final Pattern PLAIN = Pattern.compile("[\\w@%+=:,./-]+");

    private ShellText() {
    }

    /** {@return a word as a POSIX shell reads it: in quotes, if it has blanks or what else a shell takes apart} */
    public static String quoted(Object word) {
        String text = word.toString();
        return PLAIN.matcher(text).matches() ? text : "'" + text.replace("'", "'\\''") + "'";
    }
}
