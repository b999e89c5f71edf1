// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import io.penstock.text.LineFeeds;

/** Finds the lines of JSON lines; those that are blank are left out. */
final class JsonLineRows extends RowReader {

    JsonLineRows() {
        super(0);
    }

    @Override
    int row(byte[] bytes, int at, int end, boolean isEnd) {
        int p = at;
        while (bytes[p] == ' ' || bytes[p] == '\t' || bytes[p] == '\r') {
            p++;
        }
        isCounted = bytes[p] != '\n';
        int stop = LineFeeds.first(bytes, p, end);
        return stop < end ? stop + 1 : isEnd ? end : INCOMPLETE;
    }
}
