// SPDX-License-Identifier: Apache-2.0
package io.penstock.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.Blob;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Base64;
import java.util.List;
import java.util.Locale;

/** Writes rows as JSON objects: numbers, truth values, null, binary values in base 64, everything else as text. */
final class RowJson {

    private final List<String> names;
    private final int skipped;
    private final StringBuilder text = new StringBuilder();

    /**
     * For one reader.
     *
     * @param names the columns
     * @param skipped columns of a row before them
     */
    RowJson(List<String> names, int skipped) {
        this.names = names;
        this.skipped = skipped;
    }

    byte[] of(ResultSet row) throws SQLException {
        text.setLength(0);
        for (int i = 0; i < names.size(); i++) {
            text.append(i == 0 ? '{' : ',');
            quote(names.get(i));
            text.append(':');
            switch (row.getObject(skipped + 1 + i)) {
                case null -> text.append("null");
                case Double d when !Double.isFinite(d) -> text.append("null");
                case Float f when !Float.isFinite(f) -> text.append("null");
                case Number number -> text.append(number);
                case Boolean truth -> text.append(truth.booleanValue());
                case byte[] binary -> quote(Base64.getEncoder().encodeToString(binary));
                case Blob _ -> quote(Base64.getEncoder().encodeToString(row.getBytes(skipped + 1 + i)));
                default -> quote(row.getString(skipped + 1 + i));
            }
        }
        return text.append('}').toString().getBytes(StandardCharsets.UTF_8);
    }

    private void quote(String value) {
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < ' ') {
                text.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }
}
