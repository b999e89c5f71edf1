// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import io.penstock.error.MalformedStoreException;
import io.penstock.text.LineFeeds;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The first row of a CSV file: its delimiter, and the names of its columns. */
final class CsvHeader {

    private static final int FIRST_BYTES = 64 << 10;

    private CsvHeader() {
    }

    /** Builds the index of a file. */
    static RowBlocks index(TextFile text, TableOptions options, int blockBytes) {
        long start = text.start();
        byte[] bytes = new byte[0];
        int length = 0;
        List<String> row = new ArrayList<>();
        char delimiter = ',';
        int at = 0;
        int next = RowReader.INCOMPLETE;
        for (long room = FIRST_BYTES; next < 0; room *= 4) {
            if (length > 0 && length == text.byteSize() - start || length > RowIndexer.MAX_ROW_BYTES) {
                throw RowBlocks.malformed(text, 1, "a row in quotes that do not end", "the names of columns");
            }
            length = (int) Math.min(room, text.byteSize() - start);
            bytes = new byte[length + RowReader.PADDING_BYTES];
            text.read(start, bytes, length);
            bytes[length] = '\n';
            at = 0;
            while (at < length && (bytes[at] == '\n' || bytes[at] == '\r')) {
                at++;
            }
            if (at >= length) {
                throw new MalformedStoreException(text.location(), "no rows", "a first row");
            }
            delimiter = options.delimiter().orElse(found(bytes, at));
            row.clear();
            next = new CsvFields(options, delimiter).readAll(bytes, at, length, row);
            boolean isWhole = length == text.byteSize() - start;
            if (next > length && !isWhole) {
                next = RowReader.INCOMPLETE;
            } else if (next > length) {
                next = length;
            }
        }
        List<String> names = !options.names().isEmpty() ? options.names()
                : unique(options.header() ? row : Collections.nCopies(row.size(), ""));
        if (!options.header() && names.size() != row.size()) {
            throw new MalformedStoreException(text.location(), "a first row of " + row.size() + " fields", names.size()
                    + ", as columns are named");
        }
        boolean[] isCategory = new boolean[names.size()];
        for (int c = 0; c < isCategory.length; c++) {
            TableOptions.Declared declared = options.columns().get(names.get(c));
            isCategory[c] = declared != null && declared.type().equals("category");
        }
        char separator = delimiter;
        int rows = options.header() ? next : at;
        return new RowIndexer(text, blockBytes, () -> new CsvRows(new CsvFields(options, separator), options.ragged(),
                isCategory)).index(start + rows, LineFeeds.count(bytes, rows), names, delimiter);
    }

    /** Returns the delimiter of a first row. */
    private static char found(byte[] bytes, int at) {
        int end = RowReader.lineEnd(bytes, at);
        for (char delimiter : new char[] {',', ';', '\t', '|'}) {
            for (int p = at; p < end; p++) {
                if (bytes[p] == delimiter) {
                    return delimiter;
                }
            }
        }
        return ',';
    }

    /** Names what has no name by its position, and what has the name of another with a number behind it. */
    private static List<String> unique(List<String> names) {
        Set<String> all = new HashSet<>();
        String[] unique = new String[names.size()];
        for (int c = 0; c < unique.length; c++) {
            String name = names.get(c).isEmpty() ? "f" + c : names.get(c);
            String own = name;
            for (int i = 1; !all.add(own); i++) {
                own = name + "." + i;
            }
            unique[c] = own;
        }
        return Arrays.asList(unique);
    }
}
