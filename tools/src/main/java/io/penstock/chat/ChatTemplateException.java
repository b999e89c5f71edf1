// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.NullMarked;

/**
 * A chat template is malformed or has something that is not supported, or a conversation cannot be rendered by it. The
 * message is one line and begins with the line and column in the template, where they are known.
 */
@NullMarked
public final class ChatTemplateException extends IllegalArgumentException {

    private static final long serialVersionUID = 1;
    private static final int MOST_SHOWN_CHARS = 500;
    private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}\u2028\u2029]");

    ChatTemplateException(String message) {
        super(message);
    }

    /** What is wrong at an index of the template's text. */
    static ChatTemplateException at(String source, int index, String problem) {
        int line = 1;
        int lineStart = 0;
        int end = Math.min(index, source.length());
        for (int i = 0; i < end; i++) {
            if (source.charAt(i) == '\n') {
                line++;
                lineStart = i + 1;
            }
        }
        int column = source.codePointCount(lineStart, Math.max(lineStart, end)) + 1;
        return new ChatTemplateException("line " + line + ", column " + column + ": " + oneLine(problem));
    }

    /** Escapes control characters, which a template or a conversation may hold, and shortens long texts of theirs. */
    private static String oneLine(String problem) {
        String shown = problem.length() <= MOST_SHOWN_CHARS ? problem : problem.substring(0,
                problem.offsetByCodePoints(0, problem.codePointCount(0, MOST_SHOWN_CHARS - 1))) + "…";
        return CONTROL.matcher(shown.replace("\n", "\\n")).replaceAll(c ->
                String.format(Locale.ROOT, "\\\\u%04x", (int) c.group().charAt(0)));
    }
}
