// SPDX-License-Identifier: Apache-2.0
package io.penstock.jdbc;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A key as one line of text: its values with a comma behind each, where {@code \} is before a comma or {@code \}. */
final class CursorText {

    private CursorText() {
    }

    static String of(List<String> key) {
        StringBuilder text = new StringBuilder();
        for (String value : key) {
            text.append(value.replace("\\", "\\\\").replace(",", "\\,")).append(',');
        }
        return text.toString();
    }

    static List<String> parse(String partition, String cursor) throws IOException {
        List<String> key = new ArrayList<>();
        StringBuilder value = new StringBuilder();
        for (int i = 0; i < cursor.length(); i++) {
            char c = cursor.charAt(i);
            if (c == ',') {
                key.add(value.toString());
                value.setLength(0);
            } else {
                value.append(c == '\\' && i + 1 < cursor.length() ? cursor.charAt(++i) : c);
            }
        }
        if (!value.isEmpty()) {
            throw new IOException(partition + ": found cursor '" + cursor + "', expected values with a comma behind each");
        }
        return key;
    }
}
